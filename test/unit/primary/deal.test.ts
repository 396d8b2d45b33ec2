/** How members of listening sockets are dealt. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  Deal,
  type DealCommand,
  type DealtSocket,
  isUneven,
  type Place,
  placeMembers,
  shardCount,
} from '../../../src/primary/deal.js';

const SOCKET: DealtSocket = { id: 5, shards: 16 };
const holder = (worker: number, silent = false): Place => ({ worker, silent });
const empty = (lend: boolean): Place => ({ worker: undefined, lend });

/** Who reads which members, as workers would have it after these commands. */
class Readers {
  readonly #held = new Map<string, number>();

  apply(commands: readonly DealCommand[]): void {
    for (const command of commands) {
      const keys =
        command.kind === 'undeal' && command.members.length === 0
          ? [...this.#held.keys()].filter((key) => key.startsWith(`${command.worker}/${command.socketId}/`))
          : command.members.map((member) => `${command.worker}/${command.socketId}/${member}`);
      for (const key of keys) {
        if (command.kind === 'deal') {
          expect(this.#held.has(key), `dealt twice: ${key}`).toBe(false);
          this.#held.set(key, 1);
        } else {
          expect(this.#held.delete(key), `taken but never dealt: ${key}`).toBe(true);
        }
      }
    }
  }

  of(socketId: number, member: number): number[] {
    return [...this.#held.keys()]
      .map((key) => key.split('/').map(Number))
      .filter(([, socket, number]) => socket === socketId && number === member)
      .map(([worker]) => worker as number)
      .sort((a, b) => a - b);
  }

  count(worker: number, socketId: number): number {
    return [...this.#held.keys()].filter((key) => key.startsWith(`${worker}/${socketId}/`)).length;
  }

  /** The process has ended. */
  bury(worker: number): void {
    for (const key of [...this.#held.keys()]) if (key.startsWith(`${worker}/`)) this.#held.delete(key);
  }
}

describe('the size of a group', () => {
  it.each([
    [1, 16],
    [2, 16],
    [3, 18],
    [5, 20],
    [6, 18],
    [12, 24],
    [16, 16],
    [17, 17],
    [64, 64],
  ])('for %i workers is %i: the smallest multiple that is at least 16', (workers, shards) => {
    expect(shardCount(workers)).toBe(shards);
  });

  it('is even for the workers it was made for and uneven for most others', () => {
    expect(isUneven(24, 12)).toBe(false);
    expect(isUneven(24, 5)).toBe(true);
    expect(placeMembers(24, 5).map((group) => group.length)).toEqual([5, 5, 5, 5, 4]);
  });
});

describe('dealing', () => {
  it('gives each worker the same number of members, none to two', () => {
    const deal = new Deal();
    const commands = deal.plan([SOCKET], [holder(1), holder(2)]);
    expect(commands.map(({ kind, worker, members }) => [kind, worker, members.length])).toEqual([
      ['deal', 1, 8],
      ['deal', 2, 8],
    ]);
    expect(new Set(commands.flatMap(({ members }) => members)).size).toBe(16);
  });

  it('says nothing when nothing has changed', () => {
    const deal = new Deal();
    deal.plan([SOCKET], [holder(1), holder(2, true)]);
    expect(deal.plan([SOCKET], [holder(1), holder(2, true)])).toEqual([]);
  });

  it('lends a silent worker’s members, leaves them with it as well, and takes them back once it is heard again', () => {
    const deal = new Deal();
    const readers = new Readers();
    readers.apply(deal.plan([SOCKET], [holder(1), holder(2), holder(3)]));
    const lent = deal.plan([SOCKET], [holder(1), holder(2, true), holder(3)]);
    expect(lent.every((command) => command.kind === 'deal' && command.lent)).toBe(true);
    readers.apply(lent);
    expect(readers.of(5, 1)).toContain(2);
    expect(readers.of(5, 1)).toHaveLength(2);
    const back = deal.plan([SOCKET], [holder(1), holder(2), holder(3)]);
    expect(back.every((command) => command.kind === 'undeal' && !command.drain)).toBe(true);
    readers.apply(back);
    expect(readers.of(5, 1)).toEqual([2]);
  });

  it('spreads what is lent over all who are heard', () => {
    const deal = new Deal();
    const readers = new Readers();
    readers.apply(deal.plan([SOCKET], [holder(1), empty(true), holder(3), empty(true)]));
    expect([readers.count(1, 5), readers.count(3, 5)]).toEqual([8, 8]);
  });

  it('does not pass lent members around when another worker falls silent', () => {
    const deal = new Deal();
    const readers = new Readers();
    readers.apply(deal.plan([SOCKET], [holder(1), empty(true), holder(3), holder(4)]));
    const before = [1, 5, 9, 13].map((member) => readers.of(5, member));
    readers.apply(deal.plan([SOCKET], [holder(1), empty(true), holder(3), holder(4), holder(5)].slice(0, 4)));
    expect([1, 5, 9, 13].map((member) => readers.of(5, member))).toEqual(before);
  });

  it('lets a queue wait for the short time in which a spare takes over', () => {
    const deal = new Deal();
    deal.plan([SOCKET], [holder(1), holder(2)]);
    deal.forget(2);
    expect(deal.plan([SOCKET], [holder(1), empty(false)])).toEqual([]);
  });

  it('takes a socket that vanished from everyone, its queue first', () => {
    const deal = new Deal();
    deal.plan([SOCKET], [holder(1), holder(2)]);
    expect(deal.plan([], [holder(1), holder(2)])).toEqual([
      { kind: 'undeal', worker: 1, socketId: 5, members: [], drain: true },
      { kind: 'undeal', worker: 2, socketId: 5, members: [], drain: true },
    ]);
  });

  it('deals before it takes, so that no member is without a reader in between', () => {
    const deal = new Deal();
    deal.plan([SOCKET], [holder(1), holder(2)]);
    const kinds = deal.plan([SOCKET], [holder(1), holder(2), holder(3)]).map(({ kind }) => kind);
    expect(kinds.lastIndexOf('deal')).toBeLessThan(kinds.indexOf('undeal'));
  });

  it('has a reader for every member as long as anyone is heard, and one owner only, whatever happens', () => {
    const place = fc.oneof(
      fc.record({ worker: fc.integer({ min: 1, max: 6 }), silent: fc.boolean() }),
      fc.constant({ worker: undefined, lend: true } as const),
    );
    const places = fc.uniqueArray(place, {
      minLength: 1,
      maxLength: 6,
      comparator: (a, b) => a.worker !== undefined && a.worker === b.worker,
    });
    const sockets = fc.uniqueArray(fc.record({ id: fc.integer({ min: 1, max: 3 }), shards: fc.constant(16) }), {
      selector: ({ id }) => id,
    });
    const script = fc.array(fc.tuple(sockets, places, fc.option(fc.integer({ min: 1, max: 6 }))), { maxLength: 20 });
    fc.assert(
      fc.property(script, (steps) => {
        const deal = new Deal();
        const readers = new Readers();
        for (const [wanted, seats, dead] of steps) {
          if (dead !== null) {
            deal.forget(dead);
            readers.bury(dead);
          }
          readers.apply(deal.plan(wanted, seats));
          const heard = seats.filter((seat) => seat.worker !== undefined && !seat.silent);
          for (const { id, shards } of wanted) {
            for (let member = 0; member < shards; member++) {
              const reading = readers.of(id, member);
              expect(reading.length).toBeLessThanOrEqual(2);
              const listening = reading.filter((worker) => heard.some((seat) => seat.worker === worker));
              expect(listening).toHaveLength(heard.length > 0 ? 1 : 0);
            }
          }
        }
      }),
    );
  });
});
