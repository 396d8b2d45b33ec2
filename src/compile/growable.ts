/**
 * A byte buffer that grows by doubling and is written at explicit offsets, little-endian as the table format wants it.
 * Knows nothing of records; `sections.ts` gives the offsets a meaning.
 */

const FIRST_CAPACITY = 1024;

/** Bytes under construction. Offsets must lie below `length`, which only `append` moves. */
export class GrowableBuffer {
  #bytes = new Uint8Array(FIRST_CAPACITY);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** Bytes appended so far. */
  get length(): number {
    return this.#length;
  }

  /** What was appended; a view that the next `append` may invalidate. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Appends `count` zero bytes and returns the offset of the first. Amortised O(count). */
  append(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) this.#grow();
    return at;
  }

  /** Appends a copy of `source` and returns its offset. */
  appendBytes(source: Uint8Array): number {
    const at = this.append(source.length);
    this.#bytes.set(source, at);
    return at;
  }

  /** Takes back what was appended from `length` on; the bytes are zeros again. */
  truncate(length: number): void {
    this.#bytes.fill(0, length, this.#length);
    this.#length = length;
  }

  /** Writes a text of ASCII, a byte a character; returns false, having written a part of it, when it is not. */
  ascii(at: number, text: string): boolean {
    const bytes = this.#bytes;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 0x80) return false;
      bytes[at + i] = code;
    }
    return true;
  }

  /** Writes one byte. */
  u8(at: number, value: number): void {
    this.#view.setUint8(at, value);
  }

  /** Writes two bytes, little-endian. */
  u16(at: number, value: number): void {
    this.#view.setUint16(at, value, true);
  }

  /** Writes four bytes, little-endian. */
  u32(at: number, value: number): void {
    this.#view.setUint32(at, value, true);
  }

  /** Writes eight bytes, little-endian. */
  u64(at: number, value: bigint): void {
    this.#view.setBigUint64(at, value, true);
  }

  /** Reads back a field that was written before. */
  readU32(at: number): number {
    return this.#view.getUint32(at, true);
  }

  #grow(): void {
    let capacity = this.#bytes.length;
    while (capacity < this.#length) capacity *= 2;
    const bytes = new Uint8Array(capacity);
    bytes.set(this.#bytes);
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }
}
