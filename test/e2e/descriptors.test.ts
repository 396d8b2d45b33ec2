/** The limit of open files: workers stop accepting before they reach it, and recover alone (H18). */
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { serving, untilWhole } from './crew.js';
import { freePort, Instance, until } from './instance.js';
import { simpleHttp } from './manifests.js';
import { ask, httpBackend } from './peers.js';
import { cpuMs } from './processes.js';

const LIMIT = 300;
const CLIENTS = 400;
/** Longest time the idle clients are held; a worker that spins uses up all of it. */
const HOLD_MS = 2_000;

const REQUEST = 'GET / HTTP/1.1\r\nHost: any.test\r\n\r\n';

interface Client {
  readonly socket: Socket;
  received: string;
}

function openClients(port: number, count: number): Promise<Client[]> {
  return Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<Client>((resolve, reject) => {
          const client: Client = { socket: connect({ port, host: '127.0.0.1' }), received: '' };
          client.socket.on('data', (chunk: Buffer) => {
            client.received += chunk.toString('latin1');
          });
          client.socket.once('error', reject);
          client.socket.once('connect', () => resolve(client));
        }),
    ),
  );
}

const isServed = ({ received }: Client): boolean => received.startsWith('HTTP/1.1 200 ');

it('at the limit a worker rests; clients that leave make room for those that are queued, without a new SYN', async () => {
  const port = await freePort();
  const upstream = await httpBackend('up');
  const instance = await Instance.start({
    files: { 'edge.yaml': simpleHttp(port, upstream.port) },
    wrapper: ['sh', '-c', `ulimit -n ${LIMIT}; exec "$@"`, 'sh'],
  });
  await untilWhole(instance, 2);
  expect(instance.stderr).toMatch(/"level":"warn".*"limit":300.*each worker stops accepting at about 80 connections/);

  const clients = await openClients(port, CLIENTS);
  const list = async () => (await instance.overview()).workers.list.filter(({ phase }) => phase === 'serving');
  await until('all workers pause', async () => (await list()).every(({ paused }) => paused));
  // 300 less 64 in reserve and 75 for pipes, two for each connection; members of the listening socket count as well.
  const open = async (): Promise<number> => (await list()).reduce((sum, { connections }) => sum + connections, 0);
  await until('their figures are fresh', async () => (await open()) > 140);
  expect(await open()).toBeLessThanOrEqual(2 * 80);

  const pids = (await serving(instance)).map(({ pid }) => pid);
  const before = pids.map(cpuMs);
  const heldUntil = performance.now() + HOLD_MS;
  await until('the time is over', () => performance.now() >= heldUntil);
  const spent = pids.map((pid, i) => cpuMs(pid) - (before[i] ?? 0));
  expect(Math.max(...spent), `ms of CPU in ${HOLD_MS} ms`).toBeLessThanOrEqual(HOLD_MS * 0.05);
  expect((await instance.command('status')).status).toBe(0);
  expect(await instance.metric('weirgate_worker_paused')).toBe(2);
  expect(await instance.metric('weirgate_worker_accept_errors_total'), 'the limit itself was never met').toBe(0);

  // Those that are inside are served, those in the queue are not yet: that tells who is who.
  for (const { socket } of clients) socket.write(REQUEST);
  await until('all that are inside are served', async () => clients.filter(isServed).length >= (await open()));
  const inside = clients.filter(isServed);
  const queued = clients.filter((client) => !isServed(client));
  expect(queued.length).toBeGreaterThan(200);

  for (const { socket } of inside) socket.destroy();
  // There is not room for all of them at once: whoever is served leaves.
  await until(
    'the queue is served',
    () => {
      for (const { socket } of queued.filter(isServed)) socket.destroy();
      return queued.every(isServed);
    },
    5_000,
  );
  const late = performance.now();
  expect((await ask(port)).status).toBe(200);
  expect(performance.now() - late).toBeLessThan(1_000);
  await until('nobody is paused', async () => (await list()).every(({ paused }) => !paused));
  expect(await instance.metric('weirgate_worker_accept_pauses_total')).toBeGreaterThanOrEqual(2);
}, 40_000);
