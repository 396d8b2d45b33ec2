/**
 * What holds for every status that others have written to: theirs stays, ours tells the truth, and writing ends.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CONTROLLER_NAME,
  isOwnCondition,
  isOwnEntry,
  MAX_ANCESTORS,
  MAX_CONDITIONS,
  MAX_PARENTS,
  statusOfOthers,
} from '../../src/gateway-api/index.js';
import { type Condition, mergeStatus, type ObjectStatus } from '../../src/status/index.js';

// The seed is printed by fast-check when a case fails; WEIRGATE_SEED repeats it.
const SEED = Number(process.env.WEIRGATE_SEED ?? Date.now() % 2 ** 31);
const RUNS = Number(process.env.WEIRGATE_RUNS ?? 500);
const options = { seed: SEED, numRuns: RUNS };

const OWN_TYPES = ['Accepted', 'Programmed', 'ResolvedRefs', 'PartiallyInvalid'];
const state = fc.constantFrom('True', 'False', 'Unknown');
const time = fc.constantFrom('2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z');
const reason = fc.constantFrom('Accepted', 'Invalid', 'Pending');
const name = fc.constantFrom('a', 'b', 'c');
const generation = fc.integer({ min: 1, max: 4 });

const ownConditions = (observedGeneration: number): fc.Arbitrary<Condition[]> =>
  fc.uniqueArray(
    fc.record({
      type: fc.constantFrom(...OWN_TYPES),
      status: state as fc.Arbitrary<Condition['status']>,
      reason,
      message: fc.constantFrom('', 'because'),
      observedGeneration: fc.constant(observedGeneration),
    }),
    { selector: ({ type }) => type },
  );

/** As an API server may have them: ours of some generation, others' of any shape. */
const conditionsThere = fc.uniqueArray(
  fc.record(
    {
      type: fc.constantFrom(...OWN_TYPES, 'example.com/Healthy', 'Ready', 'Scheduled', 'x', 'y', 'z'),
      status: state,
      reason,
      message: fc.constantFrom('', 'words'),
      observedGeneration: generation,
      lastTransitionTime: time,
    },
    { requiredKeys: ['type', 'status'] },
  ),
  { selector: ({ type }) => type, maxLength: MAX_CONDITIONS },
);

const reference = fc.record(
  { group: fc.constant('gateway.networking.k8s.io'), kind: fc.constant('Gateway'), namespace: name, name },
  { requiredKeys: ['name'] },
);

const entriesThere = (field: 'parentRef' | 'ancestorRef', most: number): fc.Arbitrary<object[]> =>
  fc.array(
    fc
      .record({
        [field]: reference,
        controllerName: fc.constantFrom(CONTROLLER_NAME, 'example.com/other', 'example.com/third'),
        conditions: conditionsThere,
      })
      .map((entry) => entry as object),
    { maxLength: most },
  );

const junk = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant(undefined));

const existing = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      {
        conditions: conditionsThere,
        listeners: fc.uniqueArray(fc.record({ name, attachedRoutes: fc.nat(3), conditions: conditionsThere }), {
          selector: (listener) => listener.name,
        }),
        parents: entriesThere('parentRef', MAX_PARENTS),
        ancestors: entriesThere('ancestorRef', MAX_ANCESTORS),
        addresses: fc.constantFrom([], [{ value: '192.0.2.1' }]),
        later: fc.constantFrom('a field of a later version', 7),
      },
      { requiredKeys: [] },
    ),
  },
  { weight: 1, arbitrary: fc.record({ conditions: junk, listeners: junk, parents: junk, ancestors: junk }) },
  { weight: 1, arbitrary: junk },
);

const ours: fc.Arbitrary<ObjectStatus> = generation.chain((own) =>
  fc
    .record(
      {
        conditions: ownConditions(own),
        addresses: fc.constant([{ type: 'IPAddress' as const, value: '192.0.2.7' }]),
        listeners: fc.uniqueArray(
          fc.record({
            name,
            supportedKinds: fc.constant([{ group: 'g', kind: 'HTTPRoute' }]),
            attachedRoutes: fc.nat(3),
            conditions: ownConditions(own),
          }),
          { selector: (listener) => listener.name },
        ),
        parents: fc.uniqueArray(
          fc.record({
            parentRef: name.map((each) => ({ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: each })),
            controllerName: fc.constant(CONTROLLER_NAME),
            conditions: ownConditions(own),
          }),
          { selector: ({ parentRef }) => parentRef.name },
        ),
        ancestors: fc.uniqueArray(
          fc.record({
            ancestorRef: name.map((each) => ({ kind: 'Gateway', namespace: 'a', name: each })),
            controllerName: fc.constant(CONTROLLER_NAME),
            conditions: ownConditions(own),
          }),
          { selector: ({ ancestorRef }) => ancestorRef.name },
        ),
      },
      { requiredKeys: [] },
    )
    .map((status) => ({ apiVersion: 'v1', kind: 'Any', namespace: 'a', name: 'x', generation: own, status })),
);

type Loose = Record<string, unknown>;
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const record = (value: unknown): Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Loose) : {};

/** Every list of conditions that is ours to write, by what it is about. */
function ownLists(status: unknown): Map<string, readonly Loose[]> {
  const { conditions, listeners, parents, ancestors } = record(status);
  const lists = new Map<string, readonly Loose[]>();
  const add = (key: string, list: unknown): void => {
    const found = asList(list).filter(isOwnCondition) as Loose[];
    if (!lists.has(key)) lists.set(key, found);
  };
  add('object', conditions);
  for (const listener of asList(listeners).map(record)) add(`listener ${listener.name}`, listener.conditions);
  for (const entry of [...asList(parents), ...asList(ancestors)].filter(isOwnEntry).map(record)) {
    const { name: named, namespace = 'a' } = record(entry.parentRef ?? entry.ancestorRef);
    add(`${entry.parentRef === undefined ? 'ancestor' : 'parent'} ${namespace}/${named}`, entry.conditions);
  }
  return lists;
}

/** The newest generation that a condition of ours speaks about, wherever it stands. */
function newest(status: unknown): number {
  const { conditions, listeners, parents, ancestors } = record(status);
  const entries = [...asList(parents), ...asList(ancestors)].filter(isOwnEntry);
  const lists = [conditions, ...[...asList(listeners), ...entries].map((entry) => record(entry).conditions)];
  const own = lists.flatMap((list) => asList(list).filter(isOwnCondition).map(record));
  return Math.max(0, ...own.map(({ observedGeneration }) => Number(observedGeneration ?? 0)));
}

describe(`a merged status (seed ${SEED})`, () => {
  it('is the same value when it is merged once more, at whatever time', () => {
    fc.assert(
      fc.property(existing, ours, (before, own) => {
        const once = mergeStatus(before, own, '2026-04-01T00:00:00Z');
        expect(mergeStatus(once, own, '2026-05-01T00:00:00Z')).toBe(once);
        // Whoever reads it back from an API server has other values of the same content.
        const read = JSON.parse(JSON.stringify(once)) as unknown;
        expect(mergeStatus(read, own, '2026-05-01T00:00:00Z')).toBe(read);
      }),
      options,
    );
  });

  it('has what others wrote, byte by byte and in their order', () => {
    fc.assert(
      fc.property(existing, ours, (before, own) => {
        const merged = mergeStatus(before, own, '2026-04-01T00:00:00Z');
        const fields = new Set(Object.keys(own.status));
        const text = (status: unknown): string => {
          const others = { ...statusOfOthers(status) };
          // A list that is none, and listeners that are gone, belong to nobody.
          for (const field of ['conditions', 'parents', 'ancestors', 'listeners']) {
            if (!Array.isArray(others[field])) delete others[field];
          }
          if (fields.has('listeners')) {
            const served = new Set(own.status.listeners?.map((listener) => listener.name));
            const kept = asList(others.listeners).filter((entry) => served.has(String(record(entry).name)));
            const sorted = kept.map((entry) => JSON.stringify(entry)).sort();
            return JSON.stringify({ ...others, listeners: sorted }, Object.keys({ ...others, listeners: 0 }).sort());
          }
          return JSON.stringify(others);
        };
        expect(text(merged)).toBe(text(before));
      }),
      options,
    );
  });

  it('moves a transition time exactly when the status of its condition moves', () => {
    fc.assert(
      fc.property(existing, ours, (before, own) => {
        const now = '2026-04-01T00:00:00Z';
        const merged = mergeStatus(before, own, now);
        if (merged === before) return;
        const old = ownLists(before);
        for (const [key, conditions] of ownLists(merged)) {
          for (const condition of conditions) {
            const was = old.get(key)?.find(({ type }) => type === condition.type);
            const kept = was?.status === condition.status ? was?.lastTransitionTime : undefined;
            if (own.status[fieldOf(key)] === undefined) continue;
            expect(condition.lastTransitionTime, `${key} ${condition.type}`).toBe(kept ?? now);
          }
        }
      }),
      options,
    );
  });

  it('never speaks about an older generation than before', () => {
    fc.assert(
      fc.property(existing, ours, (before, own) => {
        const merged = mergeStatus(before, own, '2026-04-01T00:00:00Z');
        if (newest(before) > own.generation) expect(merged).toEqual(record(before));
        else
          for (const [key, list] of ownLists(merged)) {
            if (own.status[fieldOf(key)] === undefined) continue;
            for (const { observedGeneration } of list) expect(observedGeneration).toBe(own.generation);
          }
      }),
      options,
    );
  });

  it('has no entry of ours but those of now, and no list longer than the API takes', () => {
    fc.assert(
      fc.property(existing, ours, (before, own) => {
        fc.pre(newest(before) <= own.generation);
        const merged = mergeStatus(before, own, '2026-04-01T00:00:00Z');
        for (const [field, most] of [
          ['parents', MAX_PARENTS],
          ['ancestors', MAX_ANCESTORS],
        ] as const) {
          const entries = asList(merged[field]);
          const others = entries.filter((entry) => !isOwnEntry(entry)).length;
          expect(entries.length).toBeLessThanOrEqual(Math.max(most, others));
          expect(entries.length - others).toBe(Math.min(own.status[field]?.length ?? 0, Math.max(0, most - others)));
        }
        if (own.status.conditions !== undefined) {
          const types = new Set(own.status.conditions.map(({ type }) => type));
          const written = asList(merged.conditions).filter(isOwnCondition) as Loose[];
          expect(written.every(({ type }) => types.has(String(type)))).toBe(true);
          expect(asList(merged.conditions).length).toBeLessThanOrEqual(
            Math.max(MAX_CONDITIONS, asList(merged.conditions).length - written.length),
          );
        }
      }),
      options,
    );
  });
});

function fieldOf(key: string): 'conditions' | 'listeners' | 'parents' | 'ancestors' {
  if (key === 'object') return 'conditions';
  return key.startsWith('listener') ? 'listeners' : key.startsWith('parent') ? 'parents' : 'ancestors';
}
