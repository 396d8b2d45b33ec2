/**
 * The ledger: what an API server would remember about an object beside its content, that is its generation and the status
 * that it had. Pure. Serves `build-state.ts`; `ledger-file.ts` makes it outlive the process.
 */
import { objectLabel, type Resource } from '../gateway-api/index.js';
import type { Fault } from '../ipc/admin-protocol.js';
import { type MergedStatus, mergeStatus, type ObjectStatus } from '../status/index.js';
import { contentDigest, hasGeneration } from './content-digest.js';
import { faultsOf } from './faults.js';

/** What is remembered about one object. */
export interface LedgerEntry {
  readonly content: Content;
  readonly generation: number;
  /** Ours, with transition times; `undefined`: there is none. After a restart types, statuses and times alone. */
  readonly status: MergedStatus | undefined;
}

/** By `objectLabel`. */
export type Ledger = ReadonlyMap<string, LedgerEntry>;

/** What decides the generation of an object: everything but its metadata and its status. */
export class Content {
  readonly #resource: Resource | undefined;
  readonly #digest: string | undefined;

  private constructor(resource: Resource | undefined, digest: string | undefined) {
    this.#resource = resource;
    this.#digest = digest;
  }

  static of(resource: Resource): Content {
    return new Content(resource, undefined);
  }

  static withDigest(digest: string): Content {
    return new Content(undefined, digest);
  }

  /** See `contentDigest`. */
  get digest(): string {
    return this.#digest ?? (this.#resource === undefined ? '' : contentDigest(this.#resource));
  }

  /** Objects of files that did not change are the very same: nothing is computed for them. */
  isOf(resource: Resource): boolean {
    return this.#resource === resource;
  }
}

/** An object with what is remembered about it. The very same row as before when nothing about it changed. */
export interface Row {
  /** As its file has it. */
  readonly written: Resource;
  /** With the generation that was counted. */
  readonly resource: Resource;
  /** See `objectLabel`. */
  readonly label: string;
  /** `undefined` for kinds whose generation nobody counts. */
  readonly entry: LedgerEntry | undefined;
  /** What `entry.status` was last merged with; `undefined`: the object has no status of ours. */
  readonly source: ObjectStatus | undefined;
  /** What is wrong by that status. */
  readonly faults: readonly Fault[];
}

/** The objects of a build, and what is remembered about others. */
export interface Roster {
  /** Sorted by kind, namespace and name. */
  readonly rows: readonly Row[];
  /** Of objects that have errors now, and of all those that are not seen yet after a restart. */
  readonly dormant: Ledger;
}

const NO_FAULTS: readonly Fault[] = [];

export const EMPTY_ROSTER: Roster = { rows: [], dormant: new Map() };

/** Returns everything that is remembered, by label. Cost: O(objects). */
export function ledgerOf({ rows, dormant }: Roster): Ledger {
  const ledger = new Map<string, LedgerEntry>();
  for (const { label, entry } of rows) if (entry !== undefined) ledger.set(label, entry);
  for (const [label, entry] of dormant) ledger.set(label, entry);
  return ledger;
}

/**
 * Counts generations: one more where the content changed, and never less than the file says, which may come from a cluster.
 * `resources` are sorted by kind, namespace and name. `refused` are the labels of objects that have errors now: they keep what they
 * had. Objects that are gone are forgotten, for an API server would begin anew as well. Statuses are still those of before.
 * Cost: one pass over both lists side by side, with digests of what changed.
 */
export function countGenerations(resources: readonly Resource[], refused: ReadonlySet<string>, before: Roster): Roster {
  const dormant = new Map<string, LedgerEntry>();
  const sleep = (label: string, entry: LedgerEntry | undefined): void => {
    if (entry !== undefined && refused.has(label)) dormant.set(label, entry);
  };
  const old = before.rows;
  let next = 0;
  const rows = resources.map((resource): Row => {
    while (old[next] !== undefined && precedes((old[next] as Row).written, resource)) {
      const gone = old[next++] as Row;
      sleep(gone.label, gone.entry);
    }
    const known = old[next];
    if (known === undefined || !isNamedAlike(known.written, resource))
      return newRow(resource, undefined, before.dormant);
    next += 1;
    return known.written === resource ? known : newRow(resource, known, before.dormant);
  });
  for (const { label, entry } of old.slice(next)) sleep(label, entry);
  for (const [label, entry] of before.dormant) sleep(label, entry);
  return { rows, dormant };
}

function newRow(written: Resource, known: Row | undefined, dormant: Ledger): Row {
  const label = known?.label ?? labelOf(written);
  if (!hasGeneration(written.kind))
    return { written, resource: written, label, entry: undefined, source: undefined, faults: NO_FAULTS };
  const entry = nextEntry(written, known?.entry ?? dormant.get(label));
  const { source, faults = NO_FAULTS } = known ?? {};
  return { written, resource: withGeneration(written, entry.generation), label, entry, source, faults };
}

/** Returns whether an object comes before another one by kind, namespace and name. */
export function precedes(a: Resource, b: Resource): boolean {
  if (a === b) return false;
  if (a.kind !== b.kind) return a.kind < b.kind;
  if (a.metadata.namespace !== b.metadata.namespace) return a.metadata.namespace < b.metadata.namespace;
  return a.metadata.name < b.metadata.name;
}

function isNamedAlike(a: Resource, b: Resource): boolean {
  if (a === b) return true;
  return a.kind === b.kind && a.metadata.name === b.metadata.name && a.metadata.namespace === b.metadata.namespace;
}

function nextEntry(resource: Resource, known: LedgerEntry | undefined): LedgerEntry {
  const written = Math.max(1, resource.metadata.generation);
  if (known === undefined) return { content: Content.of(resource), generation: written, status: undefined };
  if (known.content.isOf(resource)) return known;
  const content = Content.of(resource);
  const counted = known.content.digest === content.digest ? known.generation : known.generation + 1;
  const generation = Math.min(Math.max(counted, written), Number.MAX_SAFE_INTEGER);
  return { content, generation, status: known.status };
}

/**
 * Returns the roster once the objects have these statuses: an object's own times where a condition stays, `now` (RFC 3339)
 * where it moves. A row in which nothing moved is the very same. What has no status any more loses it.
 * Cost: O(objects); statuses that are the very objects of before, in order of name within their kind, cost a comparison each.
 */
export function recordStatuses({ rows, dormant }: Roster, statuses: readonly ObjectStatus[], now: string): Roster {
  const { settled, others } = settle(rows, statuses);
  const byLabel = new Map(others.map((each) => [objectLabel(each.kind, each.namespace, each.name), each]));
  return {
    rows: rows.map((row, index) => (settled[index] === 1 ? row : recordStatus(row, byLabel.get(row.label), now))),
    dormant,
  };
}

/** Finds rows whose source is among the statuses, as far as they come in the same order, and the statuses that are left. */
function settle(
  rows: readonly Row[],
  statuses: readonly ObjectStatus[],
): { readonly settled: Uint8Array; readonly others: readonly ObjectStatus[] } {
  const settled = new Uint8Array(rows.length);
  const others: ObjectStatus[] = [];
  const sources: ObjectStatus[] = [];
  const places: number[] = [];
  /** Rows are sorted by kind, statuses are not: where the rows of each kind begin. */
  const firsts = new Map<string, number>();
  for (const [place, { source }] of rows.entries()) {
    if (source === undefined) continue;
    if (sources.at(-1)?.kind !== source.kind) firsts.set(source.kind, sources.length);
    sources.push(source);
    places.push(place);
  }
  let kind = '';
  let next = sources.length;
  for (const status of statuses) {
    if (status.kind !== kind) {
      ({ kind } = status);
      next = firsts.get(kind) ?? sources.length;
    }
    while (isBefore(sources[next], status)) next += 1;
    if (sources[next] === status) settled[places[next++] as number] = 1;
    else others.push(status);
  }
  return { settled, others };
}

/** Returns whether an earlier status is about another object of the same kind, one whose name comes first, or about the same as it was. */
function isBefore(earlier: ObjectStatus | undefined, status: ObjectStatus): boolean {
  if (earlier === undefined || earlier === status || earlier.kind !== status.kind) return false;
  if (earlier.namespace !== status.namespace) return earlier.namespace < status.namespace;
  return earlier.name <= status.name;
}

function recordStatus(row: Row, source: ObjectStatus | undefined, now: string): Row {
  const { entry } = row;
  if (entry === undefined || (source === undefined && entry.status === undefined)) return row;
  const status = source === undefined ? undefined : mergeStatus(entry.status, source, now);
  const faults = source === undefined ? NO_FAULTS : faultsOf(row.label, status);
  return {
    ...row,
    entry: status === entry.status ? entry : { ...entry, status },
    source,
    faults: faults.length === 0 ? NO_FAULTS : faults,
  };
}

/** Objects with another generation than the file says, by the object of the file: equal ones have to stay the same object. */
const NUMBERED = new WeakMap<Resource, Resource>();

function withGeneration(resource: Resource, generation: number): Resource {
  if (resource.metadata.generation === generation) return resource;
  const known = NUMBERED.get(resource);
  if (known?.metadata.generation === generation) return known;
  const numbered: Resource = { ...resource, metadata: { ...resource.metadata, generation } };
  NUMBERED.set(resource, numbered);
  return numbered;
}

function labelOf({ kind, metadata }: Resource): string {
  return objectLabel(kind, metadata.namespace, metadata.name);
}
