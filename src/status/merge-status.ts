/**
 * Our status laid over what is there: entries of others stay as they are, stale ones of ours go, times move with the status
 * of a condition only. Pure. Serves whoever holds the status of an object between two builds, here or at an API server.
 */
import {
  GATEWAY_GROUP,
  isOwnCondition,
  isOwnEntry,
  MAX_ANCESTORS,
  MAX_CONDITIONS,
  MAX_PARENTS,
} from '../gateway-api/index.js';
import type { Condition } from './conditions.js';
import type { AncestorStatus, ListenerStatus, ObjectStatus, ParentStatus } from './status.js';

/** A condition as the API shows it. */
export interface TimedCondition extends Condition {
  /** RFC 3339: since when the condition has its status. */
  readonly lastTransitionTime: string;
}

/** A whole status: fields and entries of ours and of others. */
export type MergedStatus = Readonly<Record<string, unknown>>;

/**
 * Returns the status to write: `existing` with everything of ours replaced by `ours`; the very value `existing` when there
 * is nothing to write.
 *
 * - Conditions of foreign types, entries of other controllers and unknown fields are kept: their values and their places.
 * - A condition of ours keeps its `lastTransitionTime` while its status stays; else it gets the one that `ours` brings
 *   along, or `now` (RFC 3339).
 * - If `existing` is about a newer generation than `ours`, it is left as it is: a late writer must not lower
 *   `observedGeneration`.
 * - Lists stay within the limits of the API: of ours, the last entries are left out.
 *
 * `existing` may be anything, `undefined` where there is none yet. A list that `ours` does not have is left alone, but in
 * `parents` and `ancestors`, which name their controllers, our entries go. Merging once more changes nothing.
 * Cost: linear in both. Spec: status of GatewayClass to policies, §3 of the map of the API; GEP-713 for ancestors.
 */
export function mergeStatus(existing: unknown, ours: ObjectStatus, now: string): MergedStatus {
  const old = isRecord(existing) ? existing : NOTHING;
  if (isSettled(old, ours.status)) return old;
  if (newestGeneration(old) > ours.generation) return old;
  const { conditions, listeners, parents, ancestors, ...fields } = ours.status;
  const merged: Record<string, unknown> = { ...old };
  for (const [field, value] of Object.entries(fields)) merged[field] = keepEqual(old[field], value);
  if (conditions !== undefined) merged.conditions = mergeConditionLists(old.conditions, conditions, now);
  if (listeners !== undefined) merged.listeners = mergeListeners(old.listeners, listeners, now);
  if (parents !== undefined || old.parents !== undefined) {
    merged.parents = mergeEntries(old.parents, parents ?? [], MAX_PARENTS, ours.namespace, now);
  }
  if (ancestors !== undefined || old.ancestors !== undefined) {
    merged.ancestors = mergeEntries(old.ancestors, ancestors ?? [], MAX_ANCESTORS, ours.namespace, now);
  }
  return isRecord(existing) ? keepSame(old, merged) : merged;
}

const NOTHING: MergedStatus = {};

/**
 * Returns whether `old` came about by merging equal content before, and nothing else is in it. Of 100,000 objects most do
 * not change from build to build: this is what they cost.
 */
function isSettled(old: unknown, ours: object): boolean {
  if (!isRecord(old)) return false;
  const fields = Object.entries(ours);
  for (const [field, is] of fields) {
    const was = old[field];
    if (field === 'conditions') {
      if (!Array.isArray(was) || SOURCES.get(was) !== is) return false;
    } else if (field === 'listeners' || field === 'parents' || field === 'ancestors') {
      if (!Array.isArray(was) || !Array.isArray(is) || was.length !== is.length) return false;
      for (let index = 0; index < is.length; index++) if (!isSettled(was[index], is[index])) return false;
    } else if (!isEqual(was, is)) return false;
  }
  return fields.length === Object.keys(old).length;
}

/** Returns the newest generation that a condition of ours speaks about; 0 without any. */
function newestGeneration({ conditions, listeners, parents, ancestors }: MergedStatus): number {
  const entries = [...listOf(parents), ...listOf(ancestors)].filter(isOwnEntry);
  let newest = newestIn(conditions);
  for (const entry of [...listOf(listeners), ...entries]) {
    if (isRecord(entry)) newest = Math.max(newest, newestIn(entry.conditions));
  }
  return newest;
}

function newestIn(conditions: unknown): number {
  let newest = 0;
  for (const condition of listOf(conditions)) {
    if (!isRecord(condition) || !isOwnCondition(condition)) continue;
    const { observedGeneration } = condition;
    if (typeof observedGeneration === 'number' && observedGeneration > newest) newest = observedGeneration;
  }
  return newest;
}

// ── conditions ──────────────────────────────────────────────────────────────────────────────────────────────────────

type MaybeTimed = Condition & Partial<TimedCondition>;

function mergeConditionLists(existing: unknown, ours: readonly MaybeTimed[], now: string): readonly unknown[] {
  const old = listOf(existing);
  if (SOURCES.get(old) === ours) return old;
  const known = (type: string): unknown => old.find((entry) => isRecord(entry) && entry.type === type);
  const isOurs = (entry: unknown): boolean =>
    isOwnCondition(entry) || (isRecord(entry) && ours.some(({ type }) => type === entry.type));
  const timed = withTimes(
    ours,
    ours.map((condition) => timeOf(condition, known(condition.type), now)),
  );
  const fits = old.every(isOurs) && timed.length <= MAX_CONDITIONS;
  return keepEqual(existing, fits ? timed : fill(old, isOurs, timed, MAX_CONDITIONS)) as readonly unknown[];
}

function timeOf(condition: MaybeTimed, before: unknown, now: string): string {
  if (isRecord(before) && before.status === condition.status && typeof before.lastTransitionTime === 'string') {
    return before.lastTransitionTime;
  }
  return condition.lastTransitionTime ?? now;
}

/** Lists that came about by giving times to another list: that one, by theirs. */
const SOURCES = new WeakMap<readonly unknown[], readonly MaybeTimed[]>();
/** Most lists of 100,000 routes are equal, times included: one stands for all. By the list without times, then by times. */
const TIMED = new WeakMap<readonly MaybeTimed[], Map<string, readonly TimedCondition[]>>();
/** Times of one list that are remembered: those of some reloads. */
const MAX_TIMED = 256;

function withTimes(ours: readonly MaybeTimed[], times: readonly string[]): readonly TimedCondition[] {
  let byTimes = TIMED.get(ours);
  if (byTimes === undefined) {
    byTimes = new Map();
    TIMED.set(ours, byTimes);
  }
  const key = times.join();
  let timed = byTimes.get(key);
  if (timed === undefined) {
    timed = ours.map((condition, index) => ({ ...condition, lastTransitionTime: times[index] ?? '' }));
    if (byTimes.size >= MAX_TIMED) byTimes.clear();
    byTimes.set(key, timed);
    SOURCES.set(timed, ours);
  }
  return timed;
}

// ── entries with conditions ─────────────────────────────────────────────────────────────────────────────────────────

/** All listeners of a status are ours; of their conditions, foreign types are not. */
function mergeListeners(existing: unknown, ours: readonly ListenerStatus[], now: string): readonly unknown[] {
  const old = listOf(existing);
  const byName = new Map(old.flatMap((entry) => (isRecord(entry) ? [[entry.name, entry]] : [])));
  return keepSame(
    old,
    ours.map((listener) => mergeEntry(byName.get(listener.name), listener, now)),
  );
}

function mergeEntries(
  existing: unknown,
  ours: readonly (ParentStatus | AncestorStatus)[],
  most: number,
  namespace: string,
  now: string,
): readonly unknown[] {
  const old = listOf(existing);
  const own = old.filter(isOwnEntry) as MergedStatus[];
  const merged = ours.map((entry) => {
    const reference = referenceOf(entry, namespace);
    return mergeEntry(
      own.find((known) => isEqual(referenceOf(known, namespace), reference)),
      entry,
      now,
    );
  });
  return keepSame(old, fill(old, isOwnEntry, merged, most));
}

function mergeEntry(
  old: MergedStatus | undefined,
  ours: ListenerStatus | ParentStatus | AncestorStatus,
  now: string,
): MergedStatus {
  const merged: Record<string, unknown> = { ...old };
  for (const [field, value] of Object.entries(ours)) merged[field] = keepEqual(old?.[field], value);
  merged.conditions = mergeConditionLists(old?.conditions, ours.conditions, now);
  return old === undefined ? merged : keepSame(old, merged);
}

/** What an entry is about, with the defaults of the API: whoever wrote it may have left them out. */
function referenceOf(entry: object, namespace: string): readonly unknown[] {
  const { parentRef, ancestorRef } = entry as MergedStatus;
  const reference = isRecord(parentRef) ? parentRef : isRecord(ancestorRef) ? ancestorRef : NOTHING;
  const { group = GATEWAY_GROUP, kind = 'Gateway', name, sectionName = '', port = 0 } = reference;
  return [group, kind, reference.namespace ?? namespace, name, sectionName, port];
}

// ── lists and values ────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Returns `old` with its entries of ours replaced one after the other; what is left over stands at the end. Places of
 * others do not move: two controllers that put their own entries first would write for ever.
 */
function fill(
  old: readonly unknown[],
  isOurs: (entry: unknown) => boolean,
  ours: readonly unknown[],
  most: number,
): readonly unknown[] {
  const others = old.filter((entry) => !isOurs(entry)).length;
  const fitting = ours.slice(0, Math.max(0, most - others));
  let next = 0;
  const filled = old.flatMap((entry) => {
    if (!isOurs(entry)) return [entry];
    return next < fitting.length ? [fitting[next++]] : [];
  });
  return [...filled, ...fitting.slice(next)];
}

function keepEqual(old: unknown, value: unknown): unknown {
  return isEqual(old, value) ? old : value;
}

/** Returns `old` when both hold the very same values. */
function keepSame<T extends object>(old: T, merged: T): T {
  const [before, after] = [Object.entries(old), Object.entries(merged)];
  if (before.length !== after.length) return merged;
  return before.every(([key, value]) => (merged as Record<string, unknown>)[key] === value) ? old : merged;
}

function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isEqual(item, b[index]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NO_ENTRIES;
}

const NO_ENTRIES: readonly unknown[] = [];

function isRecord(value: unknown): value is MergedStatus {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
