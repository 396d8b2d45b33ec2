/**
 * Holds that status speaks the words of the Gateway API, all of them: every condition that a golden case shows is on the list, and
 * every one on the list is shown by a golden case or says why nothing leads to it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { keyOf, parseConditions, readShown } from './conditions.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const entries = parseConditions(readFileSync(join(ROOT, 'test/conformance/conditions.yaml'), 'utf8'));
const shown = readShown(join(ROOT, 'test/golden'));

it('golden cases show no condition that the API does not have', () => {
  const known = new Set(entries.filter(({ never }) => never === undefined).map(keyOf));
  expect([...shown.keys()].filter((key) => !known.has(key)).sort()).toEqual([]);
});

it('every condition of the API has a golden case, or nothing leads to it', () => {
  const wanted = entries.filter(({ never }) => never === undefined).map(keyOf);
  expect(wanted.filter((key) => !shown.has(key))).toEqual([]);
});

it('the types that are reserved or retired are never set', () => {
  const types = new Set([...shown.keys()].map((key) => key.split(' ')[1]));
  expect(['Ready', 'Scheduled', 'Detached'].filter((type) => types.has(type))).toEqual([]);
});
