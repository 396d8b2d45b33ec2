/**
 * Holds the ledger of rules: every rule has a test that exists, every golden case shows a rule, every feature has rules. Each check is
 * first shown a sample that breaks it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CAPABILITIES } from '../../src/compile/capabilities.js';
import { FEATURE_NAMES, supportedFeatures } from '../../src/resolve/features.js';
import { readCases } from './cases.js';
import { ledgerFaults, parseLedger, parseReference, type Rule, readWorld, type World } from './ledger.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const sections = parseLedger(readFileSync(join(ROOT, 'test/conformance/rules.yaml'), 'utf8'));
const corpus = readCases().map(({ group, name }) => `${group}: ${name}`);
const rules = sections.flatMap((section) => section.rules);

describe('a fault of the ledger', () => {
  const world: World = {
    goldenCases: new Set(['one case']),
    corpus: new Set(['gateway/good']),
    featureNames: new Set(['Gateway']),
    read: (path) => ({ 'test/a.test.ts': "it('adds up', () => {});", 'native/a.rs': '#[test]\n fn adds_up() {' })[path],
  };
  const good: Rule = {
    id: 'gateway.good',
    level: 'must',
    feature: 'Gateway',
    source: 'Gateway.spec',
    rule: 'A Gateway is good',
    tests: ['one case', 'test/a.test.ts > adds up', 'native/a.rs > adds_up', 'corpus > gateway/good'],
  };
  const faultsOf = (...given: Partial<Rule>[]): string[] =>
    ledgerFaults([{ id: 'gateway', title: 'Gateway', rules: given.map((rule) => ({ ...good, ...rule })) }], world);

  it.each<[string, Partial<Rule>[], string[]]>([
    ['none', [{}], []],
    ['a rule without test', [{ tests: undefined }, { id: 'gateway.rest' }], ['gateway.good: it has no test']],
    ['an empty list', [{ tests: [], traffic: ['one case'] }], ['gateway.good: a list of it is empty; leave it out']],
    ['none, by traffic alone', [{ tests: undefined, traffic: ['one case'] }], []],
    [
      'a golden case that is not there',
      [{ tests: ['one case', 'another'] }],
      ['gateway.good: there is no golden case "another"'],
    ],
    [
      'a file that is not there',
      [{ traffic: ['test/b.test.ts > adds up'] }],
      ['gateway.good: there is no file test/b.test.ts'],
    ],
    [
      'a title that is not there, or in other words',
      [{ traffic: ['test/a.test.ts > adds', 'native/a.rs > adds'] }],
      ['gateway.good: test/a.test.ts has no test "adds"', 'gateway.good: native/a.rs has no test "adds"'],
    ],
    ['an object that the corpus lacks', [{ traffic: ['corpus > x'] }], ['gateway.good: the corpus has no "x"']],
    ['a test named twice', [{ traffic: ['one case'] }], ['gateway.good: "one case" is named twice']],
    ['a rule that is there twice', [{}, {}], ['gateway.good is there twice']],
    ['rules out of order', [{}, { id: 'gateway.better' }], ['gateway.better is not in order']],
    ['a rule of another section', [{ id: 'route.good' }], ['route.good is in section gateway']],
    ['an unknown feature', [{ feature: 'Gatway' }], ['gateway.good: feature Gatway is none']],
    ['an unknown level', [{ level: 'can' as 'may' }], ['gateway.good: level can is none']],
    ['no source', [{ source: '' }], ['gateway.good: it has no source']],
    ['a full stop', [{ rule: 'It is good.' }], ['gateway.good: it is no sentence without a full stop']],
    [
      'a golden case that no rule names',
      [{ tests: ['test/a.test.ts > adds up'] }],
      ['no rule names the golden case "one case"'],
    ],
  ])('is found: %s', (_, given, expected) => {
    expect(faultsOf(...given)).toEqual(expected);
  });

  it('a reference is a test only when it names a file', () => {
    expect(parseReference('exact > prefix')).toEqual({ kind: 'golden', name: 'exact > prefix' });
    expect(parseReference('test/a.test.ts > a > b')).toEqual({ kind: 'test', file: 'test/a.test.ts', title: 'a > b' });
  });
});

describe('the ledger', () => {
  it('has no rule without test, and names no test that is not there', () => {
    expect(ledgerFaults(sections, readWorld(ROOT, FEATURE_NAMES, corpus))).toEqual([]);
  });

  it('has rules for every feature that is not about meshes', () => {
    const named = new Set(rules.map(({ feature }) => feature));
    expect(FEATURE_NAMES.filter((name) => !named.has(name))).toEqual([]);
  });

  it('shows no rule that a claimed feature demands and that waits for a data plane', () => {
    const claimed = new Set(supportedFeatures(CAPABILITIES));
    const waiting = rules.filter(
      ({ level, issue, feature }) => level === 'must' && issue !== undefined && claimed.has(feature),
    );
    expect(waiting.map(({ id, feature }) => `${id} of ${feature}`)).toEqual([]);
  });
});
