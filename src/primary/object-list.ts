/**
 * Objects as an API server would show them, a page at a time: spec with defaults, status with what others wrote, no content
 * of Secrets. Pure. Serves `build-state.ts` and, for the objects of a check, `cli/`.
 */
import { compareStrings, firstDifference } from '../base/index.js';
import { type Resource, statusOfOthers } from '../gateway-api/index.js';
import type { Fault, ListedObject } from '../ipc/admin-protocol.js';
import { type MergedStatus, mergeStatus } from '../status/index.js';
import { hasGeneration } from './content-digest.js';
import { faultsOf } from './faults.js';
import type { Row } from './ledger.js';

/** Which objects are wanted; absent fields match all. */
export interface ObjectFilter {
  readonly kind?: string;
  /** Objects without a namespace match every one. */
  readonly namespace?: string;
  readonly name?: string;
}

export interface PageRequest extends ObjectFilter {
  /** At most so many objects; a page may have fewer. */
  readonly limit?: number;
  /** `next` of the page before. */
  readonly after?: string;
}

export interface ObjectPage {
  /** JSON of the objects, commas between them. */
  readonly items: string;
  readonly count: number;
  /** Where the next page begins; `undefined`: there is none. Stays of use when objects come and go meanwhile. */
  readonly next: string | undefined;
  /** Conditions of ours on these objects that are not as they should be. */
  readonly faults: readonly Fault[];
}

/** A page is built and sent as a whole: some milliseconds of the build thread, some megabytes of memory. */
const MAX_OBJECTS = 500;
const MAX_CHARACTERS = 4 * 1024 * 1024;

/**
 * Returns the first page of the objects behind `request.after`; `rows` are sorted by kind, namespace and name.
 * Cost: O(objects that match or stand before them in their kind).
 */
export function listPage(rows: readonly Row[], request: PageRequest): ObjectPage {
  const most = Math.min(request.limit ?? MAX_OBJECTS, MAX_OBJECTS);
  const items: string[] = [];
  const faults: Fault[] = [];
  let characters = 0;
  let last: Resource | undefined;
  for (let index = firstIndex(rows, request); index < rows.length; index++) {
    const row = rows[index] as Row;
    const { resource, label } = row;
    if (request.kind !== undefined && resource.kind !== request.kind) break;
    if (!isWanted(resource, request)) continue;
    if (items.length >= most || characters >= MAX_CHARACTERS) {
      return { items: items.join(), count: items.length, next: last === undefined ? undefined : placeOf(last), faults };
    }
    const own = ownStatus(row);
    const text = JSON.stringify(listObject(resource, own));
    items.push(text);
    faults.push(...faultsOf(label, own));
    characters += text.length;
    last = resource;
  }
  return { items: items.join(), count: items.length, next: undefined, faults };
}

/** Returns our part of the status of an object; `undefined`: it has none. */
export function ownStatus({ entry, source }: Row): MergedStatus | undefined {
  return source === undefined ? undefined : entry?.status;
}

/** Returns the object as an API server would show it; `own` is our part of its status. */
export function listObject(resource: Resource, own: MergedStatus | undefined): ListedObject {
  const { file, positions, status: written, metadata, ...content } = resource;
  const status = wholeStatus(resource, own);
  return {
    ...(resource.kind === 'Secret' ? hideValues(content) : content),
    metadata: listMetadata(resource),
    ...(status !== undefined && { status }),
  };
}

/** Returns whether two objects differ in nothing that `listObject` shows or hides of them. */
export function isSameObject(a: Resource, b: Resource): boolean {
  return a === b || JSON.stringify(withoutPlace(a)) === JSON.stringify(withoutPlace(b));
}

function withoutPlace({ file, positions, metadata: { generation, ...metadata }, ...content }: Resource): object {
  return { ...content, metadata };
}

/** What others wrote into the status of an object is theirs; what a file says in our name was true elsewhere. */
function wholeStatus(resource: Resource, own: MergedStatus | undefined): MergedStatus | undefined {
  if (resource.status === undefined) return own;
  const { apiVersion, kind, metadata } = resource;
  const ours = { apiVersion, kind, namespace: metadata.namespace, name: metadata.name, generation: Infinity };
  if (own === undefined) return mergeStatus(resource.status, { ...ours, status: {} }, '');
  return mergeStatus(statusOfOthers(resource.status), { ...ours, status: own }, '');
}

const KUBECTL_COPY = 'kubectl.kubernetes.io/last-applied-configuration';
/** No base64: an API server refuses it, should somebody apply what was listed. */
const HIDDEN = '<hidden>';

function listMetadata({ kind, metadata }: Resource): ListedObject['metadata'] {
  const { namespace, labels, annotations, generation, ...meta } = metadata;
  // kubectl keeps a copy of the whole object, content included.
  const shown =
    kind === 'Secret' && KUBECTL_COPY in annotations ? { ...annotations, [KUBECTL_COPY]: HIDDEN } : annotations;
  return {
    ...meta,
    ...(namespace !== '' && { namespace }),
    ...(hasGeneration(kind) && { generation }),
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(shown).length > 0 && { annotations: shown }),
  };
}

function hideValues<T extends object>(secret: T): T {
  const hidden = Object.entries(secret).map(([field, value]): [string, unknown] => {
    if (field !== 'data' && field !== 'stringData') return [field, value];
    return [field, Object.fromEntries(Object.keys(value as object).map((key) => [key, HIDDEN]))];
  });
  return Object.fromEntries(hidden) as T;
}

// ── places ──────────────────────────────────────────────────────────────────────────────────────────────────────────

type Place = readonly [kind: string, namespace: string, name: string];

/** Returns where to begin: behind `after`, else with the first object of the kind. Cost: O(log objects). */
function firstIndex(rows: readonly Row[], { kind, after }: PageRequest): number {
  if (after === undefined && kind === undefined) return 0;
  const [place, isBehind] = after === undefined ? [[kind ?? '', '', ''] as const, false] : [parsePlace(after), true];
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const order = compareToPlace((rows[middle] as Row).resource, place);
    if (order < 0 || (isBehind && order === 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compareToPlace({ kind, metadata }: Resource, [otherKind, namespace, name]: Place): number {
  return firstDifference(
    compareStrings(kind, otherKind),
    compareStrings(metadata.namespace, namespace),
    compareStrings(metadata.name, name),
  );
}

function placeOf({ kind, metadata }: Resource): string {
  return [kind, metadata.namespace, metadata.name].join('/');
}

function parsePlace(text: string): Place {
  const [kind = '', namespace = '', name = ''] = text.split('/');
  return [kind, namespace, name];
}

function isWanted({ metadata }: Resource, { namespace, name }: ObjectFilter): boolean {
  if (name !== undefined && metadata.name !== name) return false;
  return namespace === undefined || metadata.namespace === '' || metadata.namespace === namespace;
}
