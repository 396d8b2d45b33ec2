/**
 * The sections of a table under construction and their assembly into one buffer.
 * Modules of this folder append records to a section and write fields at the offsets of `layout.gen.ts`.
 */
import {
  HEADER,
  LAYOUT_HASH,
  MAGIC,
  MAX_TABLE_BYTES,
  SECTION_COUNT,
  SECTION_ENTRY,
  SECTIONS,
  type SectionName,
} from '../native/layout.gen.js';
import { CompileError } from './compile-error.js';
import { GrowableBuffer } from './growable.js';
import { StringPool } from './strings.js';

/** Start of each section: a multiple of this. */
const ALIGNMENT = 8;

/** One section: records of equal size. */
export class SectionWriter extends GrowableBuffer {
  readonly #recordBytes: number;

  constructor(recordBytes: number) {
    super();
    this.#recordBytes = recordBytes;
  }

  /** Records appended so far; also the index of the next one. */
  get count(): number {
    return this.length / this.#recordBytes;
  }

  /** Appends a record of zeros and returns its byte offset. */
  record(): number {
    return this.append(this.#recordBytes);
  }

  /** Byte offset of an earlier record. */
  at(index: number): number {
    return index * this.#recordBytes;
  }

  /** Writes offset and length of a text into two neighbouring fields. */
  text(at: number, strings: StringPool, text: string): void {
    const id = strings.add(text);
    this.u32(at, strings.offset(id));
    this.u32(at + 4, strings.length(id));
  }
}

/** All sections by name; `strings` is the pool. */
export type Sections = { readonly [N in Exclude<SectionName, 'strings'>]: SectionWriter } & {
  readonly strings: StringPool;
};

/** What the header says about the hashes of a table. */
export interface HashParameters {
  readonly seed: number;
  readonly hostProbe: number;
  readonly pathProbe: number;
}

/** Returns empty sections. */
export function createSections(): Sections {
  const writers = SECTIONS.filter((section) => section.name !== 'strings').map(
    (section) => [section.name, new SectionWriter(section.size)] as const,
  );
  return { ...Object.fromEntries(writers), strings: new StringPool() } as Sections;
}

/**
 * Returns the finished table: header, directory and all sections in one buffer of its own (fit for transfer).
 * Throws `CompileError` (limit) when it would be larger than `MAX_TABLE_BYTES`.
 */
export function assemble(sections: Sections, generation: number, hash: HashParameters): Uint8Array<ArrayBuffer> {
  const bodies = SECTIONS.map(({ name, size }) => ({ bytes: sections[name].bytes, size }));
  let length = align(HEADER.size + SECTION_COUNT * SECTION_ENTRY.size);
  const offsets = bodies.map(({ bytes }) => {
    const offset = length;
    length = align(length + bytes.length);
    return offset;
  });
  if (length >= MAX_TABLE_BYTES) throw new CompileError('limit', `the table would need ${length} bytes`);
  const table = new Uint8Array(length);
  const view = new DataView(table.buffer);
  view.setUint32(HEADER.magic, MAGIC, true);
  view.setUint32(HEADER.sections, SECTION_COUNT, true);
  view.setBigUint64(HEADER.layoutHash, LAYOUT_HASH, true);
  view.setBigUint64(HEADER.generation, BigInt(generation), true);
  view.setUint32(HEADER.length, length, true);
  view.setUint32(HEADER.hashSeed, hash.seed, true);
  view.setUint32(HEADER.hostProbe, hash.hostProbe, true);
  view.setUint32(HEADER.pathProbe, hash.pathProbe, true);
  bodies.forEach(({ bytes, size }, i) => {
    const entry = HEADER.size + i * SECTION_ENTRY.size;
    view.setUint32(entry + SECTION_ENTRY.offset, offsets[i]!, true);
    view.setUint32(entry + SECTION_ENTRY.count, bytes.length / size, true);
    table.set(bytes, offsets[i]!);
  });
  return table;
}

function align(offset: number): number {
  return Math.ceil(offset / ALIGNMENT) * ALIGNMENT;
}
