/**
 * Admitted objects come from other threads and from disk as copies, in which every text is one of its own. Here equal ones become
 * the same again: it makes the objects of 100,000 routes half as large. Serves `build-task.ts`.
 */
import type { AdmittedFile } from '../admit/index.js';

/** Texts of objects that are worth sharing: names, kinds, versions, paths. Keys of Secrets and long values are not. */
const MAX_LENGTH = 64;
/** What a pool may hold, so that names that are all different do not fill it. */
const MAX_TEXTS = 200_000;

const NO_FIELDS: Readonly<Record<string, never>> = Object.freeze({});
const NO_ITEMS: readonly never[] = Object.freeze([]);

/** The texts of one load. Give it up afterwards: what was shared stays shared. */
export class Interner {
  readonly #texts = new Map<string, string>();
  readonly #keys = new Map<string, readonly string[]>();

  /** Shares what is equal, in place: `file` must be a copy of the caller's own. Cost: one pass, 2 µs an object. */
  share(file: AdmittedFile): AdmittedFile {
    const packed = new Uint8Array(file.resources.reduce((sum, { positions }) => sum + positions.packed.length, 0));
    let at = 0;
    for (const resource of file.resources) {
      const positions = resource.positions as { keys: readonly string[]; packed: Uint8Array };
      this.#shareFields(resource, positions);
      positions.keys = this.#shareKeys(positions.keys);
      // What was deserialised is a view of all the bytes that came, and would hold them.
      packed.set(positions.packed, at);
      positions.packed = packed.subarray(at, at + positions.packed.length);
      at += positions.packed.length;
    }
    return file;
  }

  #shareFields(object: object, except: unknown): void {
    const fields = object as Record<string, unknown>;
    for (const key in fields) {
      const value = fields[key];
      if (typeof value === 'string') fields[key] = this.#shareText(value);
      else if (typeof value === 'object' && value !== null && value !== except) fields[key] = this.#shareObject(value);
    }
  }

  #shareObject(value: object): object {
    if (Array.isArray(value)) {
      if (value.length === 0) return NO_ITEMS;
      for (let index = 0; index < value.length; index++) {
        const item: unknown = value[index];
        if (typeof item === 'string') value[index] = this.#shareText(item);
        else if (typeof item === 'object' && item !== null) value[index] = this.#shareObject(item);
      }
      return value;
    }
    if (isEmpty(value)) return NO_FIELDS;
    this.#shareFields(value, undefined);
    return value;
  }

  #shareText(text: string): string {
    if (text.length > MAX_LENGTH) return text;
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    if (this.#texts.size < MAX_TEXTS) this.#texts.set(text, text);
    return text;
  }

  /** Most objects of a kind have the same fields. */
  #shareKeys(keys: readonly string[]): readonly string[] {
    const text = keys.join();
    const known = this.#keys.get(text);
    if (known !== undefined) return known;
    const shared = keys.map((key) => this.#shareText(key));
    if (this.#keys.size < MAX_TEXTS) this.#keys.set(text, shared);
    return shared;
  }
}

function isEmpty(value: object): boolean {
  for (const _ in value) return false;
  return true;
}
