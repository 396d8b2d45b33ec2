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

/** What `findPlace` finds: how many segments of the path are in the file, and where the last of them stands. */
interface FoundPlace {
  readonly known: number;
  readonly key: Place | undefined;
  readonly value: Place;
}

/** A node with what lies below it. */
interface TreeNode {
  readonly key: Place | undefined;
  readonly value: Place;
  readonly children: Map<PathSegment, TreeNode>;
}

/**
 * The object that was asked about last, unpacked. An object with thousands of faults is asked about thousands of times in a row; one
 * that is unpacked at a time is enough, and no memory goes with the others.
 */
let last: { readonly positions: Positions; readonly root: TreeNode } | undefined;

/** Returns the place of the longest part of the path that the file has. Cost: a pass over the object, the next time O(path). */
function findPlace(positions: Positions, path: readonly PathSegment[]): FoundPlace {
  if (last?.positions !== positions) last = { positions, root: unpack(positions) };
  let node = last.root;
  let known = 0;
  for (const segment of path) {
    const child = node.children.get(segment);
    if (child === undefined) break;
    node = child;
    known += 1;
  }
  return { known, key: node.key, value: node.value };
}

function unpack({ packed, keys }: Positions): TreeNode {
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
  const root: TreeNode = { key: undefined, value: { line: 0, column: 0 }, children: new Map() };
  /** The nodes from the object itself to the one before, by depth. */
  const open: TreeNode[] = [root];
  while (at < packed.length) {
    const depth = number();
    const coded = number();
    const keyLine = step();
    const keyColumn = number();
    const valueLine = step();
    const value = { line: valueLine, column: number() };
    const key = keyColumn === 0 ? undefined : { line: keyLine, column: keyColumn };
    const node: TreeNode = { key, value, children: new Map() };
    open[depth] = node;
    const segment = coded % 2 === 1 ? (coded - 1) / 2 : keys[coded / 2];
    // Nodes come parent first. Of a key that is there twice the first one counts.
    const siblings = depth === 0 ? undefined : open[depth - 1]?.children;
    if (segment !== undefined && siblings?.has(segment) === false) siblings.set(segment, node);
  }
  return open[0] ?? root;
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
