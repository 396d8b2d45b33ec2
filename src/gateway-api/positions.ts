/**
 * Where each key and value of an object stands in its file, packed: 100,000 routes have millions of positions.
 * A packed record costs some 7 bytes a node where a map from path to numbers would cost over 100.
 */
import { type PathSegment, parseFieldPath, type SourceSpan } from '../base/index.js';

/**
 * Nodes in the order of the file, each as unsigned LEB128 numbers: depth · segment (2 × index into `keys`, or
 * 2 × list index + 1) · line step · column of the key (0: list item) · line step · column of the value.
 * Line steps are differences to the number before it, zigzag-coded. The object itself is the first node, at depth 0.
 */
export interface Positions {
  readonly keys: readonly string[];
  readonly packed: Uint8Array;
}

/** One place: line and column, both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Collects the positions of one object in the order of the file. */
export class PositionWriter {
  readonly #keys = new Map<string, number>();
  #bytes = new Uint8Array(512);
  #length = 0;
  #line = 0;

  /** Adds a node; `depth` is 0 for the object itself, whose segment is ignored. */
  add(depth: number, segment: PathSegment, key: Place | undefined, value: Place): void {
    this.#number(depth);
    this.#number(typeof segment === 'number' ? segment * 2 + 1 : this.#keyIndex(segment) * 2);
    const first = key ?? value;
    this.#step(first.line);
    this.#number(key === undefined ? 0 : key.column);
    this.#step(value.line);
    this.#number(value.column);
  }

  /** Returns what was collected. */
  finish(): Positions {
    return { keys: [...this.#keys.keys()], packed: this.#bytes.slice(0, this.#length) };
  }

  #keyIndex(key: string): number {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    this.#keys.set(key, this.#keys.size);
    return this.#keys.size - 1;
  }

  #step(line: number): void {
    const difference = line - this.#line;
    this.#line = line;
    this.#number(difference >= 0 ? difference * 2 : -difference * 2 - 1);
  }

  #number(value: number): void {
    if (this.#length + 10 > this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) + 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }
}

/** What `placeOf` finds: how many segments of the path are in the file, and where the last of them stands. */
interface FoundPlace {
  readonly known: number;
  readonly key: Place | undefined;
  readonly value: Place;
}

/**
 * Returns the place of the longest part of the path that the file has.
 * Cost: one pass over the packed nodes of the object; meant for messages, not for loops over all nodes.
 */
function findPlace(positions: Positions, path: readonly PathSegment[]): FoundPlace {
  const { packed, keys } = positions;
  let at = 0;
  let line = 0;
  const number = (): number => {
    let value = 0;
    let unit = 1;
    for (;;) {
      const byte = packed[at++] ?? 0;
      value += (byte % 0x80) * unit;
      if (byte < 0x80) return value;
      unit *= 0x80;
    }
  };
  const step = (): number => {
    const coded = number();
    line += coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2;
    return line;
  };
  let found: FoundPlace = { known: 0, key: undefined, value: { line: 0, column: 0 } };
  let matched = 0;
  while (at < packed.length) {
    const depth = number();
    const coded = number();
    const keyLine = step();
    const keyColumn = number();
    const valueLine = step();
    const value = { line: valueLine, column: number() };
    const key = keyColumn === 0 ? undefined : { line: keyLine, column: keyColumn };
    if (depth === 0) {
      found = { known: 0, key, value };
      continue;
    }
    // Nodes come parent first: once the depth falls to what has matched, that part of the tree is over.
    if (depth <= matched) break;
    if (depth !== matched + 1 || matched >= path.length) continue;
    const segment = coded % 2 === 1 ? (coded - 1) / 2 : keys[coded / 2];
    if (segment !== path[matched]) continue;
    matched = depth;
    found = { known: matched, key, value };
    if (matched === path.length) break;
  }
  return found;
}

/** Anything with positions: a resource, or an object that is still being admitted. */
export interface Positioned {
  readonly file: string;
  readonly positions: Positions;
}

/**
 * Returns where the value of `path` begins (`spec.rules[0].name`), or, when the file has no such field (a default, a missing
 * field), the key of the nearest parent that it has. `''` is the object itself.
 */
export function spanAt(source: Positioned, path: string): SourceSpan {
  const segments = parseFieldPath(path);
  const found = findPlace(source.positions, segments);
  const place = found.known === segments.length ? found.value : (found.key ?? found.value);
  return { file: source.file, line: place.line, column: place.column };
}
