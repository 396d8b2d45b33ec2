/**
 * The text section of a table: UTF-8, addressed by offset and length.
 */
import { GrowableBuffer } from './growable.js';

const encoder = new TextEncoder();

/** Longer texts are encoded by the platform: its call costs as much as some sixty characters here. */
const MAX_INLINE = 128;
const EMPTY = -1;
/** A text whose place is that far is not looked for: names that were chosen to collide cost room, not time. */
const MAX_PROBE = 32;

/** Texts under construction; equal texts share their bytes, as a rule. Numbers returned are indexes for `offset` and `length`. */
export class StringPool {
  readonly #buffer = new GrowableBuffer();
  #count = 0;
  #offsets = new Uint32Array(256);
  #lengths = new Uint32Array(256);
  #hashes = new Uint32Array(256);
  /** Open-addressed index over the bytes, at most half full: a map of texts would hash and keep each of 200,000 once more. */
  #slots = new Int32Array(512).fill(EMPTY);

  /** Bytes of all texts. */
  get bytes(): Uint8Array {
    return this.#buffer.bytes;
  }

  /** Returns the number of `text`. Cost: one pass over it. */
  add(text: string): number {
    const offset = this.#buffer.length;
    const length = this.#write(text);
    const bytes = this.#buffer.bytes;
    const hash = hashOf(bytes, offset);
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    let probe = 0;
    for (; probe < MAX_PROBE; probe++) {
      const known = this.#slots[slot]!;
      if (known === EMPTY) break;
      if (this.#hashes[known] === hash && this.#isEqual(known, bytes, offset, length)) {
        this.#buffer.truncate(offset);
        return known;
      }
      slot = (slot + 1) & mask;
    }
    const id = this.#count++;
    if (probe < MAX_PROBE) this.#slots[slot] = id;
    this.#offsets[id] = offset;
    this.#lengths[id] = length;
    this.#hashes[id] = hash;
    if (this.#count === this.#offsets.length) this.#widen();
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

  /** Appends the text and returns how many bytes it has. */
  #write(text: string): number {
    const { length } = text;
    if (length <= MAX_INLINE) {
      const at = this.#buffer.append(length);
      if (this.#buffer.ascii(at, text)) return length;
      this.#buffer.truncate(at);
    }
    const bytes = encoder.encode(text);
    this.#buffer.appendBytes(bytes);
    return bytes.length;
  }

  #isEqual(id: number, bytes: Uint8Array, offset: number, length: number): boolean {
    if (this.#lengths[id] !== length) return false;
    const other = this.#offsets[id]!;
    for (let i = 0; i < length; i++) if (bytes[other + i] !== bytes[offset + i]) return false;
    return true;
  }

  #widen(): void {
    this.#offsets = widen(this.#offsets);
    this.#lengths = widen(this.#lengths);
    this.#hashes = widen(this.#hashes);
    this.#slots = new Int32Array(this.#slots.length * 2).fill(EMPTY);
    const mask = this.#slots.length - 1;
    for (let id = 0; id < this.#count; id++) {
      let slot = this.#hashes[id]! & mask;
      let probe = 0;
      for (; probe < MAX_PROBE && this.#slots[slot] !== EMPTY; probe++) slot = (slot + 1) & mask;
      if (probe < MAX_PROBE) this.#slots[slot] = id;
    }
  }
}

/** FNV-1a of everything from `offset` on. */
function hashOf(bytes: Uint8Array, offset: number): number {
  let hash = 0x811c9dc5;
  for (let at = offset; at < bytes.length; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

function widen(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const wider = new Uint32Array(array.length * 2);
  wider.set(array);
  return wider;
}
