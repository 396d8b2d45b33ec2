/**
 * The objects about which a real API server has spoken. `corpus/` holds those that people wrote: YAML documents, each under a
 * comment that names it. `generate.ts` spoils the objects of `bases.yaml` by machine.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { generate } from './generate.js';

/** One object as a user would write it. */
export interface Case {
  /** What it is about; unique within its group. */
  readonly name: string;
  /** The file of `corpus/` without its ending, or `generated`. Verdicts are kept in a file for each group. */
  readonly group: string;
  /** One YAML document. */
  readonly text: string;
}

/** The group of the cases that `generate.ts` makes. */
export const GENERATED = 'generated';

/** How many cases are generated, and from which seed. Another number means to judge anew. */
const GENERATION = { count: 1000, seed: 4 };

const HERE = fileURLToPath(new URL('.', import.meta.url));
const SEPARATOR = /^---\n/m;
const NAME_LINE = /^# (.+)\n/;

/** Returns all cases, by group. Throws for a document without a name and for a name that is there twice. */
export function readCases(): readonly Case[] {
  const written = readdirSync(`${HERE}corpus`)
    .sort()
    .flatMap((file) => readFile(file.replace(/\.yaml$/, ''), readFileSync(`${HERE}corpus/${file}`, 'utf8')));
  const bases = parseAllDocuments(readFileSync(`${HERE}bases.yaml`, 'utf8')).map(
    (document) => document.toJS() as object,
  );
  const generated = generate(bases, GENERATION.count, GENERATION.seed).map(({ name, object }) => ({
    name,
    group: GENERATED,
    text: `${JSON.stringify(object)}\n`,
  }));
  const cases = [...written, ...generated];
  const seen = new Set<string>();
  for (const { name, group } of cases) {
    const key = `${group}: ${name}`;
    if (seen.has(key)) throw new Error(`the case "${key}" is there twice`);
    seen.add(key);
  }
  return cases;
}

/** Returns a few hexadecimal digits that change with the text, so that a verdict cannot outlive its object. */
export function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/** What stands before the first separator is for readers. */
function readFile(group: string, content: string): readonly Case[] {
  return content
    .split(SEPARATOR)
    .slice(1)
    .map((document) => {
      const name = NAME_LINE.exec(document)?.[1];
      if (name === undefined) throw new Error(`corpus/${group}.yaml: a document has no name: ${document.slice(0, 80)}`);
      return { name, group, text: document };
    });
}
