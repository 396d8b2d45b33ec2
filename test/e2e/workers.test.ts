/**
 * Each worker gets its share of new connections, whatever their number and also after it has changed.
 *
 * The kernel draws a member at random for each connection, so a share is binomial: of N connections over w workers each
 * gets N/w with a relative deviation of sqrt((w−1)/N). N is chosen so that 5 % are five of these: one false alarm in
 * 1.7 million shares.
 */
import { describe, expect, it } from 'vitest';
import { Load } from '../support/load.js';
import { openAndReset } from '../support/storm.js';
import { untilWhole } from './crew.js';
import { freePort, Instance, until } from './instance.js';
import { backend, backendRef, config, gateway, gatewayClass, httpListener, httpRoute, yaml } from './manifests.js';
import { residentMiB } from './processes.js';
import { numberedBackend, underWay } from './traffic.js';

const TOLERANCE = 0.05;
const DEVIATIONS = 5;

const connectionsFor = (workers: number): number => Math.ceil((workers - 1) * (DEVIATIONS / TOLERANCE) ** 2);

const files = (port: number, upstream: number, workers: number): string =>
  yaml(
    gatewayClass('settings'),
    config('settings', { workers }),
    gateway('edge', [httpListener(port)]),
    httpRoute('all', { rules: [{ backendRefs: [backendRef('pool')] }] }),
    backend('pool', upstream),
  );

/** Accepted connections by process id, of the workers that serve. */
async function accepts(instance: Instance): Promise<Map<number, number>> {
  const { list } = (await instance.overview()).workers;
  return new Map(list.filter(({ phase }) => phase === 'serving').map((worker) => [worker.pid, worker.accepts]));
}

/** Opens connections and holds what each worker got against its fair share. */
async function judgeShares(instance: Instance, port: number, workers: number): Promise<void> {
  const connections = connectionsFor(workers);
  const before = await accepts(instance);
  expect(before.size).toBe(workers);
  await openAndReset(port, connections);
  let shares: number[] = [];
  await until('every connection is accepted, once', async () => {
    shares = [...(await accepts(instance))].map(([pid, count]) => count - (before.get(pid) ?? 0));
    return shares.reduce((sum, share) => sum + share, 0) === connections;
  });
  const fair = connections / workers;
  const worst = Math.max(...shares.map((share) => Math.abs(share / fair - 1)));
  console.log(`${workers} workers, ${connections} connections: worst deviation ${(worst * 100).toFixed(2)} %`);
  expect(worst, `shares ${shares.join(', ')}, fair ${fair}`).toBeLessThanOrEqual(TOLERANCE);
}

async function resize(instance: Instance, port: number, upstream: number, workers: number): Promise<void> {
  instance.write('edge.yaml', files(port, upstream, workers));
  expect((await instance.reload()).status).toBe(0);
  await untilWhole(instance, workers);
  await until('those that left have ended', () => instance.workerPids().length === workers + 1);
}

describe('the share of each worker', () => {
  // 12 → 5 leaves 24 members for 5 workers: the kernel is given a program that draws the worker first.
  it.each([
    [3, 6],
    [12, 5],
  ])(
    'is within a twentieth with %i workers, and with %i after a reload',
    async (first, second) => {
      const port = await freePort();
      const instance = await Instance.start({ files: { 'edge.yaml': files(port, 9, first) }, workers: 'configured' });
      await untilWhole(instance, first);
      await judgeShares(instance, port, first);
      await resize(instance, port, 9, second);
      await judgeShares(instance, port, second);
    },
    60_000,
  );
});

describe('a change of the number of workers', () => {
  it('loses no connection: 2 → 4 → 2 under load (H11)', async () => {
    const port = await freePort();
    const upstream = await numberedBackend('up');
    const instance = await Instance.start({
      files: { 'edge.yaml': files(port, upstream.port, 2) },
      workers: 'configured',
    });
    const loads = [
      Load.start({ port, clients: 16, keepAlive: false }),
      Load.start({ port, clients: 8, keepAlive: true }),
    ];
    for (const workers of [4, 2]) {
      const { answered } = loads[0] as Load;
      await until('the load is under way', () => (loads[0] as Load).answered > answered + 100);
      await resize(instance, port, upstream.port, workers);
    }
    for (const load of loads) await load.stop();
    expect(loads.flatMap((load) => load.failures)).toEqual([]);
    expect(new Set(upstream.numbers).size, 'no request was sent twice').toBe(upstream.numbers.length);
    expect((await instance.overview()).workers.restarts).toBe(0);
    await until('nothing is under way', async () => (await underWay(instance)) === 0);
  }, 40_000);
});

describe('the memory of a worker', () => {
  it('stays below 60 MiB while it is idle', async () => {
    const port = await freePort();
    const instance = await Instance.start({ files: { 'edge.yaml': files(port, 9, 2) }, workers: 'configured' });
    await untilWhole(instance, 2);
    const sizes = instance.workerPids().map(residentMiB);
    console.log(`resident: ${sizes.map((size) => size.toFixed(1)).join(', ')} MiB`);
    expect(sizes).toHaveLength(3);
    expect(Math.max(...sizes)).toBeLessThan(60);
  });
});
