/**
 * What a status is made of, whichever kind it belongs to: its lists, how long they may be, and which entries are ours.
 * The rest was written by others and is never touched. Serves `status/`, which merges, and `resolve/`, which must know how much room is left.
 */
import { CONTROLLER_NAME } from './kinds.js';

/** Most entries of a list of conditions. */
export const MAX_CONDITIONS = 8;
/** Most entries of a route's `status.parents`, those of other controllers among them. */
export const MAX_PARENTS = 32;
/** Most entries of a policy's `status.ancestors`, those of other controllers among them. */
export const MAX_ANCESTORS = 16;

/** Types of conditions that we write, now or in an earlier state of the object. Other types belong to others, wherever they stand. */
export const OWN_CONDITIONS: ReadonlySet<string> = new Set([
  'Accepted',
  'AddressesAssigned',
  'Conflicted',
  'DefaultGateway',
  'InsecureFrontendValidationMode',
  'OverlappingTLSConfig',
  'PartiallyInvalid',
  'Programmed',
  'ResolvedRefs',
  'SupportedVersion',
]);

/** Returns whether an entry of a list of conditions is ours to write and to remove. */
export function isOwnCondition(entry: unknown): boolean {
  return isRecord(entry) && typeof entry.type === 'string' && OWN_CONDITIONS.has(entry.type);
}

/** Returns whether an entry of `status.parents` or `status.ancestors` is ours: those lists name the controller. */
export function isOwnEntry(entry: unknown): boolean {
  return isRecord(entry) && entry.controllerName === CONTROLLER_NAME;
}

/**
 * Returns how many entries of `status.ancestors` other controllers leave for us, 0 to `MAX_ANCESTORS`.
 * A policy counts as unimplementable for the ancestors that find no room: nothing is added to a full list, and the
 * ancestor has to say so (`PolicyStatus` of the API). `status`: of the object as it is, whoever wrote it.
 */
export function roomForAncestors(status: unknown): number {
  const ancestors = isRecord(status) && Array.isArray(status.ancestors) ? status.ancestors : [];
  return Math.max(0, MAX_ANCESTORS - ancestors.filter((entry) => !isOwnEntry(entry)).length);
}

/**
 * Returns the part of a status that others wrote, `undefined` when that is nothing. For files that carry a status: what it says about us
 * was true for another instance at another time. Entries of others are the very same values.
 */
export function statusOfOthers(status: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isRecord(status)) return undefined;
  const kept: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(status)) {
    const others = fieldOfOthers(field, value);
    if (others !== undefined) kept[field] = others;
  }
  return Object.keys(kept).length === 0 ? undefined : kept;
}

/** Fields that one controller alone writes. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['addresses', 'attachedListenerSets', 'supportedFeatures']);

function fieldOfOthers(field: string, value: unknown): unknown {
  if (OWN_FIELDS.has(field)) return undefined;
  if (!Array.isArray(value)) return value;
  switch (field) {
    case 'conditions':
      return unlessEmpty(value.filter((entry) => !isOwnCondition(entry)));
    case 'parents':
    case 'ancestors':
      return unlessEmpty(value.filter((entry) => !isOwnEntry(entry)));
    case 'listeners':
      return unlessEmpty(value.flatMap(listenerOfOthers));
    default:
      return value;
  }
}

/** Of a listener's entry only conditions of foreign types are not ours. */
function listenerOfOthers(entry: unknown): unknown[] {
  if (!isRecord(entry) || !Array.isArray(entry.conditions)) return [];
  const conditions = entry.conditions.filter((condition) => !isOwnCondition(condition));
  return conditions.length === 0 ? [] : [{ name: entry.name, conditions }];
}

function unlessEmpty(list: readonly unknown[]): readonly unknown[] | undefined {
  return list.length === 0 ? undefined : list;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
