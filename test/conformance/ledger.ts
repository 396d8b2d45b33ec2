/**
 * The ledger of rules: every MUST and SHOULD of the Gateway API that concerns a gateway, and every MAY that we chose, with the tests
 * that hold it. This file reads `rules.yaml` and finds what is wrong with it; `docs.ts` prints it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const LEVELS = ['must', 'should', 'may'] as const;

/** A rule of the specification in our own words. */
export interface Rule {
  /** Stable; begins with the id of its section. */
  readonly id: string;
  /** `may`: the specification leaves it open, this is what we chose. */
  readonly level: (typeof LEVELS)[number];
  /** Where the specification says so: a field, a condition, a GEP, a test of the official suite. */
  readonly source: string;
  /** One of the feature names of the specification. */
  readonly feature: string;
  readonly rule: string;
  /** Hold what admission, status and the intermediate representation say; see `Reference`. None where only traffic can show it. */
  readonly tests?: readonly string[] | undefined;
  /** Hold what clients and endpoints see. */
  readonly traffic?: readonly string[];
  /** Number of the issue whose data plane brings what is missing of `traffic`. */
  readonly issue?: number;
}

/** Rules about one subject, sorted by id. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly rules: readonly Rule[];
}

/** What a reference may name; see `readWorld`. */
export interface World {
  /** Folders below test/golden that are cases. */
  readonly goldenCases: ReadonlySet<string>;
  /** Ids of the corpus of objects that a real API server has judged. */
  readonly corpus: ReadonlySet<string>;
  readonly featureNames: ReadonlySet<string>;
  /** Text of a file of the repository; `undefined`: there is none. */
  readonly read: (path: string) => string | undefined;
}

/** A test: a golden case by its folder, a test by file and title, or an object of the corpus by its id. */
export type Reference =
  | { readonly kind: 'golden'; readonly name: string }
  | { readonly kind: 'test'; readonly file: string; readonly title: string }
  | { readonly kind: 'corpus'; readonly id: string };

/** Cases that show what we ship rather than a rule. */
const SHIPPED = /^config-/;

/** Returns the sections of a ledger's text. Throws on text that is no YAML. */
export function parseLedger(text: string): readonly Section[] {
  return (parse(text) as { readonly sections: readonly Section[] }).sections;
}

/** Returns what a reference names. */
export function parseReference(text: string): Reference {
  const [place, title] = splitOnce(text, ' > ');
  if (title !== undefined && place === 'corpus') return { kind: 'corpus', id: title };
  if (title !== undefined && /^(?:test|native)\/\S+\.(?:ts|rs)$/.test(place)) {
    return { kind: 'test', file: place, title };
  }
  return { kind: 'golden', name: text };
}

/** Returns everything that is wrong with a ledger, a sentence each; empty: it may be relied upon. */
export function ledgerFaults(sections: readonly Section[], world: World): string[] {
  const rules = sections.flatMap((section) => section.rules);
  return [
    ...repeated(sections.map(({ id }) => id)).map((id) => `section ${id} is there twice`),
    ...repeated(rules.map(({ id }) => id)).map((id) => `${id} is there twice`),
    ...sections.flatMap(orderFaults),
    ...rules.flatMap((rule) => ruleFaults(rule, world)),
    ...unnamed(rules, world),
  ];
}

/** Returns the world of the checkout at `root`. */
export function readWorld(root: string, featureNames: Iterable<string>, corpus: Iterable<string>): World {
  const golden = join(root, 'test/golden');
  const files = new Map<string, string | undefined>();
  return {
    goldenCases: new Set(readdirSync(golden).filter((name) => existsSync(join(golden, name, 'input.yaml')))),
    corpus: new Set(corpus),
    featureNames: new Set(featureNames),
    read(path) {
      if (!files.has(path)) {
        files.set(path, existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined);
      }
      return files.get(path);
    },
  };
}

function orderFaults({ id: section, rules }: Section): string[] {
  const ids = rules.map(({ id }) => id);
  const strangers = ids.filter((id) => !id.startsWith(`${section}.`)).map((id) => `${id} is in section ${section}`);
  const unsorted = ids.filter((id, index) => index > 0 && id < ids[index - 1]!);
  return [...strangers, ...unsorted.map((id) => `${id} is not in order`)];
}

function ruleFaults({ id, level, source, feature, rule, tests, traffic, issue }: Rule, world: World): string[] {
  const references = [...(tests ?? []), ...(traffic ?? [])];
  const faults = [
    !/^[a-z0-9]+(?:[.-][a-z0-9]+)+$/.test(id) && 'its id is no id',
    !LEVELS.includes(level) && `level ${level} is none`,
    (source ?? '') === '' && 'it has no source',
    !/^\S.*[^.\s]$/s.test(rule ?? '') && 'it is no sentence without a full stop',
    !world.featureNames.has(feature) && `feature ${feature} is none`,
    references.length === 0 && 'it has no test',
    (tests?.length === 0 || traffic?.length === 0) && 'a list of it is empty; leave it out',
    issue !== undefined && !(Number.isInteger(issue) && issue > 0) && `issue ${issue} is none`,
    ...repeated(references).map((text) => `"${text}" is named twice`),
    ...references.flatMap((text) => referenceFault(text, world)),
  ];
  return faults.filter((fault) => fault !== false).map((fault) => `${id}: ${fault}`);
}

function referenceFault(text: string, world: World): string[] {
  const reference = parseReference(text);
  switch (reference.kind) {
    case 'golden':
      return world.goldenCases.has(reference.name) ? [] : [`there is no golden case "${reference.name}"`];
    case 'corpus':
      return world.corpus.has(reference.id) ? [] : [`the corpus has no "${reference.id}"`];
    case 'test': {
      const code = world.read(reference.file);
      if (code === undefined) return [`there is no file ${reference.file}`];
      return hasTest(code, reference) ? [] : [`${reference.file} has no test "${reference.title}"`];
    }
  }
}

/** True when the title is that of a test, or stands in a table of tests. */
function hasTest(code: string, { file, title }: { readonly file: string; readonly title: string }): boolean {
  const literal = title.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/['"`]/g, '\\\\?$&');
  const pattern = file.endsWith('.rs') ? `#\\[test\\][^{}]*fn ${literal}\\(` : `[([{:,]\\s*(['"\`])${literal}\\1\\s*,`;
  return new RegExp(pattern).test(code);
}

function unnamed(rules: readonly Rule[], { goldenCases }: World): string[] {
  const named = new Set(rules.flatMap(({ tests, traffic }) => [...(tests ?? []), ...(traffic ?? [])]));
  return [...goldenCases]
    .filter((name) => !named.has(name) && !SHIPPED.test(name))
    .map((name) => `no rule names the golden case "${name}"`);
}

function repeated(values: readonly string[]): string[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))];
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}
