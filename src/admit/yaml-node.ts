/**
 * YAML as a tree that remembers where everything stands. Aliases share nodes: the tree may be a graph without cycles.
 */
import type { DiagnosticCode } from '../base/index.js';

export interface YamlScalar {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
  /** As it was written, without quotes. */
  readonly text: string;
  readonly quoted: boolean;
  /** Offset of the first character, a quote included. */
  readonly offset: number;
}

export interface YamlEntry {
  readonly key: string;
  readonly keyOffset: number;
  readonly value: YamlNode;
}

/** Something wrong with the YAML itself. */
export interface YamlFault {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly hint: string;
  readonly offset: number;
}

export interface YamlMap {
  readonly kind: 'map';
  readonly entries: readonly YamlEntry[];
  readonly offset: number;
  /** Faults of this very map; they spoil the object it belongs to, not the document. */
  readonly faults: readonly YamlFault[];
  /** Faults of this map and of everything below. */
  readonly faultCount: number;
  /** Nodes below, this one included, aliases counted as what they stand for. */
  readonly size: number;
}

export interface YamlSequence {
  readonly kind: 'sequence';
  readonly items: readonly YamlNode[];
  readonly offset: number;
  readonly faultCount: number;
  readonly size: number;
}

export type YamlNode = YamlScalar | YamlMap | YamlSequence;

/** Returns the value of the first entry with that key. */
export function entryOf(map: YamlMap, key: string): YamlEntry | undefined {
  return map.entries.find((entry) => entry.key === key);
}

/** Returns the text of a scalar that is a string, else undefined. */
export function textOf(map: YamlMap, key: string): string | undefined {
  const value = entryOf(map, key)?.value;
  return value?.kind === 'scalar' && typeof value.value === 'string' ? value.value : undefined;
}

/** Returns all faults of the node and of everything below. */
export function faultsOf(node: YamlNode): YamlFault[] {
  if (node.kind === 'scalar' || node.faultCount === 0) return [];
  if (node.kind === 'sequence') return node.items.flatMap(faultsOf);
  return [...node.faults, ...node.entries.flatMap((entry) => faultsOf(entry.value))];
}
