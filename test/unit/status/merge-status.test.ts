/** Our status over what others wrote: places, times, generations and limits, by example. The rest is a property. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CONTROLLER_NAME, OWN_CONDITIONS, roomForAncestors, statusOfOthers } from '../../../src/gateway-api/index.js';
import { type Condition, mergeStatus, type ObjectStatus, type StatusBody } from '../../../src/status/index.js';

const THEN = '2026-01-01T00:00:00Z';
const NOW = '2026-02-02T00:00:00Z';

const condition = (type: string, status: Condition['status'] = 'True', reason = type, message = ''): Condition => ({
  type,
  status,
  reason,
  message,
  observedGeneration: 3,
});
const timed = (type: string, status: Condition['status'] = 'True', observedGeneration = 2): object => ({
  ...condition(type, status),
  observedGeneration,
  lastTransitionTime: THEN,
});
const object = (status: StatusBody, generation = 3): ObjectStatus => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  namespace: 'shop',
  name: 'web',
  generation,
  status,
});
const parent = (name: string, ...conditions: Condition[]): NonNullable<StatusBody['parents']>[number] => ({
  parentRef: { group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: 'shop', name },
  controllerName: CONTROLLER_NAME,
  conditions,
});
const foreign = (name: string): object => ({
  parentRef: { name },
  controllerName: 'example.com/other',
  conditions: [timed('Accepted')],
});
const timesIn = (value: unknown): string[] =>
  [...JSON.stringify(value).matchAll(/Time":"([^"]*)"/g)].map(([, time]) => time as string);

describe('transition times', () => {
  it('stay when reason, message or generation change, and move with the status', () => {
    const before = { conditions: [timed('Accepted'), timed('Programmed')] };
    const ours = object({
      conditions: [condition('Accepted', 'True', 'Other', 'words'), condition('Programmed', 'False')],
    });
    const merged = mergeStatus(before, ours, NOW);
    expect(timesIn(merged)).toEqual([THEN, NOW]);
    expect(merged.conditions).toMatchObject([{ reason: 'Other', message: 'words', observedGeneration: 3 }, {}]);
  });

  it('stay with the listener and the parent, whatever their places', () => {
    const listener = (name: string): NonNullable<StatusBody['listeners']>[number] => ({
      name,
      supportedKinds: [],
      attachedRoutes: 0,
      conditions: [condition('Accepted')],
    });
    const first = mergeStatus(
      undefined,
      object({ listeners: [listener('a')], parents: [parent('x', condition('Accepted'))] }),
      THEN,
    );
    const ours = object({
      listeners: [listener('b'), listener('a')],
      parents: [parent('y', condition('Accepted')), parent('x', condition('Accepted'))],
    });
    expect(timesIn(mergeStatus(first, ours, NOW))).toEqual([NOW, THEN, NOW, THEN]);
  });

  it('are found again where an API server or a person left out the defaults of a reference', () => {
    const before = {
      parents: [{ parentRef: { name: 'x' }, controllerName: CONTROLLER_NAME, conditions: [timed('Accepted')] }],
    };
    expect(timesIn(mergeStatus(before, object({ parents: [parent('x', condition('Accepted'))] }), NOW))).toEqual([
      THEN,
    ]);
  });

  it('are taken from ours where it brings them along', () => {
    const own = { ...condition('Accepted'), lastTransitionTime: THEN };
    expect(timesIn(mergeStatus({ later: 1 }, object({ conditions: [own] }), NOW))).toEqual([THEN]);
  });
});

describe('what others wrote', () => {
  it('keeps its value and its place among conditions; what we no longer say goes', () => {
    const healthy = { type: 'example.com/Healthy', status: 'True', note: 'with a field of its own' };
    const before = {
      conditions: [timed('PartiallyInvalid'), healthy, timed('Accepted'), { type: 'Ready', status: 'x' }],
    };
    const merged = mergeStatus(before, object({ conditions: [condition('Accepted')] }), NOW);
    expect((merged.conditions as { type: string }[]).map(({ type }) => type)).toEqual([
      'Accepted',
      'example.com/Healthy',
      'Ready',
    ]);
    expect((merged.conditions as unknown[])[1]).toBe(healthy);
  });

  it('keeps its entries and their places among parents; ours go with their parentRefs', () => {
    const [one, two] = [foreign('x'), foreign('x')];
    const gone = { ...parent('gone'), conditions: [timed('Accepted')] };
    const merged = mergeStatus({ parents: [one, gone, two] }, object({ parents: [parent('x'), parent('y')] }), NOW);
    const parents = merged.parents as { parentRef: { name: string } }[];
    expect(parents[0]).toBe(one);
    expect(parents[2]).toBe(two);
    expect(parents.map(({ parentRef }) => parentRef.name)).toEqual(['x', 'x', 'x', 'y']);
    // A route whose parents are all of others is cleaned as well.
    expect(mergeStatus({ parents: [one, gone] }, object({}), NOW)).toEqual({ parents: [one] });
  });

  it('leaves us what room there is', () => {
    const conditions = Array.from({ length: 7 }, (_, index) => ({ type: `example.com/${index}`, status: 'True' }));
    const ours = object({ conditions: [condition('Accepted'), condition('Programmed')] });
    const merged = mergeStatus({ conditions }, ours, NOW).conditions as { type: string }[];
    expect(merged.slice(0, 7)).toEqual(conditions);
    expect(merged.slice(7).map(({ type }) => type)).toEqual(['Accepted']);
    const parents = Array.from({ length: 31 }, (_, index) => foreign(String(index)));
    expect(mergeStatus({ parents }, object({ parents: [parent('x'), parent('y')] }), NOW).parents).toHaveLength(32);
  });

  it('in a full list of ancestors leaves no room, ours do', () => {
    const entry = (controllerName: string): object => ({ ancestorRef: { name: 'x' }, controllerName, conditions: [] });
    expect(roomForAncestors(undefined)).toBe(16);
    expect(roomForAncestors({ ancestors: [entry('example.com/other'), entry(CONTROLLER_NAME)] })).toBe(15);
    expect(roomForAncestors({ ancestors: Array.from({ length: 17 }, () => entry('example.com/other')) })).toBe(0);
  });

  it('is all that stays of a status in a file', () => {
    const healthy = { type: 'example.com/Healthy', status: 'True' };
    const status = {
      addresses: [{ value: '192.0.2.1' }],
      conditions: [timed('Accepted', 'True', 9), healthy],
      listeners: [
        { name: 'a', attachedRoutes: 4, conditions: [healthy, timed('Accepted')] },
        { name: 'b', conditions: [timed('Accepted')] },
      ],
      parents: [foreign('x'), parent('y')],
      later: { field: 1 },
    };
    expect(statusOfOthers(status)).toEqual({
      conditions: [healthy],
      listeners: [{ name: 'a', conditions: [healthy] }],
      parents: [foreign('x')],
      later: { field: 1 },
    });
    for (const none of [undefined, null, 5, [], {}, { conditions: [timed('Accepted')] }]) {
      expect(statusOfOthers(none)).toBeUndefined();
    }
  });
});

it('a late writer changes nothing', () => {
  const before = { conditions: [timed('Accepted', 'False', 4)], addresses: [] };
  expect(mergeStatus(before, object({ conditions: [condition('Accepted')], addresses: [] }), NOW)).toBe(before);
  // Generations of conditions that are not ours say nothing about us.
  const others = { conditions: [{ type: 'example.com/Healthy', status: 'True', observedGeneration: 9 }] };
  expect(mergeStatus(others, object({ conditions: [condition('Accepted')] }), NOW)).not.toBe(others);
});

it('one list stands for all routes that are alike', () => {
  const usual = [condition('Accepted')];
  const status = (name: string): Record<string, unknown> =>
    mergeStatus(undefined, object({ parents: [{ ...parent(name), conditions: usual }] }), NOW);
  const conditionsOf = (merged: Record<string, unknown>): unknown =>
    (merged.parents as { conditions: unknown }[])[0]?.conditions;
  expect(conditionsOf(status('x'))).toBe(conditionsOf(status('y')));
});

it('every type of condition that a golden case shows is one that we would clean up', () => {
  const folder = fileURLToPath(new URL('../../golden', import.meta.url));
  const types = new Set<string>();
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/(^|\/)status\.yaml$/.test(name)) continue;
    const text = readFileSync(join(folder, name), 'utf8');
    for (const [, type = ''] of text.matchAll(/^ +(\w+): ["']?(?:True|False|Unknown)\//gm)) types.add(type);
  }
  expect(types.size).toBeGreaterThan(3);
  expect([...types].filter((type) => !OWN_CONDITIONS.has(type))).toEqual([]);
});
