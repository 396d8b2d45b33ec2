/**
 * The ledger as bytes: a line that says what follows, then JSON in which what many objects share is written once. 60 bytes an
 * object. Holds no content of objects and no message. Pure. Serves `build-state.ts`; `state-file.ts` puts the bytes on disk.
 */
import { createHash } from 'node:crypto';
import { err, ok, type Result } from '../base/index.js';
import { DIGEST_CHARACTERS } from './content-digest.js';
import { Content, type Ledger, type LedgerEntry } from './ledger.js';

const FORMAT = 'weirgate.dev/ledger';
/** A reader takes its own version only: what it would lose by starting anew are times and the numbers of generations. */
const VERSION = 1;

interface Header {
  readonly format: typeof FORMAT;
  readonly version: number;
  /** Of the rest of the file. */
  readonly sha256: string;
}

/** A list of conditions: which one of the status, the entry that it belongs to, then type, status and time of each. */
type ListShape = readonly [list: string, entry: unknown, conditions: readonly string[]];

interface Body {
  /** What statuses look like; -1 stands for none. */
  readonly shapes: readonly (readonly ListShape[])[];
  /** Label, generation, digest and shape of each object, one after the other. */
  readonly objects: readonly (string | number)[];
}

const FIELDS_OF_OBJECT = 4;

/** Returns the bytes. Equal ledgers give equal bytes. Cost: 100,000 objects about 0.3 s, once digests are known 0.1 s. */
export function encodeLedger(ledger: Ledger): Uint8Array {
  const shapes: (readonly ListShape[])[] = [];
  const known = new Map<string, number>();
  const objects: (string | number)[] = [];
  for (const [label, { generation, content, status }] of ledger) {
    objects.push(label, generation, content.digest, shapeIndex(shapeOf(status), shapes, known));
  }
  const body = JSON.stringify({ shapes, objects } satisfies Body);
  const header: Header = { format: FORMAT, version: VERSION, sha256: sha256(body) };
  return new TextEncoder().encode(`${JSON.stringify(header)}\n${body}\n`);
}

/** Returns the ledger that was encoded, or why the bytes are not one; whatever they are. */
export function decodeLedger(bytes: Uint8Array): Result<Ledger, string> {
  const text = new TextDecoder().decode(bytes);
  const end = text.indexOf('\n');
  const header = parse(text.slice(0, Math.max(0, end)));
  if (!isRecord(header) || header.format !== FORMAT) return err('it was not written by Weirgate, or is cut off');
  if (header.version !== VERSION) return err(`it has version ${String(header.version)}, this release reads ${VERSION}`);
  const body = text.slice(end + 1, -1);
  if (header.sha256 !== sha256(body)) return err('its content does not fit its checksum');
  const content = parse(body);
  const ledger = isBody(content) ? readBody(content) : undefined;
  return ledger === undefined ? err('its content has another shape') : ok(ledger);
}

function shapeIndex(
  shape: readonly ListShape[] | undefined,
  shapes: (readonly ListShape[])[],
  known: Map<string, number>,
): number {
  if (shape === undefined) return -1;
  const key = JSON.stringify(shape);
  const found = known.get(key);
  if (found !== undefined) return found;
  known.set(key, shapes.length);
  return shapes.push(shape) - 1;
}

/** Lists of a status whose entries have conditions, and the fields that tell the entries apart. */
const ENTRY_LISTS: Readonly<Record<string, readonly string[]>> = {
  listeners: ['name'],
  parents: ['parentRef', 'controllerName'],
  ancestors: ['ancestorRef', 'controllerName'],
};

function shapeOf(status: LedgerEntry['status']): ListShape[] | undefined {
  if (status === undefined) return undefined;
  const lists: ListShape[] = [];
  if (Array.isArray(status.conditions)) lists.push(['conditions', null, timesOf(status.conditions)]);
  for (const [list, fields] of Object.entries(ENTRY_LISTS)) {
    for (const entry of asRecords(status[list])) {
      const identity = Object.fromEntries(fields.map((field) => [field, entry[field]]));
      lists.push([list, identity, timesOf(entry.conditions)]);
    }
  }
  return lists;
}

function timesOf(conditions: unknown): string[] {
  return asRecords(conditions).flatMap(({ type, status, lastTransitionTime }) => [
    String(type),
    String(status),
    String(lastTransitionTime),
  ]);
}

function statusOf(shape: readonly ListShape[]): NonNullable<LedgerEntry['status']> {
  const status: Record<string, unknown> = {};
  for (const [list, identity, times] of shape) {
    const conditions = conditionsOf(times);
    if (list === 'conditions') status.conditions = conditions;
    else status[list] = [...asRecords(status[list]), { ...(identity as object), conditions }];
  }
  return status;
}

function conditionsOf(times: readonly string[]): object[] {
  const conditions: object[] = [];
  for (let at = 0; at < times.length; at += 3) {
    conditions.push({ type: times[at], status: times[at + 1], lastTransitionTime: times[at + 2] });
  }
  return conditions;
}

// ── reading what may be anything ────────────────────────────────────────────────────────────────────────────────────

function isBody(value: unknown): value is Body {
  if (!isRecord(value) || !Array.isArray(value.shapes) || !Array.isArray(value.objects)) return false;
  return value.objects.length % FIELDS_OF_OBJECT === 0 && value.shapes.every(isShape);
}

function isShape(value: unknown): boolean {
  return Array.isArray(value) && value.every(isListShape);
}

function isListShape(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [list, entry, times] = value as unknown[];
  if (list !== 'conditions' && !(typeof list === 'string' && Object.hasOwn(ENTRY_LISTS, list) && isRecord(entry))) {
    return false;
  }
  return Array.isArray(times) && times.length % 3 === 0 && times.every((word) => typeof word === 'string');
}

function readBody({ shapes, objects }: Body): Ledger | undefined {
  const statuses = shapes.map(statusOf);
  const ledger = new Map<string, LedgerEntry>();
  for (let at = 0; at < objects.length; at += FIELDS_OF_OBJECT) {
    const [label, generation, digest, shape] = objects.slice(at, at + FIELDS_OF_OBJECT);
    if (typeof label !== 'string' || typeof digest !== 'string' || digest.length !== DIGEST_CHARACTERS)
      return undefined;
    if (!Number.isSafeInteger(generation) || (generation as number) < 1) return undefined;
    const status = shape === -1 ? undefined : statuses[shape as number];
    if (shape !== -1 && status === undefined) return undefined;
    ledger.set(label, { content: Content.withDigest(digest), generation: generation as number, status });
  }
  return ledger;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function asRecords(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
