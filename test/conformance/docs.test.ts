/**
 * The pages of docs/ that are printed: `npm run docs` writes them anew.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readSources } from '../architecture/sources.js';
import { parseConditions, readShown } from './conditions.js';
import { type CodeEntry, printCodes, printConditions, printFeatures, printRules } from './docs.js';
import { parseLedger } from './ledger.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const GOLDEN = join(ROOT, 'test/golden');
const isUpdate = process.env.UPDATE_DOCS === '1';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const sections = parseLedger(read('test/conformance/rules.yaml'));
const sources = [...readSources(ROOT, ['src'], ['.ts']).values()];

/** By code; rules of the kinds say their own beside it. */
const meanings: Readonly<Record<string, string>> = {
  ...(parse(read('test/conformance/codes.yaml')) as Record<string, string>),
  ...Object.fromEntries(
    sources
      .flatMap((text) => [...text.matchAll(/code: '(WG3\d{3})',\s+(?:severity: '\w+',\s+)?says:\s+(['"])(.*?)\2/g)])
      .map(([, code, , says = '']) => [code, `Broken rule: ${says}`]),
  ),
};

it('every code that can be given has a meaning, and no other', () => {
  const given = new Set(sources.flatMap((text) => text.match(/(?<=')WG[1-4][0-9]{3}(?=')/g) ?? []));
  expect(Object.keys(meanings).sort()).toEqual([...given].sort());
});

describe('docs', () => {
  it.each([
    ['conformance.md', () => printRules(sections)],
    ['features.md', () => printFeatures(sections)],
    ['codes.md', () => printCodes(codeEntries())],
    [
      'conditions.md',
      () => printConditions(parseConditions(read('test/conformance/conditions.yaml')), readShown(GOLDEN)),
    ],
  ])('%s is up to date', (name, print) => {
    const path = join(ROOT, 'docs', name);
    const text = print();
    if (isUpdate) {
      mkdirSync(join(ROOT, 'docs'), { recursive: true });
      writeFileSync(path, text);
    }
    expect(existsSync(path) ? readFileSync(path, 'utf8') : '', 'run npm run docs').toBe(text);
  });
});

it('every link of the docs leads somewhere', () => {
  const docs = join(ROOT, 'docs');
  const lost = readdirSync(docs).flatMap((page) =>
    [...readFileSync(join(docs, page), 'utf8').matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)]
      .map(([, target = '']) => decodeURIComponent(target))
      .filter((target) => !existsSync(join(docs, target)))
      .map((target) => `${page}: ${target}`),
  );
  expect(lost).toEqual([]);
});

/** Each code with the first golden diagnostic that has it. */
function codeEntries(): CodeEntry[] {
  const lines = readdirSync(GOLDEN)
    .sort()
    .map((name) => join(GOLDEN, name, 'diagnostics.txt'))
    .filter((path) => existsSync(path))
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'));
  return Object.entries(meanings)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, meaning]) => ({ code, meaning, example: exampleOf(code, lines) }));
}

/** What the first line says that has the code, without its place in a file. */
function exampleOf(code: string, lines: readonly string[]): string {
  const line = lines.find((candidate) => candidate.includes(` ${code} `)) ?? '';
  return line.slice(line.indexOf(code) + code.length + 1);
}
