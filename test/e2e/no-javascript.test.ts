/** Traffic is the native loop's alone: JavaScript of a worker sleeps, and no JavaScript listens for clients. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Load } from '../support/load.js';
import { serving, untilWhole } from './crew.js';
import { freePort, Instance } from './instance.js';
import { simpleHttp } from './manifests.js';
import { descriptors, socketInodes, threads } from './processes.js';
import { numberedBackend } from './traffic.js';

const REQUESTS = 10_000;
/** Threads of the native engine. */
const NATIVE = /^weirgate-/;

it(`no JavaScript of a worker runs during ${REQUESTS} requests`, async () => {
  const port = await freePort();
  const upstream = await numberedBackend('up');
  const instance = await Instance.start({ files: { 'edge.yaml': simpleHttp(port, upstream.port) } });
  await untilWhole(instance, 2);
  const warmUp = Load.start({ port, clients: 16, keepAlive: true, requests: 500 });
  await warmUp.finished();
  const pids = (await serving(instance)).map(({ pid }) => pid);
  const before = pids.map(threads);
  const loads = [
    Load.start({ port, clients: 16, keepAlive: true, requests: REQUESTS / 2 }),
    Load.start({ port, clients: 16, keepAlive: false, requests: REQUESTS / 2 }),
  ];
  for (const load of loads) {
    await load.finished();
    expect(load.failures).toEqual([]);
    expect(load.answered).toBeGreaterThanOrEqual(REQUESTS / 2);
  }
  const after = pids.map(threads);
  for (const [i, pid] of pids.entries()) {
    const others = (list: ReturnType<typeof threads> | undefined) => list?.filter(({ name }) => !NATIVE.test(name));
    expect(others(after[i]), `threads of worker ${pid}`).toEqual(others(before[i]));
    // The main thread is among them, and the loop did run.
    expect(others(after[i])?.some(({ tid }) => tid === pid)).toBe(true);
    const loop = (list: ReturnType<typeof threads> | undefined) => list?.find(({ name }) => name === 'weirgate-loop');
    expect(loop(after[i])?.slices).toBeGreaterThan(loop(before[i])?.slices ?? Number.POSITIVE_INFINITY);
  }
});

it('the primary reads no client: it has no listening socket in an event loop but the admin socket', async () => {
  const port = await freePort();
  const upstream = await numberedBackend('up');
  const instance = await Instance.start({ files: { 'edge.yaml': simpleHttp(port, upstream.port) } });
  await untilWhole(instance, 2);
  const inodes = socketInodes(instance.pid);
  const polls = [...descriptors(instance.pid)]
    .filter(([, target]) => target === 'anon_inode:[eventpoll]')
    .map(([fd]) => fd);
  const listening = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === '0A' && Number.parseInt(local?.slice(-4) ?? '', 16) === port)
    .map((fields) => inodes.get(fields[9] ?? ''));
  expect(listening, 'the members of the listener').toHaveLength(16);
  expect(listening).not.toContain(undefined);
  const watched = new Set(
    polls.flatMap((fd) =>
      [...readFileSync(`/proc/${instance.pid}/fdinfo/${fd}`, 'utf8').matchAll(/^tfd:\s+(\d+)/gm)].map((m) =>
        Number(m[1]),
      ),
    ),
  );
  expect(polls.length).toBeGreaterThan(0);
  expect(watched.size).toBeGreaterThan(0);
  expect(listening.filter((fd) => watched.has(fd ?? -1))).toEqual([]);
});
