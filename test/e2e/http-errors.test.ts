/** What a client gets when something behind the proxy is wrong: a status, a body that names the cause, a counted reason. */
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from './at-end.js';
import { each } from './each.js';
import { freePort, Instance, until } from './instance.js';
import {
  backend,
  backendRef,
  config,
  type Doc,
  gateway,
  gatewayClass,
  httpListener,
  httpRoute,
  yaml,
} from './manifests.js';
import { ask, httpBackend, tcpBackend } from './peers.js';
import { Endpoint, Rig } from './rig.js';
import { field, Wire } from './wire.js';

const SERVICE = { apiVersion: 'v1', kind: 'Service' };

describe('a request for', () => {
  let instance: Instance;
  let port: number;
  let refusing: number;
  beforeAll(async () => {
    [port, refusing] = [await freePort(), await freePort()];
    const good = await httpBackend('good');
    const route = (name: string, ...rules: Doc[]): Doc => httpRoute(name, { hostnames: [`${name}.corp.test`], rules });
    const prefix = (value: string): Doc => ({ matches: [{ path: { type: 'PathPrefix', value } }] });
    instance = await Instance.start({
      workers: 1,
      files: {
        'edge.yaml': yaml(
          gatewayClass(),
          gateway('edge', [httpListener(port, 'http', '*.corp.test')]),
          route('good', { ...prefix('/only'), backendRefs: [backendRef('good')] }),
          route('missing', { backendRefs: [backendRef('nobody')] }),
          route('zero', { backendRefs: [backendRef('good', 0)] }),
          route('half', { backendRefs: [backendRef('good', 1), backendRef('nobody', 1)] }),
          route('empty', { backendRefs: [{ name: 'empty', port: 80 }] }),
          route('dead', { backendRefs: [backendRef('dead')] }),
          backend('good', good.port),
          backend('dead', refusing),
          { ...SERVICE, metadata: { name: 'empty' }, spec: { ports: [{ port: 80 }] } },
        ),
      },
    });
  });

  each([
    {
      what: 'a host of no listener',
      host: 'other.test',
      path: '/',
      status: 404,
      text: 'no listener serves this host',
      reason: 'no_listener',
    },
    {
      what: 'a host of no route',
      host: 'unknown.corp.test',
      path: '/',
      status: 404,
      text: 'no route matches',
      reason: 'no_route',
    },
    {
      what: 'a path of no route',
      host: 'good.corp.test',
      path: '/',
      status: 404,
      text: 'no route matches',
      reason: 'no_route',
    },
    {
      what: 'a backend that does not exist',
      host: 'missing.corp.test',
      path: '/',
      status: 500,
      text: 'the route names a backend that does not resolve',
      reason: 'backend_invalid',
    },
    {
      what: 'a rule whose only backend has weight 0',
      host: 'zero.corp.test',
      path: '/',
      status: 500,
      text: 'the route has no usable backend',
      reason: 'backend_invalid',
    },
    {
      what: 'a Service without endpoints',
      host: 'empty.corp.test',
      path: '/',
      status: 503,
      text: 'no endpoint of the backend is available',
      reason: 'no_endpoint',
    },
    {
      what: 'an endpoint that refuses',
      host: 'dead.corp.test',
      path: '/',
      status: 502,
      text: 'endpoint 127.0.0.1:REFUSING refused the connection',
      reason: 'connect_refused',
    },
  ])('$what is $status: $text', async ({ host, path, status, text, reason }) => {
    const before = await instance.metric('weirgate_connections_closed_total', { reason });
    for (const method of ['GET', 'HEAD', 'POST']) {
      const client = await Wire.connect(port);
      const body = method === 'POST' ? 'Content-Length: 5\r\n\r\nhello' : '\r\n';
      await client.write(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${body}`);
      const answer = await client.answer(method);
      expect(answer.status).toBe(status);
      const phrase = { 404: 'not found', 500: 'internal server error', 502: 'bad gateway', 503: 'service unavailable' }[
        status
      ];
      const line = `${status} ${phrase}: ${text.replace('REFUSING', String(refusing))}\n`;
      expect(field(answer.fields, 'content-length')).toBe(String(line.length));
      expect(answer.body.toString()).toBe(method === 'HEAD' ? '' : line);
      expect(field(answer.fields, 'retry-after')).toBe(status === 503 ? '1' : undefined);
      // Framing is intact: the connection is kept.
      await client.write('GET /only HTTP/1.1\r\nHost: good.corp.test\r\n\r\n');
      expect((await client.answer()).status).toBe(200);
    }
    expect(await instance.metric('weirgate_connections_closed_total', { reason })).toBe(before + 3);
  });

  test('two backends of equal weight, one of which does not exist, is 200 and 500 by turns', async () => {
    const got: number[] = [];
    for (let n = 0; n < 20; n += 1) got.push((await ask(port, { host: 'half.corp.test' })).status);
    expect(got.filter((status) => status === 200)).toHaveLength(10);
    expect(got.filter((status) => status === 500)).toHaveLength(10);
  });

  test('nothing, with an unread body of 1 MB, is still answered', async () => {
    const answer = await ask(port, { host: 'other.test', method: 'PUT', body: Buffer.alloc(1 << 20) });
    expect([answer.status, answer.headers.connection]).toEqual([404, 'close']);
  });
});

describe('an endpoint that breaks off', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.start({ places: 10, workers: 1 });
  });

  each([
    {
      how: 'a FIN',
      end: (server: Wire) => server.finish(),
      word: 'closed the connection',
      reason: 'upstream_closed_early',
    },
    { how: 'a reset', end: (server: Wire) => server.reset(), word: 'reset the connection', reason: 'upstream_reset' },
  ])(
    'with $how instead of an answer is 502 and said, after one try for POST and for a lone GET',
    async ({ end, word, reason }) => {
      for (const method of ['POST', 'GET']) {
        const place = rig.place();
        const before = await rig.closed(reason);
        const client = await rig.connect();
        await client.write(`${method} / HTTP/1.1\r\nHost: ${place.host}\r\nContent-Length: 2\r\n\r\nhi`);
        const server = await place.endpoint.accept();
        await server.request();
        end(server);
        const answer = await client.answer();
        expect([answer.status, answer.body.toString()]).toEqual([
          502,
          `502 bad gateway: endpoint 127.0.0.1:${place.endpoint.port} ${word} before its answer was complete\n`,
        ]);
        expect(place.endpoint.wires).toHaveLength(1);
        expect(await rig.closed(reason)).toBe(before + 1);
        const failures = { endpoint: `127.0.0.1:${place.endpoint.port}` };
        expect(await rig.instance.metric('weirgate_endpoint_failures_total', failures)).toBe(1);
      }
    },
  );

  test('within its head is 502 too', async () => {
    const place = rig.place();
    const client = await rig.connect();
    await client.write(`GET / HTTP/1.1\r\nHost: ${place.host}\r\n\r\n`);
    const server = await place.endpoint.accept();
    await server.request();
    await server.write('HTTP/1.1 200 OK\r\nContent-Le');
    server.finish();
    expect((await client.answer()).status).toBe(502);
  });

  test('behind an interim answer is 502 too', async () => {
    const place = rig.place();
    const client = await rig.connect();
    await client.write(`GET / HTTP/1.1\r\nHost: ${place.host}\r\n\r\n`);
    const server = await place.endpoint.accept();
    await server.request();
    await server.write('HTTP/1.1 103 Early Hints\r\n\r\n');
    expect((await client.answer()).status).toBe(103);
    server.finish();
    expect((await client.answer()).status).toBe(502);
  });
});

describe('of two endpoints', () => {
  async function pair(options: {
    readonly first: number;
    readonly second: number;
    readonly settings?: Doc;
  }): Promise<{ port: number; instance: Instance }> {
    const port = await freePort();
    const instance = await Instance.start({
      files: {
        'edge.yaml': yaml(
          gatewayClass(options.settings === undefined ? undefined : 'settings'),
          ...(options.settings === undefined ? [] : [config('settings', options.settings)]),
          gateway('edge', [httpListener(port)]),
          httpRoute('all', { rules: [{ backendRefs: [backendRef('pool')] }] }),
          backend('pool', options.first, options.second),
        ),
      },
    });
    return { port, instance };
  }

  test('the one that refuses costs no request, whatever the method, and rests between tries', async () => {
    const good = await httpBackend('good');
    const dead = await freePort();
    const { port, instance } = await pair({ first: dead, second: good.port });
    const statuses = new Set<number>();
    for (let n = 0; n < 60; n += 1) {
      const method = ['GET', 'POST', 'PATCH'][n % 3] as string;
      statuses.add((await ask(port, { method, ...(method === 'GET' ? {} : { body: 'x'.repeat(1000) }) })).status);
    }
    expect([...statuses]).toEqual([200]);
    expect(good.seen).toHaveLength(60);
    const failures = await instance.metric('weirgate_endpoint_connect_failures_total', {
      endpoint: `127.0.0.1:${dead}`,
    });
    // One at first, then one for each rest that ends meanwhile: far from every second request.
    expect(failures).toBeGreaterThanOrEqual(1);
    expect(failures).toBeLessThanOrEqual(4);
    expect(await instance.metric('weirgate_worker_endpoint_rests_total')).toBe(failures);
    expect(await instance.metric('weirgate_route_retries_total')).toBe(failures);
  });

  test('one that dies takes nothing with it but what it was serving, and is used again when it is back', async () => {
    const [one, two] = [await httpBackend('one'), await httpBackend('two')];
    const { port } = await pair({ first: one.port, second: two.port });
    const names = async (count: number): Promise<Record<string, number>> => {
      const by: Record<string, number> = {};
      for (let n = 0; n < count; n += 1) {
        const name = String((await ask(port)).headers['x-backend']);
        by[name] = (by[name] ?? 0) + 1;
      }
      return by;
    };
    expect(await names(10)).toEqual({ one: 5, two: 5 });
    await one.close();
    expect(await names(10)).toEqual({ two: 10 });
    const back = await httpBackend('back', undefined, one.port);
    // It has to have had its rest first.
    await until('it serves again', async () => (await ask(port)).headers['x-backend'] === 'back', 6_000);
    expect(await names(10)).toEqual({ back: 5, two: 5 });
    expect(back.seen.length).toBeGreaterThan(5);
  });

  test('one that closes without an answer is followed by the other for GET and PUT, not for POST', async () => {
    const closing = await tcpBackend((socket) => socket.once('data', () => socket.end()));
    const good = await httpBackend('good');
    const { port } = await pair({ first: closing.port, second: good.port });
    const got: Record<string, number[]> = { GET: [], PUT: [], POST: [] };
    for (let n = 0; n < 8; n += 1) {
      for (const method of ['GET', 'PUT', 'POST']) {
        got[method]?.push((await ask(port, { method, ...(method === 'GET' ? {} : { body: 'data' }) })).status);
      }
    }
    expect([new Set(got.GET), new Set(got.PUT)]).toEqual([new Set([200]), new Set([200])]);
    expect(got.POST).toContain(502);
    const served = good.seen.filter(({ method }) => method === 'POST');
    expect(served).toHaveLength(got.POST?.filter((status) => status === 200).length ?? -1);
  });

  test('when both refuse, the answer is 502 and names the last one tried', async () => {
    const [one, two] = [await freePort(), await freePort()];
    const { port } = await pair({ first: one, second: two });
    const { status, body } = await ask(port);
    expect(status).toBe(502);
    expect(body).toMatch(
      new RegExp(`^502 bad gateway: endpoint 127\\.0\\.0\\.1:(${one}|${two}) refused the connection\n$`),
    );
  });

  test('one that does not even accept is left for the other after the connect timeout', async () => {
    const deaf = await deafPort();
    const good = await httpBackend('good');
    const settings = { timeouts: { connect: '200ms' } };
    const { port, instance } = await pair({ first: deaf, second: good.port, settings });
    for (let n = 0; n < 6; n += 1) expect((await ask(port)).status).toBe(200);
    expect(
      await instance.metric('weirgate_endpoint_connect_failures_total', { endpoint: `127.0.0.1:${deaf}` }),
    ).toBeGreaterThanOrEqual(1);
  });

  test('when neither accepts, the answer is 504 after as many connect timeouts', async () => {
    const [one, two] = [await deafPort(), await deafPort()];
    const { port, instance } = await pair({ first: one, second: two, settings: { timeouts: { connect: '150ms' } } });
    const { status, body } = await ask(port);
    expect(status).toBe(504);
    expect(body).toMatch(/^504 gateway timeout: endpoint 127\.0\.0\.1:\d+ did not accept the connection in time\n$/);
    expect(await instance.metric('weirgate_connections_closed_total', { reason: 'connect_timeout' })).toBe(1);
  });
});

/** A port that drops every SYN: its process is stopped, its queue of accepted connections full. */
async function deafPort(): Promise<number> {
  const program = `const s = require('net').createServer(() => {}); s.listen(0, '127.0.0.1', 1, () => console.log(s.address().port));`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] });
  const port = await new Promise<number>((resolve) => child.stdout.once('data', (text) => resolve(Number(text))));
  child.kill('SIGSTOP');
  const open = new Set<number>();
  const sockets = Array.from({ length: 8 }, (_, n) => connect(port, '127.0.0.1', () => open.add(n)));
  for (const socket of sockets) socket.on('error', () => {});
  atEnd(async () => {
    for (const socket of sockets) socket.destroy();
    child.kill('SIGKILL');
  });
  // The kernel takes one more than the backlog says.
  await until('the queue is full', () => open.size >= 2);
  return port;
}

test('an endpoint that listens again after a restart gets its share without a reload', async () => {
  const port = await freePort();
  const first = await Endpoint.listen();
  first.serve(() => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  await Instance.start({
    files: {
      'edge.yaml': yaml(
        gatewayClass(),
        gateway('edge', [httpListener(port)]),
        httpRoute('all', { rules: [{ backendRefs: [backendRef('pool')] }] }),
        backend('pool', first.port),
      ),
    },
  });
  expect((await ask(port)).status).toBe(200);
  await first.close();
  expect((await ask(port)).status).toBe(502);
  const second = await Endpoint.listen(first.port);
  second.serve(() => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  // It is the only one: it is asked although it rests.
  expect((await ask(port)).status).toBe(200);
});
