/**
 * Our admission against what a real API server said to the same objects. Needs no cluster: `npm run judge:admission` writes the
 * verdicts. What counts as agreement stands in agreement.ts; what we do otherwise on purpose in version-differences.yaml.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { disagreements } from './agreement.js';
import { type Case, fingerprint, readCases } from './cases.js';
import { type Cause, type Judgement, readJudgement, type Verdict } from './verdicts.js';

/** Cases in which we differ from the server on purpose. */
interface Difference {
  readonly why: string;
  /** The version of the Gateway API under whose definitions we agree; nothing when it is our own decision. */
  readonly follows?: string;
  /** `group: name` of each case. */
  readonly cases?: readonly string[];
  /** A whole file of the corpus. */
  readonly group?: string;
  /** What is different: each disagreement of the cases contains one of these. */
  readonly differs: readonly string[];
}

const differences = parse(
  readFileSync(new URL('version-differences.yaml', import.meta.url), 'utf8'),
) as readonly Difference[];
const decisions = differences.filter(({ follows }) => follows === undefined);

const cases = readCases();
const groups = [...new Set(cases.map(({ group }) => group))];
const judged = readJudgement('judged');
const later = readJudgement('later');

const labelOf = ({ group, name }: Case): string => `${group}: ${name}`;

/** What we see otherwise than the server, by the label of the case. */
function disagreementsBy({ verdicts }: Judgement): ReadonlyMap<string, readonly string[]> {
  return new Map(
    cases.map((asked) => {
      const verdict = verdicts.get(asked.group)?.[asked.name];
      return [labelOf(asked), verdict === undefined ? ['there is no verdict'] : disagreements(asked, verdict)];
    }),
  );
}

const found = disagreementsBy(judged);
const foundLater = disagreementsBy(later);

function holdsFor({ cases: listed = [], group }: Difference, label: string): boolean {
  return listed.includes(label) || (group !== undefined && label.startsWith(`${group}: `));
}

function isWanted(rows: readonly Difference[], label: string, disagreement: string): boolean {
  return rows.some((row) => holdsFor(row, label) && row.differs.some((part) => disagreement.includes(part)));
}

function unwanted(
  group: string,
  rows: readonly Difference[],
  all: ReadonlyMap<string, readonly string[]>,
): Readonly<Record<string, readonly string[]>> {
  const left = cases
    .filter((asked) => asked.group === group)
    .map(labelOf)
    .map((label) => [label, (all.get(label) ?? []).filter((text) => !isWanted(rows, label, text))] as const);
  return Object.fromEntries(left.filter(([, texts]) => texts.length > 0));
}

describe('the verdicts', () => {
  it('are about the objects as they are now, none is missing and none is left over', () => {
    const answered = [...judged.verdicts].flatMap(([group, verdicts]) =>
      Object.entries(verdicts).map(([name, { of }]) => `${group}: ${name} (${of})`),
    );
    const asked = cases.map((one) => `${labelOf(one)} (${fingerprint(one.text)})`);
    expect(answered.sort()).toEqual(asked.sort());
  });

  it.each(groups.filter((group) => group !== 'kinds'))('on %s are of both sorts', (group) => {
    const verdicts = Object.values(judged.verdicts.get(group) ?? {});
    expect(verdicts.some(({ adds }) => adds !== undefined)).toBe(true);
    expect(verdicts.some(({ causes }) => causes !== undefined)).toBe(true);
  });
});

/** Rules that no object can break, since its structure is refused before. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  "HTTPRoute spec.rules[].matches[].path: type must be one of ['Exact', 'PathPrefix', 'RegularExpression']",
  'Gateway spec.listeners: Listener name must be unique within the Gateway',
  'ListenerSet spec.listeners: Listener name must be unique within the Gateway',
  'Gateway spec.tls.frontend.perPort: Port for TLS configuration must be unique within the Gateway',
]);

describe('the corpus', () => {
  it.each([
    ['judged', judged],
    ['later', later],
  ] as const)('breaks every rule of the definitions that the server has, %s', (_, { verdicts, rules }) => {
    const broken = new Set(
      cases.flatMap(({ group, name, text }) => {
        const kind = /"?kind"?: ?"?(\w+)/.exec(text)?.[1];
        const causes = verdicts.get(group)?.[name]?.causes ?? [];
        return causes.map(({ field, message }) => `${kind} ${field.replace(/\[\d+\]/g, '[]')}: ${message}`);
      }),
    );
    const whole = rules
      .filter(({ kind, transition }) => transition !== true && !kind.startsWith('X'))
      .map(({ kind, field, message }) => `${kind} ${field}: ${message}`);
    expect(whole.length).toBeGreaterThan(150);
    expect(whole.filter((rule) => !broken.has(rule) && !UNREACHABLE.has(rule))).toEqual([]);
  });
});

describe('our admission agrees with the API server', () => {
  it.each(groups)('on %s', (group) => {
    expect(unwanted(group, differences, found)).toEqual({});
  });

  it.each(groups)('on %s under the definitions of the version that we follow', (group) => {
    expect(unwanted(group, decisions, foundLater)).toEqual({});
  });

  it('but for version-differences.yaml, of which every row, case and text is needed', () => {
    const idle = differences.flatMap((row) => {
      const labels = [...found.keys()].filter((label) => holdsFor(row, label));
      const texts = labels.flatMap((label) => found.get(label) ?? []);
      return [
        ...(row.cases ?? []).filter((label) => !(found.get(label) ?? []).some((text) => isWanted([row], label, text))),
        ...row.differs.filter((part) => !texts.some((text) => text.includes(part))),
      ];
    });
    expect(idle).toEqual([]);
  });
});

describe('the comparison', () => {
  const route = (spec: string): Case => ({
    group: 'sample',
    name: 'sample',
    text: `apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: web}\nspec: ${spec}\n`,
  });
  const cause = (field: string, reason: string, message = ''): Cause => ({ field, reason, message });
  const wildcard = route('{hostnames: ["*"]}');
  const pattern = cause('spec.hostnames[0]', 'FieldValueInvalid', "spec.hostnames[0] in body should match '^x$'");
  const twoFilters = route('{rules: [{filters: [{type: CORS, cors: {}}, {type: CORS, cors: {}}]}]}');

  it.each<[string, Case, Omit<Verdict, 'of'>, number]>([
    ['the same fault', wildcard, { causes: [pattern] }, 0],
    ['another verdict', wildcard, { adds: {} }, 2],
    ['another field', wildcard, { causes: [{ ...pattern, field: 'spec.hostnames[1]' }] }, 2],
    ['a fault of structure at the parent', wildcard, { causes: [{ ...pattern, field: 'spec.hostnames' }] }, 2],
    ['one fault more', wildcard, { causes: [pattern, cause('spec.rules', 'FieldValueRequired')] }, 1],
    ['one fault less', route('{hostnames: ["*", "-"]}'), { causes: [pattern] }, 1],
    [
      'a rule at the parent',
      twoFilters,
      { causes: [cause('spec.rules[0].filters', 'FieldValueInvalid', 'repeated')] },
      0,
    ],
    ['a rule elsewhere', twoFilters, { causes: [cause('spec.rules[1].filters', 'FieldValueInvalid', 'repeated')] }, 2],
    ['rules that were not read', twoFilters, { causes: [], rulesUnchecked: true }, 0],
    ['an unknown field', route('{rulez: []}'), { unknown: ['spec.rulez'], adds: {} }, 0],
    ['an unknown field that is known', route('{hostnames: []}'), { unknown: ['spec.hostnames'], adds: {} }, 2],
    ['an unknown field that the server knows', route('{rulez: []}'), { adds: {} }, 2],
    ['another default', route('{rules: [{}]}'), { adds: { '/spec/rules/0/matches': [] } }, 1],
    ['a default that we lack', route('{rules: []}'), { adds: { '/spec/hostnames': [] } }, 2],
  ])('finds what is different: %s', (_, asked, verdict, count) => {
    expect(disagreements(asked, { of: '', ...verdict })).toHaveLength(count);
  });
});
