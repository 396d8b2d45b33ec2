/**
 * What a real API server said to each case, as kept in `verdicts/`: a file for each group, a line for each case. Only what the
 * server added to an object is kept, not the object; what changes from run to run or is of no concern to admission is left out.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { type Case, fingerprint } from './cases.js';

/** A fault that the server found. */
export interface Cause {
  /** As the server writes it: `spec.rules[0].name`; empty where it names none. */
  readonly field: string;
  /** `FieldValueRequired` and the like; `Undecodable` where the object could not even be read into its type. */
  readonly reason: string;
  readonly message: string;
}

/** The verdict about a case. Either `adds` or `causes` is there. */
export interface Verdict {
  /** Fingerprint of the text that was judged. */
  readonly of: string;
  /** Fields that strict validation refuses as unknown. The rest of the verdict is then about the object without them. */
  readonly unknown?: readonly string[];
  /** Accepted: values that the server filled in or changed, by path in the notation of JSON pointers. */
  readonly adds?: Readonly<Record<string, unknown>>;
  /** Accepted: what the server took away, unknown fields aside. */
  readonly drops?: readonly string[];
  /** Refused: why. */
  readonly causes?: readonly Cause[];
  /** Refused for its structure; the server did not look at the rules. */
  readonly rulesUnchecked?: true;
}

/** A rule (CEL) of a definition; see internal/admission/rules.go. */
export interface DefinedRule {
  readonly kind: string;
  /** The field that it stands on, without indexes: `spec.rules[].filters`. */
  readonly field: string;
  readonly message: string;
  /** It compares an object with what it was before. */
  readonly transition?: true;
}

/** What is known under the definitions of one version. */
export interface Judgement {
  readonly verdicts: ReadonlyMap<string, Verdicts>;
  readonly rules: readonly DefinedRule[];
}

/** The verdicts of a group by the names of its cases. */
export type Verdicts = Readonly<Record<string, Verdict>>;

/** An answer of `judge admission`; see internal/admission. */
export interface Answer {
  readonly name: string;
  readonly unsent?: string;
  readonly strict?: Reply;
  readonly warn?: Reply;
}

interface Reply {
  readonly code: number;
  readonly body: unknown;
}

interface Status {
  readonly message?: string;
  readonly details?: { readonly causes?: readonly Partial<Cause>[] };
}

const FOLDER = fileURLToPath(new URL('verdicts/', import.meta.url));

/** Where the verdicts under the definitions of a later version are, as far as they are others. */
const LATER = `later${sep}`;

/** The rules of the definitions lie beside the verdicts. */
const RULES = `rules${sep}`;

/** What differs from run to run or is written by others than the user, as JSON pointers. */
const NOISE =
  /^\/(?:status|metadata\/(?:uid|creationTimestamp|resourceVersion|generation|managedFields|selfLink)|spec\/clusterIPs?)(?:\/|$)/;

const MOST_CHARACTERS = 160;

/** Returns the verdict that an answer gives about a case. Throws for an answer that nobody foresaw. */
export function verdictOf({ text }: Case, { name, unsent, strict, warn }: Answer): Verdict {
  const of = fingerprint(text);
  if (unsent !== undefined) return { of, causes: [{ field: '', reason: 'Unsent', message: shorten(unsent) }] };
  const reply = warn ?? strict;
  if (reply === undefined) throw new Error(`${name}: no answer`);
  const unknown = warn === undefined ? {} : { unknown: unknownFields(name, strict?.body as Status) };
  if (reply.code === 201)
    return { of, ...unknown, ...changes(parse(text) as unknown, reply.body, unknown.unknown ?? []) };
  return { of, ...unknown, ...refusal(name, reply.code, reply.body as Status) };
}

/** Reads what is known. Under the definitions of the later version a verdict is that of the earlier, where it is not given anew. */
export function readJudgement(version: 'judged' | 'later'): Judgement {
  const rules = JSON.parse(readFileSync(`${FOLDER}${RULES}${version}.json`, 'utf8')) as readonly DefinedRule[];
  const judged = readFolder(FOLDER);
  if (version === 'judged') return { verdicts: judged, rules };
  const later = readFolder(FOLDER + LATER);
  return {
    verdicts: new Map([...judged].map(([group, verdicts]) => [group, { ...verdicts, ...later.get(group) }])),
    rules,
  };
}

/** Writes all verdicts in the order given, those under the later definitions only where they are others; removes what is left over. */
export function writeJudgements(judged: Judgement, later: Judgement): void {
  rmSync(FOLDER, { recursive: true, force: true });
  for (const folder of [LATER, RULES]) mkdirSync(FOLDER + folder, { recursive: true });
  for (const [group, verdicts] of judged.verdicts) {
    writeFile(`${FOLDER}${group}.json`, Object.entries(verdicts));
    const others = Object.entries(later.verdicts.get(group) ?? {}).filter(
      ([name, verdict]) => !isDeepStrictEqual(verdict, verdicts[name]),
    );
    if (others.length > 0) writeFile(`${FOLDER}${LATER}${group}.json`, others);
  }
  for (const [version, { rules }] of Object.entries({ judged, later })) {
    const lines = rules.map((rule) => JSON.stringify({ ...rule, message: shorten(rule.message) }));
    writeFileSync(`${FOLDER}${RULES}${version}.json`, `[\n${lines.join(',\n')}\n]\n`);
  }
}

function readFolder(folder: string): ReadonlyMap<string, Verdicts> {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return new Map(
    files
      .sort()
      .map((file) => [file.replace(/\.json$/, ''), JSON.parse(readFileSync(folder + file, 'utf8')) as Verdicts]),
  );
}

function writeFile(path: string, verdicts: readonly (readonly [string, Verdict])[]): void {
  const lines = verdicts.map(([name, verdict]) => `${JSON.stringify(name)}: ${JSON.stringify(verdict)}`);
  writeFileSync(path, `{\n${lines.join(',\n')}\n}\n`);
}

/** Returns the object that the server stored, as far as a verdict keeps it. */
export function storedObject(text: string, { adds = {}, drops = [] }: Verdict): unknown {
  const object = { '': parse(text) as unknown };
  for (const pointer of drops) withParent(object, pointer, (parent, key) => delete parent[key]);
  for (const [pointer, value] of Object.entries(adds)) {
    withParent(object, pointer, (parent, key) => {
      parent[key] = value;
    });
  }
  return object[''];
}

/** The message of a strict refusal lists the fields in quotes. */
function unknownFields(name: string, { message = '' }: Status): readonly string[] {
  const list = message.slice(message.indexOf('strict decoding error: '));
  const fields = [...list.matchAll(/unknown field "((?:[^"\\]|\\.)*)"/g)].map((match) => match[1] ?? '');
  if (fields.length === 0) throw new Error(`${name}: strict validation found something else: ${message}`);
  return [...new Set(fields)].sort();
}

function refusal(name: string, code: number, { message = '', details }: Status): Partial<Verdict> {
  const found = details?.causes ?? [];
  if (found.length === 0) {
    if (code !== 400 && code !== 404) throw new Error(`${name}: ${code} without a cause: ${message}`);
    return { causes: [{ field: '', reason: code === 400 ? 'Undecodable' : 'NotFound', message: shorten(message) }] };
  }
  const rulesUnchecked = found.some((cause) => cause.message?.includes('some validation rules were not checked'));
  const causes = found
    .map(({ field = '', reason = '', message: says = '' }) => ({
      field: placeOf(field, says),
      reason,
      message: shorten(says),
    }))
    .filter(({ field, reason }) => field !== '<nil>' && !(reason === 'FieldValueInvalid' && isMistyped(found, field)));
  const distinct = new Map(causes.map((cause) => [JSON.stringify(cause), cause]));
  return {
    causes: [...distinct.keys()].sort().map((key) => distinct.get(key) as Cause),
    ...(rulesUnchecked ? { rulesUnchecked } : {}),
  };
}

/** A number that is too large is a fault without a field, which only the message names. */
function placeOf(field: string, message: string): string {
  return (field === '<nil>' ? /Checked value must be of type .* in (\S+)$/.exec(message)?.[1] : undefined) ?? field;
}

/** A value of the wrong type gives rise to further complaints about the same field. */
function isMistyped(causes: readonly Partial<Cause>[], place: string): boolean {
  return causes.some(({ field, reason }) => field === place && reason === 'FieldValueTypeInvalid');
}

/** Without the values that people sent: these are in the case, and may be long. */
function shorten(message: string): string {
  const text = message
    .replace(/^\w+ in version "\w+" cannot be handled as a \w+: /, '')
    .replace(/^Invalid value: (?:(?:"(?:[^"\\]|\\.)*"|-?\d+|null|true|false|\{.*?\}): )?/, '')
    .replace(/\s+/g, ' ');
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS - 1)}…`;
}

function changes(sent: unknown, stored: unknown, unknown: readonly string[]): Partial<Verdict> {
  const adds: Record<string, unknown> = {};
  const drops: string[] = [];
  const compare = (before: unknown, after: unknown, pointer: string): void => {
    if (NOISE.test(pointer) || isDeepStrictEqual(before, after)) return;
    if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after)) {
      adds[pointer] = after;
      return;
    }
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const below = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (Object.hasOwn(before, key) && Object.hasOwn(after, key)) compare(before[key], after[key], below);
      else if (NOISE.test(below)) continue;
      else if (Object.hasOwn(after, key)) adds[below] = after[key];
      else drops.push(below);
    }
  };
  compare(sent, stored, '');
  const isNoise = adds['/metadata/namespace'] === 'default';
  if (isNoise) delete adds['/metadata/namespace'];
  const rest = drops.filter((pointer) => !unknown.includes(fieldOf(pointer))).sort();
  const sorted = Object.fromEntries(
    Object.keys(adds)
      .sort()
      .map((key) => [key, adds[key]]),
  );
  return { adds: sorted, ...(rest.length > 0 ? { drops: rest } : {}) };
}

/** `/spec/rules/0/name` → `spec.rules[0].name`, as the server writes it. */
function fieldOf(pointer: string): string {
  return steps(pointer)
    .slice(1)
    .reduce((path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : path === '' ? step : `${path}.${step}`), '');
}

function steps(pointer: string): string[] {
  return pointer.split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

type Container = Record<string, unknown>;

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}

function withParent(root: Container, pointer: string, visit: (parent: Container, key: string) => void): void {
  const path = steps(pointer);
  const parent = path.slice(0, -1).reduce<unknown>((at, step) => (isContainer(at) ? at[step] : undefined), root);
  if (isContainer(parent)) visit(parent, path.at(-1) ?? '');
}
