/**
 * What holds for routes of all kinds, whatever is in them: nothing throws, status and IR tell the same story, order means nothing.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../../src/pipeline.js';
import type { Condition } from '../../src/status/index.js';
import { buildFiles, planFiles } from '../support/build.js';
import { arbitraryRoutes, SURROUNDINGS } from '../support/route-arbitrary.js';
import { textOf, type WrittenObject } from '../support/snapshot-arbitrary.js';

// The seed is printed by fast-check when a case fails; WEIRGATE_SEED repeats it.
const SEED = Number(process.env.WEIRGATE_SEED ?? Date.now() % 2 ** 31);
const RUNS = Number(process.env.WEIRGATE_RUNS ?? 300);

describe(`routes (seed ${SEED})`, () => {
  it('a listener counts the routes that are Accepted on it', () => {
    let accepted = 0;
    check((plan) => {
      for (const { name, attachedRoutes } of listenersOf(plan)) {
        const counted = parentsOf(plan).filter(
          ({ parentRef, conditions }) => parentRef.sectionName === name && isTrue(conditions, 'Accepted'),
        );
        expect([name, attachedRoutes]).toEqual([name, counted.length]);
        accepted += counted.length;
      }
    });
    // A generator whose routes never attach would prove nothing.
    expect(accepted).toBeGreaterThan(RUNS);
  });

  it('every parent is told whether it takes the route and whether its references resolve', () => {
    let partial = 0;
    check((plan) => {
      for (const { conditions } of parentsOf(plan)) {
        const types = conditions.map(({ type }) => type);
        expect(types.slice(0, 2)).toEqual(['Accepted', 'ResolvedRefs']);
        const dropped = conditions.find(({ type }) => type === 'PartiallyInvalid');
        if (dropped === undefined) continue;
        partial += 1;
        expect(isTrue(conditions, 'Accepted')).toBe(true);
        expect([dropped.status, dropped.reason]).toEqual(['True', 'UnsupportedValue']);
        expect(dropped.message).toMatch(/^Dropped Rule \d: /);
      }
    });
    expect(partial).toBeGreaterThan(RUNS / 10);
  });

  it('a dropped rule answers 500 and does nothing else', () => {
    check((plan, routes) => {
      for (const { kind, namespace, name, status } of plan.status) {
        const told = (status.parents ?? []).flatMap(({ conditions }) => conditions.map(({ message }) => message));
        for (const [, rule] of told.join('\n').matchAll(/Dropped Rule (\d): /g)) {
          const action = plan.ir.actions.find((one) => one.name === `${kind}/${namespace}/${name}/${rule}`);
          const { filters, retry, sessionPersistence, backends } = action ?? NO_ACTION;
          expect([filters, retry, sessionPersistence, backends], textOf(routes)).toEqual([
            [],
            undefined,
            undefined,
            [],
          ]);
        }
      }
    });
  });

  it('the order of objects changes nothing', () => {
    check((plan, routes) => {
      const turned = planFiles({ 'all.yaml': textOf([...routes, ...SURROUNDINGS].reverse()) });
      expect(turned.status).toEqual(plan.status);
      expect(turned.ir).toEqual(plan.ir);
    });
  });

  it('the data plane of this version is asked for nothing that it lacks', () => {
    fc.assert(
      fc.property(arbitraryRoutes, (routes) => {
        const { ir } = buildFiles({ 'all.yaml': textOf([...SURROUNDINGS, ...routes]) });
        expect(
          ir.actions.filter(({ filters, retry, grpc }) => filters.length > 0 || retry !== undefined || grpc),
        ).toEqual([]);
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });
});

const NO_ACTION = { filters: [], retry: undefined, sessionPersistence: undefined, backends: [] };

function check(holds: (plan: Plan, routes: readonly WrittenObject[]) => void): void {
  fc.assert(
    fc.property(arbitraryRoutes, (routes) => {
      holds(planFiles({ 'all.yaml': textOf([...SURROUNDINGS, ...routes]) }), routes);
    }),
    { seed: SEED, numRuns: RUNS },
  );
}

function listenersOf({ status }: Plan) {
  return status.find(({ kind }) => kind === 'Gateway')?.status.listeners ?? [];
}

function parentsOf({ status }: Plan) {
  return status.flatMap(({ status: { parents = [] } }) => parents);
}

function isTrue(conditions: readonly Condition[], wanted: string): boolean {
  return conditions.some(({ type, status }) => type === wanted && status === 'True');
}
