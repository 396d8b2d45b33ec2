/** Ends: what runs may finish within the limit, nothing stays behind, whoever dies first. */
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { untilWhole } from './crew.js';
import { freePort, Instance, until } from './instance.js';
import { simpleHttp, simpleTcp } from './manifests.js';
import { ask, echoBackend, httpBackend } from './peers.js';
import { isAlive } from './processes.js';
import { Wire } from './wire.js';

const REQUEST = 'GET / HTTP/1.1\r\nHost: any.test\r\n\r\n';

/** A backend whose answers the test gives when it likes. */
async function patientBackend(): Promise<{ port: number; waiting: ServerResponse[] }> {
  const waiting: ServerResponse[] = [];
  const { port } = await httpBackend('patient', (_, response) => waiting.push(response));
  return { port, waiting };
}

/** An instance with one request under way, and one client between two requests. */
async function busyInstance(args: readonly string[] = []) {
  const port = await freePort();
  const upstream = await patientBackend();
  const instance = await Instance.start({ files: { 'edge.yaml': simpleHttp(port, upstream.port) }, args });
  await untilWhole(instance, 2);
  const idle = await Wire.connect(port);
  await idle.write(REQUEST);
  await until('the first request is under way', () => upstream.waiting.length === 1);
  upstream.waiting[0]?.end('first');
  expect((await idle.answer()).status).toBe(200);
  const busy = await Wire.connect(port);
  await busy.write(REQUEST);
  await until('the second request is under way', () => upstream.waiting.length === 2);
  return { port, instance, idle, busy, workers: instance.workerPids(), answer: upstream.waiting[1] as ServerResponse };
}

describe('SIGTERM', () => {
  it('lets a running request finish, takes nothing new, closes idle clients, and ends with status 0', async () => {
    const { port, instance, idle, busy, workers, answer } = await busyInstance();
    instance.signal('SIGTERM');
    await until('nothing new is taken', () =>
      Wire.connect(port).then(
        (wire) => {
          wire.socket.destroy();
          return false;
        },
        (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
      ),
    );
    expect((await idle.rest()).end).toBe('fin');
    expect(instance.exit).toBeUndefined();
    expect((await instance.overview()).phase).toBe('stopping');
    answer.end('late');
    const last = await busy.answer();
    expect({ status: last.status, body: last.body.toString() }).toEqual({ status: 200, body: 'late' });
    expect(last.fields.join('\n')).toMatch(/^connection: close$/im);
    await until('the instance has ended', () => instance.exit !== undefined);
    expect(instance.exit).toEqual({ code: 0, signal: null });
    expect(workers.filter(isAlive)).toEqual([]);
    expect(instance.stdout.trimEnd().split('\n'), 'standard output holds results only').toHaveLength(1);
  });

  it('ends what goes on beyond the limit', async () => {
    const { instance, busy, workers } = await busyInstance(['--drain-timeout', '0.5']);
    instance.signal('SIGTERM');
    expect((await busy.rest()).text).toBe('');
    await until('the instance has ended', () => instance.exit !== undefined);
    expect(instance.exit).toEqual({ code: 0, signal: null });
    expect(workers.filter(isAlive)).toEqual([]);
  });

  it('a second time ends everything at once', async () => {
    const { instance, busy, workers } = await busyInstance();
    instance.signal('SIGTERM');
    await until('it drains', async () => (await instance.overview()).phase === 'stopping');
    instance.signal('SIGTERM');
    await until('the instance has ended', () => instance.exit !== undefined, 3_000);
    expect(instance.exit).toEqual({ code: 0, signal: null });
    expect((await busy.rest()).text).toBe('');
    expect(workers.filter(isAlive)).toEqual([]);
  });

  it('refuses a reload that comes while it drains', async () => {
    const { instance, answer } = await busyInstance();
    instance.signal('SIGTERM');
    await until('it drains', async () => (await instance.overview()).phase === 'stopping');
    const { status, stderr } = await instance.reload();
    expect(status).toBe(1);
    expect(stderr).toContain('the instance is stopping');
    answer.end('late');
    await until('the instance has ended', () => instance.exit !== undefined);
    expect(instance.exit).toEqual({ code: 0, signal: null });
  });
});

describe('kill -9 of the primary', () => {
  it('lets each worker finish what it has; then all end by themselves', async () => {
    const { port, instance, idle, busy, workers, answer } = await busyInstance();
    expect(workers).toHaveLength(3);
    instance.signal('SIGKILL');
    await until('the primary has ended', () => instance.exit !== undefined);
    // The spare and, after its idle client, the worker without a request.
    expect((await idle.rest()).end).toBe('fin');
    await until('the idle ones have ended', () => workers.filter(isAlive).length === 1);
    await expect(ask(port)).rejects.toThrow('ECONNREFUSED');
    answer.end('late');
    const last = await busy.answer();
    expect({ status: last.status, body: last.body.toString() }).toEqual({ status: 200, body: 'late' });
    await until('all have ended', () => workers.filter(isAlive).length === 0);
  });

  it('ends idle workers at once, and open TCP sessions when they are over', async () => {
    const port = await freePort();
    const upstream = await echoBackend();
    const instance = await Instance.start({ files: { 'edge.yaml': simpleTcp(port, upstream.port) } });
    await untilWhole(instance, 2);
    const workers = instance.workerPids();
    const session = await Wire.connect(port);
    await session.write('before');
    expect((await session.take(6)).toString()).toBe('before');
    instance.signal('SIGKILL');
    await until('those without a session have ended', () => workers.filter(isAlive).length === 1, 2_000);
    await session.write('after');
    expect((await session.take(5)).toString()).toBe('after');
    session.finish();
    expect((await session.rest()).end).toBe('fin');
    await until('all have ended', () => workers.filter(isAlive).length === 0);
  });
});
