/**
 * Whether our admission agrees with the verdict of a real API server, and where it does not. What counts as agreement:
 *
 * 1. *Verdict.* We take the object exactly if the server does.
 * 2. *Unknown fields.* Both refuse the same ones. The server reads no further then; so it is asked a second time without strictness,
 *    and that answer is compared with what else we say. Below a value of the wrong type the server calls everything unknown, while
 *    we complain of the value.
 * 3. *Faults.* Every fault of the server is one of ours at the same field, and every one of ours is one of the server's. Where the
 *    server names the parent only, ours may lie below it: a rule (CEL) speaks about the object or list that it stands on, and the
 *    keys of labels and annotations are faults of the whole map. Structure (types, lengths, enumerations, patterns, required and
 *    repeated items) has no such freedom.
 * 4. *Where the server stops early* we may say more: it reads no rules in an object that breaks its structure, and nothing at all in
 *    an object that does not decode into its Go type; then it names one field or none.
 * 5. *Stored object.* For a kind of the Gateway API our resource equals what the server stored, field by field. Of a kind of
 *    Kubernetes we read a part, and that part is equal.
 */
import { isDeepStrictEqual } from 'node:util';
import { admitSnapshot, admitText } from '../../src/admit/index.js';
import { parseFieldPath } from '../../src/base/index.js';
import type { Resource } from '../../src/gateway-api/index.js';
import type { Case } from './cases.js';
import { type Cause, storedObject, type Verdict } from './verdicts.js';

/** Reasons of faults that the server finds exactly where they are. */
const EXACT: ReadonlySet<string> = new Set([
  'FieldValueRequired',
  'FieldValueTypeInvalid',
  'FieldValueNotSupported',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueDuplicate',
]);

/** Reasons for which the server names no field of the object. */
const PLACELESS: ReadonlySet<string> = new Set(['Unsent', 'NotFound', 'Undecodable']);

/** Fields whose rules are about one text; where it breaks several of them, we name the first. */
const OF_ONE_TEXT = /^(?!spec\.)|\.matches\[\d+\]\.path$|^spec\.(?:hostnames|ports|infrastructure)\b/;

const UNKNOWN_FIELD = 'WG2101';
const WRONG_TYPE = 'WG2103';

interface Fault {
  readonly code: string;
  readonly path: string;
  readonly message: string;
}

/** Returns what we see otherwise than the server, a line each; nothing when both agree. */
export function disagreements({ text }: Case, verdict: Verdict): readonly string[] {
  const { unknown = [], causes = [], adds, rulesUnchecked = false } = verdict;
  const { resources, diagnostics } = admitSnapshot([admitText('case.yaml', text)]);
  const [resource] = resources;
  const all = diagnostics.filter(({ severity }) => severity === 'error');
  const faults = all.filter(({ code }) => code !== UNKNOWN_FIELD);
  const found = [
    ...differentUnknowns(unknown, causes, all),
    ...missing(causes, faults),
    ...surplus(causes, faults, rulesUnchecked),
  ];
  const isTaken = adds !== undefined && unknown.length === 0;
  if (isTaken !== (resource !== undefined))
    found.push(isTaken ? 'server takes it, we refuse it' : 'server refuses it, we take it');
  if (isTaken && resource !== undefined) found.push(...differentValues(resource, storedObject(text, verdict) as Read));
  return found;
}

function differentUnknowns(theirs: readonly string[], causes: readonly Cause[], faults: readonly Fault[]): string[] {
  if (causes.some(({ reason }) => PLACELESS.has(reason))) return [];
  const ours = new Set(faults.filter(({ code }) => code === UNKNOWN_FIELD).map(({ path }) => normal(path)));
  const mistyped = faults.filter(({ code }) => code === WRONG_TYPE).map(({ path }) => normal(path));
  const left = theirs.map(normal);
  return [
    ...left
      .filter((path) => !ours.has(path) && !mistyped.some((parent) => isBelow(path, parent)))
      .map((path) => `server: ${path} is unknown; not found by us`),
    ...[...ours]
      .filter((path) => !left.includes(path))
      .map((path) => `we: ${path} is unknown; not found by the server`),
  ];
}

/** Several rules that are broken at one field need as many faults, unless they speak about one text. */
function missing(causes: readonly Cause[], faults: readonly Fault[]): string[] {
  const broken = new Map<string, number>();
  return causes
    .filter((cause) => {
      const met = faults.filter((fault) => meets(fault, cause)).length;
      if (isExact(cause) || OF_ONE_TEXT.test(cause.field)) return met === 0;
      const before = broken.get(cause.field) ?? 0;
      broken.set(cause.field, before + 1);
      return met <= before;
    })
    .map(({ field, reason, message }) => `server: ${field} ${reason} (${message}); not found by us`);
}

function surplus(causes: readonly Cause[], faults: readonly Fault[], rulesUnchecked: boolean): string[] {
  if (causes.some(({ reason }) => PLACELESS.has(reason))) return [];
  return faults
    .filter((fault) => !(rulesUnchecked && isRule(fault)) && !causes.some((cause) => meets(fault, cause)))
    .map(({ code, path, message }) => `we: ${code} ${path} (${message}); not found by the server`);
}

function meets({ path }: Fault, { field, reason, message }: Cause): boolean {
  if (PLACELESS.has(reason)) {
    const named = /Go struct field \w+\.(\S+) of type/.exec(message)?.[1];
    return named === undefined || endsLike(path, named);
  }
  const [ours, theirs] = [normal(path), normal(field)];
  if (ours === theirs) return true;
  return !isExact({ reason, message }) && isBelow(ours, theirs);
}

function isExact({ reason, message }: Pick<Cause, 'reason' | 'message'>): boolean {
  return EXACT.has(reason) || message.includes(' in body ');
}

function isBelow(path: string, parent: string): boolean {
  return path.startsWith(`${parent}.`) || path.startsWith(`${parent}[`);
}

/** Go names the types and fields on the way to a value that does not decode, without indexes and keys: `ServicePort.spec.ports.port`. */
function endsLike(path: string, named: string): boolean {
  const names = parseFieldPath(path).filter((segment) => typeof segment === 'string');
  const wanted = named.split('.');
  return names.some((_, start) => isDeepStrictEqual(names.slice(start, start + wanted.length), wanted));
}

function isRule({ code }: Fault): boolean {
  return code.startsWith('WG3');
}

/** The server writes keys of maps as `labels.key`, `labels[key]` or not at all; we write `labels["a b"]` where need be. */
function normal(path: string): string {
  return path
    .replace(/\["((?:[^"\\]|\\.)*)"\]/g, '.$1')
    .replace(/\[([^\]\d][^\]]*)\]/g, '.$1')
    .replace(/^\./, '');
}

type Read = Resource & { readonly status?: unknown };

/** Status is written by others, and of metadata only what both have is compared. */
function differentValues(resource: Read, stored: Read): string[] {
  const { apiVersion, file, positions, metadata, status: ourStatus, ...ours } = resource;
  const { apiVersion: asWritten, metadata: theirMetadata, status, ...theirs } = stored;
  const { name, namespace, labels, annotations } = metadata;
  const isWhole = apiVersion.startsWith('gateway.networking.k8s.io/');
  return compare(
    { ...ours, metadata: { name, namespace, labels, annotations } },
    {
      ...theirs,
      metadata: {
        name: theirMetadata.name,
        namespace: namespace === '' ? '' : theirMetadata.namespace || 'default',
        labels: theirMetadata.labels ?? {},
        annotations: theirMetadata.annotations ?? {},
      },
    },
    '',
    isWhole,
  );
}

/** With `whole`, nothing may be there that we do not have; without, what we leave out is of no concern. */
function compare(ours: unknown, theirs: unknown, path: string, whole: boolean): string[] {
  if (isDeepStrictEqual(ours, theirs)) return [];
  if (!isObject(ours) || !isObject(theirs)) {
    return !whole && isBlank(ours) && isBlank(theirs) ? [] : [`${path}: we have ${show(ours)}, server ${show(theirs)}`];
  }
  const keys = new Set([...Object.keys(ours), ...(whole || Array.isArray(theirs) ? Object.keys(theirs) : [])]);
  return [...keys].flatMap((key) => {
    const below = Array.isArray(ours) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    return compare(ours[key], theirs[key], below, whole);
  });
}

/** For kinds of Kubernetes: what Go leaves out of the object that it stores. */
function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (isObject(value) && Object.keys(value).length === 0);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 120 ? text : `${text.slice(0, 119)}…`;
}
