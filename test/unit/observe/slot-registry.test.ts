/** Names of slots over generations: who owns what a slot has counted. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SLOT_CELLS } from '../../../src/native/layout.gen.js';
import { type RegisteredSlot, type SlotNames, SlotRegistry } from '../../../src/observe/slot-registry.js';

const names = (parts: Partial<SlotNames>): SlotNames => ({ listeners: [], actions: [], endpoints: [], ...parts });
const filled = (value: number): Float64Array => new Float64Array(SLOT_CELLS).fill(value);
const unread = (): never => {
  throw new Error('must not be read');
};
const all = (registry: SlotRegistry): RegisteredSlot[] => [
  ...registry.ofKind('listener'),
  ...registry.ofKind('action'),
  ...registry.ofKind('endpoint'),
];

describe('a slot', () => {
  it.each([
    ['listener', names({ listeners: [{ slot: 4, name: 'default/edge/http' }] }), { listener: 'default/edge/http' }],
    [
      'action',
      names({ actions: [{ slot: 4, name: 'HTTPRoute/default/web/12' }] }),
      { route: 'HTTPRoute/default/web', rule: '12' },
    ],
    [
      'endpoint',
      names({ endpoints: [{ slot: 4, cluster: 'Service/default/web:80', address: '[::1]:9001' }] }),
      { cluster: 'Service/default/web:80', endpoint: '[::1]:9001' },
    ],
  ] as const)('of kind %s has its labels, and its kind only', (kind, given, labels) => {
    const registry = new SlotRegistry();
    registry.update(given, unread);
    expect(all(registry)).toEqual([expect.objectContaining({ kind, slot: 4, labels, base: undefined })]);
    expect(registry.highest).toBe(4);
  });

  it('that keeps its name keeps its base, without being read again', () => {
    const registry = new SlotRegistry();
    registry.update(names({ listeners: [{ slot: 1, name: 'old' }] }), unread);
    registry.update(names({ listeners: [{ slot: 1, name: 'new' }] }), () => filled(5));
    registry.update(names({ listeners: [{ slot: 1, name: 'new' }] }), unread);
    expect(all(registry)[0]?.base).toEqual(filled(5));
  });

  it('that nobody names any more stays, until another one gets it', () => {
    const registry = new SlotRegistry();
    registry.update(names({ actions: [{ slot: 2, name: 'HTTPRoute/a/b/0' }] }), unread);
    registry.update(names({}), unread);
    expect([...registry.ofKind('action')]).toHaveLength(1);
    registry.update(names({ endpoints: [{ slot: 2, cluster: 'c', address: 'a' }] }), () => filled(9));
    expect([...registry.ofKind('action')]).toEqual([]);
    expect([...registry.ofKind('endpoint')][0]?.base).toEqual(filled(9));
  });

  it('remembers its base as it was, though the reader uses its memory again', () => {
    const registry = new SlotRegistry();
    const shared = filled(3);
    registry.update(names({ listeners: [{ slot: 1, name: 'old' }] }), unread);
    registry.update(names({ listeners: [{ slot: 1, name: 'new' }] }), () => shared);
    shared.fill(100);
    expect(all(registry)[0]?.base).toEqual(filled(3));
  });

  it('with the same name in two kinds is two things', () => {
    const registry = new SlotRegistry();
    registry.update(names({ listeners: [{ slot: 1, name: 'a/b' }] }), unread);
    registry.update(names({ actions: [{ slot: 1, name: 'a/b' }] }), () => filled(1));
    expect(all(registry).map(({ kind }) => kind)).toEqual(['action']);
  });
});

it('no counter goes backwards or below nothing while its name keeps its slot, whoever had the slot before', () => {
  const step = fc.oneof(
    fc.record({ count: fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 50 })) }),
    fc.record({ name: fc.uniqueArray(fc.tuple(fc.nat(3), fc.nat(5)), { selector: ([slot]) => slot }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const registry = new SlotRegistry();
      const counted = [0, 0, 0, 0];
      let before = new Map<string, number>();
      for (const each of steps) {
        if ('count' in each) {
          const [slot, by] = each.count;
          counted[slot] = (counted[slot] ?? 0) + by;
        } else {
          const listeners = each.name.map(([slot, name]) => ({ slot, name: `listener-${name}` }));
          registry.update(names({ listeners }), (slot) => filled(counted[slot] ?? 0));
        }
        const now = new Map<string, number>();
        for (const { slot, labels, base } of registry.ofKind('listener')) {
          now.set(`${slot} ${labels.listener}`, (counted[slot] ?? 0) - (base?.[0] ?? 0));
        }
        for (const [key, value] of now) expect(value).toBeGreaterThanOrEqual(before.get(key) ?? 0);
        before = now;
      }
    }),
  );
});
