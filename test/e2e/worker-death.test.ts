/** The death of a worker costs the requests inside it and nothing else: not what is queued, not a counter, not a member. */
import { describe, expect, it } from 'vitest';
import { Load } from '../support/load.js';
import { killWorker, type Serving, serving, standStill, untilWhole } from './crew.js';
import { freePort, Instance, until } from './instance.js';
import {
  backend,
  backendRef,
  type Doc,
  gateway,
  gatewayClass,
  httpListener,
  httpRoute,
  simpleHttp,
  yaml,
} from './manifests.js';
import { ask, httpBackend } from './peers.js';
import { isAlive } from './processes.js';
import { CounterWatch, numberedBackend, underWay } from './traffic.js';

describe('kill -9 of a worker', () => {
  it('fails only requests inside it, on kept connections and on new ones, four times in a row (H11)', async () => {
    const port = await freePort();
    const upstream = await numberedBackend('up');
    const instance = await Instance.start({ files: { 'edge.yaml': simpleHttp(port, upstream.port) } });
    const counters = CounterWatch.start(instance);
    const loads = [
      Load.start({ port, clients: 16, keepAlive: true }),
      Load.start({ port, clients: 16, keepAlive: false }),
    ];
    const killed: number[] = [];
    const inside: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      const answered = loads.map((load) => load.answered);
      await until('the loads are under way', () => loads.every((load, i) => load.answered > (answered[i] ?? 0) + 50));
      const victim = (await serving(instance))[round % 2] as Serving;
      inside.push(...(await killWorker(victim.pid, port)));
      killed.push(victim.pid);
      await untilWhole(instance, 2, killed);
    }
    for (const load of loads) await load.stop();
    await counters.stop();
    const failures = loads.flatMap((load) => load.failures);
    const allowed = new Set(inside);
    expect(failures.filter((failure) => !allowed.has(failure.port))).toEqual([]);
    expect(failures.length).toBeLessThanOrEqual(inside.length);
    expect(new Set(upstream.numbers).size, 'no request was sent twice').toBe(upstream.numbers.length);
    expect(counters.samples).toBeGreaterThan(20);
    expect(counters.backwards).toEqual([]);
    expect(await instance.metric('weirgate_worker_restarts_total')).toBe(4);
    await until('nothing is under way', async () => (await underWay(instance)) === 0);
  }, 40_000);

  it('loses nothing that is queued on its listening sockets: the spare takes it over', async () => {
    const port = await freePort();
    const upstream = await numberedBackend('up');
    const instance = await Instance.start({ files: { 'edge.yaml': simpleHttp(port, upstream.port) } });
    await untilWhole(instance, 2);
    const [victim] = await serving(instance);
    const { pid } = victim as Serving;
    await standStill(pid);
    const load = Load.start({ port, clients: 64, keepAlive: false, requests: 64 });
    // What the other worker gets it answers; the rest stays queued on members of the stopped one.
    await until('the queue is filled', () => load.asked === 64 && load.answered > 0);
    process.kill(pid, 'SIGKILL');
    await load.finished();
    expect(load.failures).toEqual([]);
    expect(load.answered).toBe(64);
    expect(new Set(upstream.numbers).size).toBe(64);
    await untilWhole(instance, 2, [pid]);
  });

  it('takes no counter back while a route is removed and added', async () => {
    const port = await freePort();
    const upstream = await numberedBackend('up');
    const files = (routes: readonly string[]): string =>
      yaml(
        gatewayClass(),
        gateway('edge', [httpListener(port)]),
        backend('pool', upstream.port),
        ...routes.map(
          (name): Doc =>
            httpRoute(name, { hostnames: [`${name}.test`], rules: [{ backendRefs: [backendRef('pool')] }] }),
        ),
      );
    const instance = await Instance.start({ files: { 'edge.yaml': files(['stays', 'flickers']) } });
    const counters = CounterWatch.start(instance);
    const inside = new Set<number>();
    const killed: number[] = [];
    const stays = Load.start({ port, clients: 8, keepAlive: true, host: 'stays.test' });
    for (let round = 0; round < 4; round += 1) {
      const flickers = Load.start({ port, clients: 8, keepAlive: false, host: 'flickers.test' });
      await until('both routes are asked', () => flickers.answered > 30);
      const [victim] = await serving(instance);
      const { pid } = victim as Serving;
      for (const client of await killWorker(pid, port)) inside.add(client);
      killed.push(pid);
      instance.write('edge.yaml', files(['stays']));
      expect((await instance.reload()).status).toBe(0);
      await flickers.stop();
      // While it is away its requests get 404, which is no loss.
      const lost = flickers.failures.filter(({ why, port }) => !why.startsWith('status 404') && !inside.has(port));
      expect(lost).toEqual([]);
      instance.write('edge.yaml', files(['stays', 'flickers']));
      expect((await instance.reload()).status).toBe(0);
      await untilWhole(instance, 2, killed);
    }
    await stays.stop();
    await counters.stop();
    expect(stays.failures.filter((failure) => !inside.has(failure.port))).toEqual([]);
    expect(counters.backwards).toEqual([]);
    const counted = await instance.metric('weirgate_route_requests_total', { route: 'HTTPRoute/default/stays' });
    expect(counted).toBeGreaterThanOrEqual(stays.answered);
    await until('nothing is under way', async () => (await underWay(instance)) === 0);
  }, 40_000);
});

describe('workers that keep dying', () => {
  it('are started ever later, while the others serve', async () => {
    const port = await freePort();
    const upstream = await httpBackend('up');
    const instance = await Instance.start({ files: { 'edge.yaml': simpleHttp(port, upstream.port) } });
    await untilWhole(instance, 2);
    const [survivor] = await serving(instance);
    const { pid: kept } = survivor as Serving;
    const started = performance.now();
    const pids = new Set<number>();
    let asked = 0;
    while (!instance.stderr.includes('"nextStartMs":3200')) {
      for (const pid of instance.workerPids().filter((each) => each !== kept && isAlive(each))) {
        pids.add(pid);
        process.kill(pid, 'SIGKILL');
        await until('it is dead', () => !isAlive(pid));
      }
      // Nobody else is alive now: also what is queued for dead workers is served by the one that is left.
      expect((await ask(port)).status).toBe(200);
      asked += 1;
      expect(performance.now() - started).toBeLessThan(20_000);
    }
    // Worker and spare, and what was started before the spare's death; then starts after 0.4, 0.8 and 1.6 s.
    expect(performance.now() - started).toBeGreaterThan(2_700);
    expect(pids.size).toBeLessThanOrEqual(7);
    expect(asked).toBeGreaterThan(10);
    await untilWhole(instance, 2, [...pids]);
    expect(instance.exit).toBeUndefined();
  }, 40_000);
});
