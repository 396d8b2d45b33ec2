/**
 * The text section of a table: every text once, UTF-8, addressed by offset and length.
 */
import { GrowableBuffer } from './growable.js';

const encoder = new TextEncoder();

/** Texts under construction; equal texts share their bytes. Numbers returned are indexes for `offset` and `length`. */
export class StringPool {
  readonly #buffer = new GrowableBuffer();
  readonly #known = new Map<string, number>();
  #offsets = new Uint32Array(256);
  #lengths = new Uint32Array(256);

  /** Bytes of all texts. */
  get bytes(): Uint8Array {
    return this.#buffer.bytes;
  }

  /** Returns the number of `text`. Cost: one map lookup, plus the encoding when it is new. */
  add(text: string): number {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const id = this.#known.size;
    this.#known.set(text, id);
    if (id === this.#offsets.length) {
      this.#offsets = widen(this.#offsets);
      this.#lengths = widen(this.#lengths);
    }
    const bytes = encoder.encode(text);
    this.#offsets[id] = this.#buffer.appendBytes(bytes);
    this.#lengths[id] = bytes.length;
    return id;
  }

  /** Byte offset of a text. */
  offset(id: number): number {
    return this.#offsets[id]!;
  }

  /** Bytes of a text. */
  length(id: number): number {
    return this.#lengths[id]!;
  }
}

function widen(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const wider = new Uint32Array(array.length * 2);
  wider.set(array);
  return wider;
}
