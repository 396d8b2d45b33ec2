/** Starts that are refused, or served in part: a second instance, a port of somebody else, a port without the right. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { freePort, Instance, type InstanceOptions, type StatusObject, until } from './instance.js';
import { backend, backendRef, gateway, gatewayClass, httpListener, httpRoute, simpleHttp, yaml } from './manifests.js';
import { ask, httpBackend } from './peers.js';
import { commandsWith, isAlive } from './processes.js';

/** Starts an instance that must not come up, and returns its standard error. */
async function refused(options: InstanceOptions): Promise<string> {
  const instance = Instance.launch(options);
  await until('the start is refused', () => instance.exit !== undefined, 20_000);
  expect(instance.exit).toEqual({ code: 1, signal: null });
  expect(instance.stdout).toBe('');
  // Whatever it had started is gone with it.
  expect([...commandsWith(instance.folder)]).toEqual([]);
  return instance.stderr;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

function condition(items: readonly StatusObject[], listener: string, type: string): Condition | undefined {
  const listeners = items.find(({ kind }) => kind === 'Gateway')?.status?.listeners as
    | readonly { readonly name: string; readonly conditions: readonly Condition[] }[]
    | undefined;
  return listeners?.find(({ name }) => name === listener)?.conditions.find((each) => each.type === type);
}

const twoListeners = (first: number, second: number, upstream: number): string =>
  yaml(
    gatewayClass(),
    gateway('edge', [httpListener(first, 'first'), httpListener(second, 'second')]),
    httpRoute('all', { rules: [{ backendRefs: [backendRef('pool')] }] }),
    backend('pool', upstream),
  );

describe('a second instance', () => {
  it('on the same state folder is refused with the pid of the first', async () => {
    const [port, other] = [await freePort(), await freePort()];
    const first = await Instance.start({ files: { 'edge.yaml': simpleHttp(port, 9) } });
    const stderr = await refused({
      files: { 'edge.yaml': simpleHttp(other, 9) },
      args: ['--state', `${first.folder}/state`],
    });
    expect(stderr).toContain(`another instance (pid ${first.pid}) uses the state folder ${first.folder}/state`);
    expect(first.exit).toBeUndefined();
  });

  it('on the same admin socket is refused with the pid of the first', async () => {
    const [port, other] = [await freePort(), await freePort()];
    const first = await Instance.start({ files: { 'edge.yaml': simpleHttp(port, 9) } });
    const stderr = await refused({ files: { 'edge.yaml': simpleHttp(other, 9) }, args: ['--admin', first.admin] });
    expect(stderr).toContain(`belongs to the instance with pid ${first.pid}`);
    expect((await first.command('status')).status, 'the first one still answers there').toBe(0);
  });

  it('on the same address is refused with the pid of the first, and takes no connection', async () => {
    const port = await freePort();
    const upstream = await httpBackend('up');
    const first = await Instance.start({ files: { 'edge.yaml': simpleHttp(port, upstream.port) } });
    const stderr = await refused({ files: { 'edge.yaml': simpleHttp(port, 9) } });
    expect(stderr).toMatch(new RegExp(`127\\.0\\.0\\.1:${port} is in use by pid ${first.pid} \\(`));
    for (let i = 0; i < 50; i += 1) expect((await ask(port)).status).toBe(200);
  });
});

describe('a port', () => {
  it('of another process is PortUnavailable and names it; the rest serves, and the port once it is free', async () => {
    // The taken one comes first in every list: what comes behind it must not slip into its place.
    const [taken = 0, free = 0] = [await freePort(), await freePort()].sort();
    const foreign = createServer();
    await new Promise<void>((resolve) => foreign.listen(taken, '127.0.0.1', resolve));
    try {
      const upstream = await httpBackend('up');
      const instance = await Instance.start({ files: { 'edge.yaml': twoListeners(free, taken, upstream.port) } });
      expect(instance.stdout).toContain(`ready pid=${instance.pid} generation=1 listeners=1`);
      expect((await ask(free)).status).toBe(200);
      const { items } = await instance.status();
      const inUse = `127.0.0.1:${taken} is in use by pid ${process.pid} (`;
      const unavailable = condition(items, 'second', 'Accepted');
      expect(unavailable).toMatchObject({ status: 'False', reason: 'PortUnavailable' });
      expect(unavailable?.message).toContain(inUse);
      expect(condition(items, 'second', 'Programmed')).toMatchObject({ status: 'False' });
      expect(condition(items, 'first', 'Programmed')).toMatchObject({ status: 'True' });
      expect((await instance.command('status')).status, 'something is not Programmed').toBe(1);
      expect(instance.stderr).toContain(inUse);
      const still = await instance.reload();
      expect(still.status).toBe(1);
      expect(still.stderr).toContain(inUse);

      await new Promise<void>((resolve) => foreign.close(() => resolve()));
      const { status, stderr } = await instance.reload();
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect((await ask(taken)).status).toBe(200);
      expect(condition((await instance.status()).items, 'second', 'Programmed')).toMatchObject({ status: 'True' });
      expect((await instance.command('status')).status).toBe(0);
    } finally {
      foreign.close();
    }
  });

  it('below 1024 needs a right: without it the message says which, and the rest serves', async () => {
    const first = Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'));
    // A host that lets everybody use all ports has nothing to show here.
    if (first === 0) return;
    const free = await freePort();
    const upstream = await httpBackend('up');
    const isRoot = process.getuid?.() === 0;
    const instance = await Instance.start({
      files: { 'edge.yaml': twoListeners(free, first - 1, upstream.port) },
      // Root without this one capability is as an ordinary user here.
      ...(isRoot ? { wrapper: ['setpriv', '--bounding-set=-net_bind_service', '--inh-caps=-net_bind_service'] } : {}),
    });
    expect((await ask(free)).status).toBe(200);
    const unavailable = condition((await instance.status()).items, 'second', 'Accepted');
    expect(unavailable).toMatchObject({ status: 'False', reason: 'PortUnavailable' });
    expect(unavailable?.message).toContain(`127.0.0.1:${first - 1} needs the right to use ports below ${first}`);
    expect(unavailable?.message).toContain('CAP_NET_BIND_SERVICE');
  });

  it('is free again at once after kill -9 of the primary, its connections notwithstanding', async () => {
    const port = await freePort();
    const upstream = await httpBackend('up');
    const files = { 'edge.yaml': simpleHttp(port, upstream.port) };
    const first = await Instance.start({ files });
    expect((await ask(port)).status).toBe(200);
    const workers = first.workerPids();
    first.signal('SIGKILL');
    await until('its workers have ended', () => !workers.some(isAlive));
    const second = await Instance.start({ files, args: ['--state', `${first.folder}/state`, '--admin', first.admin] });
    expect((await ask(port)).status).toBe(200);
    expect(second.exit).toBeUndefined();
  });
});

describe('a start', () => {
  it('with a faulty configuration is refused with place, cause and remedy', async () => {
    const stderr = await refused({ files: { 'edge.yaml': 'kind: Gateway\n\tmetadata: {}\n' } });
    expect(stderr).toMatch(/edge\.yaml/);
    expect(stderr).toMatch(/WG1\d+/);
  });

  it('without the folder of its configuration is refused and names it', async () => {
    const stderr = await refused({ files: {}, args: ['-c', '/nowhere/at/all'] });
    expect(stderr).toMatch(/\/nowhere\/at\/all/);
  });

  it('that is ended by SIGTERM leaves nothing and is no failure', async () => {
    const port = await freePort();
    const instance = Instance.launch({ files: { 'edge.yaml': simpleHttp(port, 9) } });
    await until('it has begun', () => instance.workerPids().length > 0 || instance.exit !== undefined);
    const workers = instance.workerPids();
    instance.signal('SIGTERM');
    await until('it has ended', () => instance.exit !== undefined);
    expect(instance.exit).toEqual({ code: 0, signal: null });
    expect(workers.filter(isAlive)).toEqual([]);
  });
});
