/**
 * The conditions of a status that are not as they should be. Pure; reads a status of any kind by its shape, as an outside
 * tool would. Serves the overview and `weirgate status`, whose exit status depends on it.
 */
import type { Fault } from '../ipc/admin-protocol.js';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** Conditions that are good when True. Others tell something, but nothing is wrong when they are False. */
const GOOD_WHEN_TRUE = new Set(['Accepted', 'Programmed', 'ResolvedRefs']);
/** Conditions that are good when False. */
const GOOD_WHEN_FALSE = new Set(['Conflicted', 'PartiallyInvalid', 'OverlappingTLSConfig']);

/** Returns the faults in one object's status; `object` is its label. */
export function faultsOf(object: string, status: unknown): Fault[] {
  if (!isRecord(status)) return [];
  const faults = faultsIn(object, '', status.conditions);
  for (const listener of list(status.listeners)) {
    faults.push(...faultsIn(object, `listener ${text(listener.name)}`, listener.conditions));
  }
  for (const parent of list(status.parents)) {
    faults.push(...faultsIn(object, `parent ${referenceLabel(parent.parentRef)}`, parent.conditions));
  }
  for (const ancestor of list(status.ancestors)) {
    faults.push(...faultsIn(object, `ancestor ${referenceLabel(ancestor.ancestorRef)}`, ancestor.conditions));
  }
  return faults;
}

function faultsIn(object: string, part: string, conditions: unknown): Fault[] {
  return list(conditions)
    .map((condition) => ({
      type: text(condition.type),
      status: text(condition.status),
      reason: text(condition.reason),
      message: text(condition.message),
    }))
    .filter(isBad)
    .map(({ type, reason, message }) => ({ object, part, condition: type, reason, message }));
}

function isBad({ type, status }: Condition): boolean {
  if (GOOD_WHEN_TRUE.has(type)) return status !== 'True';
  return GOOD_WHEN_FALSE.has(type) && status === 'True';
}

function referenceLabel(reference: unknown): string {
  if (!isRecord(reference)) return '';
  const { namespace, name, sectionName } = reference;
  const owner = namespace === undefined ? text(name) : `${text(namespace)}/${text(name)}`;
  return sectionName === undefined ? owner : `${owner}/${text(sectionName)}`;
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
