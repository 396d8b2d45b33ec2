/**
 * A worker that stands still (SIGSTOP, a page fault on a dead disk, a debugger) under load: its members are lent after
 * 1 s and taken back when it goes on; after 5 s it is replaced. No connection is served twice, none outside it is lost.
 */
import { describe, expect, it } from 'vitest';
import { Load } from '../support/load.js';
import { serving, standStill, untilWhole } from './crew.js';
import { freePort, Instance, until } from './instance.js';
import { simpleHttp } from './manifests.js';
import { clientPorts, isAlive } from './processes.js';
import { CounterWatch, numberedBackend, underWay } from './traffic.js';

/** Waits until so much time has passed since the worker's last sign of life. */
const untilSilent = (instance: Instance, pid: number, ms: number): Promise<void> =>
  until(`the worker is silent for ${ms} ms`, async () => {
    const worker = (await instance.overview()).workers.list.find((each) => each.pid === pid);
    return worker === undefined || worker.heartbeatAgeMs >= ms;
  });

describe('a worker that stands still under load', () => {
  it.each([
    ['0.9 s', { ms: 900, lent: false, dies: false }],
    ['1.1 s', { ms: 1_100, lent: false, dies: false }],
    ['2.5 s, its members lent', { ms: 2_500, lent: true, dies: false }],
    ['6 s, after which it is replaced', { ms: 6_000, lent: true, dies: true }],
  ])(
    'for %s: loses nothing outside and serves nothing twice',
    async (_, { ms, lent, dies }) => {
      const port = await freePort();
      const upstream = await numberedBackend('up');
      const instance = await Instance.start({ files: { 'edge.yaml': simpleHttp(port, upstream.port) } });
      await untilWhole(instance, 2);
      const counters = CounterWatch.start(instance);
      const load = Load.start({ port, clients: 24, keepAlive: false });
      const kept = Load.start({ port, clients: 8, keepAlive: true });
      await until('the load is under way', () => load.answered > 200);
      const pid = (await serving(instance))[0]?.pid ?? 0;
      await standStill(pid);
      const stoppedAt = performance.now();
      const inside = clientPorts(pid, port);
      const isLent = (): boolean => instance.stderr.includes('its listening sockets are lent');
      if (lent) {
        await until('its members are lent', isLent);
        // What queued on its members meanwhile kept all clients waiting: now they go on, but those inside.
        const { answered } = load;
        await until('the load goes on without it', () => load.answered > answered + 200);
      }
      if (dies) await until('it has been killed', () => !isAlive(pid));
      else await untilSilent(instance, pid, ms);
      expect(performance.now() - stoppedAt).toBeGreaterThan(Math.min(ms, 4_500) - 250);
      if (isAlive(pid)) process.kill(pid, 'SIGCONT');
      if (dies) await untilWhole(instance, 2, [pid]);
      else if (isLent()) await until('it is back', () => instance.stderr.includes('worker is back'));

      const { answered } = load;
      await until('the load goes on with all', () => load.answered > answered + 200);
      await Promise.all([load.stop(), kept.stop()]);
      await counters.stop();
      const failures = [...load.failures, ...kept.failures];
      expect(failures.filter((failure) => !dies || !inside.has(failure.port))).toEqual([]);
      expect(new Set(upstream.numbers).size, 'no request was sent twice').toBe(upstream.numbers.length);
      expect(counters.backwards).toEqual([]);
      expect((await serving(instance)).some((worker) => worker.pid === pid)).toBe(!dies);
      expect((await instance.overview()).workers.restarts).toBe(dies ? 1 : 0);
      await until('nothing is under way', async () => (await underWay(instance)) === 0);
      // All members have one reader again: both workers get connections.
      const accepts = async (): Promise<number[]> =>
        (await instance.overview()).workers.list.filter(({ phase }) => phase === 'serving').map((each) => each.accepts);
      const before = await accepts();
      const more = Load.start({ port, clients: 8, keepAlive: false, requests: 200 });
      await more.finished();
      expect(more.failures).toEqual([]);
      const shares = (await accepts()).map((count, i) => count - (before[i] ?? 0));
      expect(
        shares.every((share) => share > 50),
        `accepted ${shares.join(' and ')} of 200`,
      ).toBe(true);
    },
    40_000,
  );
});
