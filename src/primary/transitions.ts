/**
 * `lastTransitionTime` of conditions: kept while a condition's status stays, the time of the build where it changes.
 * Pure; knows the shapes of a status only as far as conditions sit in lists. Serves `build-state.ts`.
 */
import type { ObjectStatus } from '../status/index.js';

/**
 * Returns `next` with times filled in; the very object `before` when nothing differs from it.
 * `now`: RFC 3339. Entries of lists are recognised by what they are about, not by their place.
 */
export function stampTransitions(before: ObjectStatus | undefined, next: ObjectStatus, now: string): ObjectStatus {
  const stamped = { ...next, status: stamp(before?.status, next.status, now) as ObjectStatus['status'] };
  return before !== undefined && JSON.stringify(before) === JSON.stringify(stamped) ? before : stamped;
}

function stamp(before: unknown, next: unknown, now: string): unknown {
  if (Array.isArray(next)) {
    const known = new Map((Array.isArray(before) ? before : []).map((item) => [identityOf(item), item]));
    return next.map((item) => stamp(known.get(identityOf(item)), item, now));
  }
  if (!isRecord(next)) return next;
  const old = isRecord(before) ? before : {};
  if (isCondition(next)) {
    const kept = old.status === next.status ? old.lastTransitionTime : undefined;
    return { ...next, lastTransitionTime: kept ?? now };
  }
  return Object.fromEntries(Object.entries(next).map(([key, value]) => [key, stamp(old[key], value, now)]));
}

/** What an entry is about: a condition's type, a listener's name, a parent, an ancestor. */
function identityOf(item: unknown): string {
  if (!isRecord(item)) return JSON.stringify(item);
  return JSON.stringify([item.type, item.name, item.parentRef, item.ancestorRef]);
}

function isCondition(value: Record<string, unknown>): boolean {
  return typeof value.type === 'string' && typeof value.status === 'string' && 'reason' in value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
