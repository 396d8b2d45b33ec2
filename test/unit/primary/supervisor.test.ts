/** The restart policy, as a dialogue with time as a number. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Vitals } from '../../../src/primary/supervision.js';
import { backoffMs, Supervisor } from '../../../src/primary/supervisor.js';
import { COLUMNS, Stage } from '../../support/supervisor-stage.js';

function stage(workers: number, sockets = 1): Stage {
  const made = new Stage();
  made.start(workers, sockets);
  made.log.length = 0;
  return made;
}

describe('a start', () => {
  it('brings up the wanted workers, programs, deals all members, and makes one spare', () => {
    const made = new Stage();
    made.start(3, 2);
    expect(made.serving()).toHaveLength(3);
    expect(made.spare()).toBeDefined();
    expect(made.supervisor.settled).toBe(true);
    expect([made.total(0), made.total(1)]).toEqual([16, 16]);
    expect(made.log).toContainEqual({ kind: 'programmed', generation: 1 });
  });

  it('starts the spare last: it must not slow down those that are needed', () => {
    const made = new Stage();
    made.publish();
    made.give({ kind: 'resize', workers: 4 });
    expect(made.log.filter(({ kind }) => kind === 'fork')).toHaveLength(4);
  });

  it('deals nothing before a table is programmed', () => {
    const made = new Stage();
    made.publish();
    made.give({ kind: 'resize', workers: 1 });
    made.deaf.add(1);
    made.settle();
    made.listen(1);
    expect(made.log.some(({ kind }) => kind === 'deal')).toBe(false);
  });
});

describe('a worker that dies', () => {
  it('is replaced by the spare at once: its column, the table, its members', () => {
    const made = stage(2);
    const [victim] = made.serving() as [number];
    const spare = made.spare() as number;
    const column = made.columns.get(victim);
    made.die(victim);
    made.settle();
    const log = made.log.filter((command) => 'worker' in command && command.worker === spare);
    expect(log.map(({ kind }) => kind).slice(0, 3)).toEqual(['assign', 'sendTable', 'deal']);
    expect(made.columns.get(spare)).toBe(column);
    expect(made.total(0)).toBe(16);
    expect(made.spare()).not.toBe(spare);
    expect(made.supervisor.restarts).toBe(1);
  });

  it('has its column zeroed before another one gets it', () => {
    const made = stage(1);
    made.die(made.serving()[0] as number);
    const kinds = made.kinds();
    expect(kinds.indexOf('zeroColumn')).toBeLessThan(kinds.indexOf('assign'));
  });

  it('while there is no spare, has its members lent after 100 ms', () => {
    const made = stage(2);
    made.die(made.spare() as number);
    const [victim, other] = made.serving() as [number, number];
    // The replacement of the spare has not reported yet.
    made.die(victim);
    made.give({ kind: 'tick', vitals: new Map() });
    expect(made.members.get(`${other}/0`)).toBe(8);
    made.now += 100;
    made.give({ kind: 'tick', vitals: new Map() });
    expect(made.members.get(`${other}/0`)).toBe(16);
    made.settle();
    made.pass(1_000);
    expect(made.members.get(`${other}/0`)).toBe(8);
    expect(made.total(0)).toBe(16);
  });

  it('again and again is started again ever later, up to 30 s, and the counting begins anew after a quiet time', () => {
    expect([1, 2, 3, 4, 5, 9, 10, 99].map(backoffMs)).toEqual([0, 200, 400, 800, 1600, 25_600, 30_000, 30_000]);
    const made = stage(1);
    for (let death = 1; death <= 6; death++) {
      const [victim] = made.serving();
      if (victim !== undefined) made.die(victim);
      made.settle();
      made.pass(2_000);
    }
    expect(made.supervisor.deaths).toBe(6);
    made.pass(40_000);
    made.die(made.serving()[0] as number);
    expect(made.supervisor.deaths).toBe(1);
  });

  it('has its members lent, and they stay lent, until its replacement has the table', () => {
    const made = stage(2);
    const [victim, other] = made.serving() as [number, number];
    const spare = made.spare() as number;
    made.pass(200);
    made.stopped.add(spare);
    made.die(victim);
    expect(made.serving()).toContain(spare);
    expect(made.supervisor.settled).toBe(false);
    made.pass(100);
    expect([made.members.get(`${other}/0`), made.members.get(`${spare}/0`)]).toEqual([16, undefined]);
    made.pass(2_000);
    expect(made.members.get(`${other}/0`)).toBe(16);
    made.stopped.delete(spare);
    made.pass(200);
    expect([made.members.get(`${other}/0`), made.members.get(`${spare}/0`)]).toEqual([8, 8]);
    expect(made.supervisor.settled).toBe(true);
  });

  it('while it starts, does not count as serving, and another one is started', () => {
    const made = new Stage();
    made.publish();
    made.give({ kind: 'resize', workers: 1 });
    made.die(1, 'status 1');
    expect(made.log.filter(({ kind }) => kind === 'fork')).toHaveLength(2);
    made.settle();
    expect(made.serving()).toEqual([2]);
  });
});

describe('a worker that falls silent', () => {
  it('for less than a second keeps its members to itself', () => {
    const made = stage(2);
    const [victim] = made.serving() as [number];
    made.pass(1_000);
    made.log.length = 0;
    made.stopped.add(victim);
    made.pass(900);
    made.stopped.delete(victim);
    made.pass(500);
    expect(made.kinds()).toEqual([]);
  });

  it('has its members lent after a second, and gets them back when it is heard again', () => {
    const made = stage(2);
    const [victim, other] = made.serving() as [number, number];
    made.pass(1_000);
    made.stopped.add(victim);
    made.pass(1_200);
    expect(made.members.get(`${other}/0`)).toBe(16);
    expect(made.members.get(`${victim}/0`)).toBe(8);
    made.stopped.delete(victim);
    made.pass(200);
    expect(made.members.get(`${other}/0`)).toBe(8);
    expect(made.supervisor.restarts).toBe(0);
  });

  it('is killed after five seconds, and only its end gives its column away', () => {
    const made = stage(2);
    const [victim] = made.serving() as [number];
    made.pass(1_000);
    made.stopped.add(victim);
    made.pass(5_200);
    const kill = made.log.findIndex(({ kind }) => kind === 'kill');
    expect(made.log[kill]).toEqual({ kind: 'kill', worker: victim });
    expect(made.log.findIndex(({ kind }) => kind === 'zeroColumn')).toBeGreaterThan(kill);
    expect(made.serving()).toHaveLength(2);
    expect(made.total(0)).toBe(16);
  });

  it('leaves its members where they were lent when it ends, though no spare is there', () => {
    const made = stage(2);
    const [victim, other] = made.serving() as [number, number];
    made.pass(200);
    made.slow = true;
    made.die(made.spare() as number);
    made.stopped.add(victim);
    made.pass(4_800);
    expect(made.members.get(`${other}/0`)).toBe(16);
    made.log.length = 0;
    made.pass(1_000);
    const kinds = made.kinds();
    expect(kinds).toContain('zeroColumn');
    expect(kinds).not.toContain('undeal');
    expect(made.members.get(`${other}/0`)).toBe(16);
  });

  it('because the primary itself slept is not judged for that', () => {
    const made = stage(2);
    made.pass(1_000);
    made.log.length = 0;
    made.now += 60_000;
    made.give({
      kind: 'tick',
      vitals: new Map(made.serving().map((id) => [id, { heartbeatMs: made.now - 59_000, paused: false }])),
    });
    made.pass(3_000);
    expect(made.kinds()).toEqual([]);
  });

  it('for want of descriptors lends after 100 ms and takes back when it accepts again', () => {
    const made = stage(2);
    const [victim, other] = made.serving() as [number, number];
    const tick = (paused: boolean): void => {
      made.now += 100;
      const vitals = new Map(
        made.serving().map((id): [number, Vitals] => [id, { heartbeatMs: made.now, paused: paused && id === victim }]),
      );
      made.give({ kind: 'tick', vitals });
    };
    tick(true);
    expect(made.members.get(`${other}/0`)).toBe(8);
    tick(true);
    expect(made.members.get(`${other}/0`)).toBe(16);
    tick(false);
    expect(made.members.get(`${other}/0`)).toBe(8);
  });
});

describe('a table', () => {
  it('is programmed once every living worker has it', () => {
    const made = stage(3);
    made.publish();
    expect(made.log.filter(({ kind }) => kind === 'sendTable')).toHaveLength(3);
    expect(made.log.some(({ kind }) => kind === 'programmed')).toBe(false);
    made.settle();
    expect(made.log.filter(({ kind }) => kind === 'programmed')).toEqual([{ kind: 'programmed', generation: 2 }]);
  });

  it('without an ack for five seconds ends the worker, not the wait of the others', () => {
    const made = stage(2);
    const [victim] = made.serving() as [number];
    made.deaf.add(victim);
    made.publish();
    made.pass(5_200);
    expect(made.log).toContainEqual({ kind: 'kill', worker: victim });
    expect(made.log).toContainEqual({ kind: 'programmed', generation: 2 });
  });

  it('that a worker refuses ends that worker', () => {
    const made = stage(2);
    const [victim] = made.serving() as [number];
    made.deaf.add(victim);
    made.publish();
    made.give({ kind: 'refused', worker: victim, text: 'layout hash' });
    made.settle();
    expect(made.serving()).not.toContain(victim);
    expect(made.log).toContainEqual({ kind: 'programmed', generation: 2 });
  });
});

describe('sockets', () => {
  it('that vanish are closed once nobody reads them', () => {
    const made = stage(2, 2);
    made.listen(1);
    expect(made.log.some(({ kind }) => kind === 'unbind')).toBe(false);
    made.settle();
    expect(made.log).toContainEqual({ kind: 'unbind', socketId: 1 });
    expect(made.total(1)).toBe(0);
    expect(made.supervisor.settled).toBe(true);
  });

  it('that a stuck worker does not let go of are closed all the same after two seconds', () => {
    const made = stage(2, 2);
    made.pass(200);
    made.stopped.add(made.serving()[0] as number);
    made.listen(1);
    made.pass(1_000);
    expect(made.log.some(({ kind }) => kind === 'unbind')).toBe(false);
    made.pass(1_200);
    expect(made.log).toContainEqual({ kind: 'unbind', socketId: 1 });
  });
});

describe('another number of workers', () => {
  it('grows live: the spare first, members dealt anew, connections spread evenly by a filter', () => {
    const made = stage(2);
    const spare = made.spare() as number;
    made.give({ kind: 'resize', workers: 3 });
    made.settle();
    expect(made.serving()).toContain(spare);
    expect(made.serving().map((worker) => made.members.get(`${worker}/0`))).toEqual([6, 5, 5]);
    const steer = made.log.find(({ kind }) => kind === 'steer');
    expect(steer).toMatchObject({ socketId: 0, groups: { length: 3 } });
  });

  it('shrinks live: who leaves lets go, drains, and is told to end', () => {
    const made = stage(4);
    made.give({ kind: 'resize', workers: 1 });
    made.settle();
    made.pass(200);
    expect(made.serving()).toHaveLength(1);
    expect(made.total(0)).toBe(16);
    expect(made.log.filter(({ kind }) => kind === 'drain')).toHaveLength(3);
    expect(made.supervisor.restarts).toBe(0);
    expect(made.log.some(({ kind }) => kind === 'note')).toBe(false);
  });

  it('that is smaller while more still start ends those that nobody needs, without counting them as deaths', () => {
    const made = stage(1);
    made.slow = true;
    made.give({ kind: 'resize', workers: 4 });
    made.give({ kind: 'resize', workers: 1 });
    made.slow = false;
    made.stopped.clear();
    made.pass(200);
    expect(made.serving()).toHaveLength(1);
    expect(made.spare()).toBeDefined();
    expect(made.living.size).toBe(2);
    expect([made.supervisor.deaths, made.supervisor.restarts]).toEqual([0, 0]);
  });

  it('that is smaller while a surplus one hangs in its start kills that after the time of a start', () => {
    const made = stage(1);
    made.slow = true;
    made.give({ kind: 'resize', workers: 4 });
    made.give({ kind: 'resize', workers: 1 });
    made.slow = false;
    made.pass(40_000);
    expect(made.living.size).toBe(2);
  });

  it('takes a filter away though the socket was given up for a moment meanwhile', () => {
    const made = stage(2);
    made.give({ kind: 'resize', workers: 3 });
    made.settle();
    expect(made.log.some(({ kind }) => kind === 'steer')).toBe(true);
    made.stopped.add(made.serving()[0] as number);
    made.listen(0);
    made.give({ kind: 'resize', workers: 4 });
    made.log.length = 0;
    made.listen(1);
    expect(made.log.find(({ kind }) => kind === 'unbind')).toBeUndefined();
    expect(made.log.find(({ kind }) => kind === 'steer')).toMatchObject({ socketId: 0, groups: { length: 4 } });
  });

  it('that divides the members needs no filter unless there was one', () => {
    const made = stage(2);
    made.give({ kind: 'resize', workers: 4 });
    made.settle();
    expect(made.log.some(({ kind }) => kind === 'steer')).toBe(true);
    const fresh = new Stage();
    fresh.start(4);
    expect(fresh.log.some(({ kind }) => kind === 'steer')).toBe(false);
  });
});

describe('a stop', () => {
  it('takes nothing new, closes the sockets, drains, and says when the last one has ended', () => {
    const made = stage(2);
    made.give({ kind: 'stop', limitMs: 30_000 });
    const kinds = made.log.map(({ kind }) => kind);
    expect(kinds.indexOf('undeal')).toBeLessThan(kinds.indexOf('drain'));
    made.settle();
    made.pass(100);
    expect(made.living.size).toBe(0);
    expect(made.kinds()).toContain('stopped');
    expect(made.supervisor.restarts).toBe(0);
  });

  it('kills who has not ended five seconds after the drain limit', () => {
    const made = stage(1);
    made.pass(200);
    made.stopped.add(made.serving()[0] as number);
    made.give({ kind: 'stop', limitMs: 2_000 });
    made.pass(6_000);
    expect(made.living.size).toBe(1);
    made.pass(1_500);
    expect(made.living.size).toBe(0);
  });

  it('told twice is over at once', () => {
    const made = stage(3);
    made.stopped.add(made.serving()[0] as number);
    made.give({ kind: 'stop', limitMs: 30_000 });
    made.give({ kind: 'stopNow' });
    made.settle();
    expect(made.living.size).toBe(0);
    expect(made.kinds()).toContain('stopped');
  });

  it('before anything was started is over at once', () => {
    expect(new Supervisor(COLUMNS).handle({ kind: 'stop', limitMs: 1 }, 0)).toContainEqual({ kind: 'stopped' });
  });
});

it('whatever happens: no column is shared, each member has one reader that runs, and all serves after a quiet time', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('die' as const), which: fc.nat(7) }),
    fc.record({ do: fc.constant('stop' as const), which: fc.nat(7) }),
    fc.record({ do: fc.constant('continue' as const), which: fc.nat(7) }),
    fc.record({ do: fc.constant('pass' as const), which: fc.integer({ min: 1, max: 80 }) }),
    fc.record({ do: fc.constant('resize' as const), which: fc.integer({ min: 1, max: 6 }) }),
    fc.record({ do: fc.constant('publish' as const), which: fc.constant(0) }),
    fc.record({ do: fc.constant('listen' as const), which: fc.integer({ min: 0, max: 3 }) }),
    fc.record({ do: fc.constant('slow' as const), which: fc.nat(1) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
      const made = new Stage();
      made.start(2);
      let wanted = 2;
      let sockets = 1;
      for (const { do: what, which } of steps) {
        const worker = [...made.living][which % Math.max(1, made.living.size)];
        if (what === 'die' && worker !== undefined) made.die(worker);
        else if (what === 'stop' && worker !== undefined) made.stopped.add(worker);
        else if (what === 'continue' && worker !== undefined) made.stopped.delete(worker);
        else if (what === 'pass') made.pass(which * 100);
        else if (what === 'publish') made.publish();
        else if (what === 'slow') made.slow = which === 1;
        else if (what === 'resize') {
          wanted = which;
          made.give({ kind: 'resize', workers: which });
        } else if (what === 'listen') {
          sockets = which;
          made.listen(which);
        }
        made.settle();
        if (what !== 'pass' || which < 13 || !made.serving().some((id) => !made.stopped.has(id))) continue;
        // Whoever is silent has been so for a second: each member has one reader among those that run.
        for (let id = 0; id < sockets; id++) {
          for (let member = 0; member < 16; member++) expect(made.readers(id, member)).toHaveLength(1);
        }
      }
      made.slow = false;
      made.stopped.clear();
      // The longest wait before a start, a start that hangs, and a drain, one after the other.
      made.pass(130_000);
      expect(made.serving()).toHaveLength(wanted);
      expect(made.spare()).toBeDefined();
      expect(made.living.size).toBe(wanted + 1);
      expect(made.supervisor.settled).toBe(true);
      for (let id = 0; id < 4; id++) expect(made.total(id)).toBe(id < sockets ? 16 : 0);
    }),
    { numRuns: 200 },
  );
}, 60_000);
