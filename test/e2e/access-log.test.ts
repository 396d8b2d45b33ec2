/** The access log: off unless asked for, one JSON object a line, and never in the way of traffic. */
import { execFileSync } from 'node:child_process';
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from './at-end.js';
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
  tcpListener,
  tcpRoute,
  yaml,
} from './manifests.js';
import { ask, type Backend, echoBackend, httpBackend } from './peers.js';
import { exchange, Rig } from './rig.js';
import { Wire } from './wire.js';

type Line = Readonly<Record<string, unknown>>;

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'weirgate-log-'));
  atEnd(async () => rmSync(path, { recursive: true, force: true }));
  return path;
}

function lines(file: string): Line[] {
  const text = readFileSync(file, 'utf8');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}

/** The line of this path, once it is there. */
async function line(file: string, path: string): Promise<Line> {
  let found: Line | undefined;
  await until(`${path} is logged`, () => {
    found = lines(file).find((one) => one.path === path);
    return found !== undefined;
  });
  return found ?? {};
}

describe('in a file', () => {
  let file: string;
  let instance: Instance;
  let port: number;
  let tcpPort: number;
  let good: Backend;
  beforeAll(async () => {
    file = join(folder(), 'access.log');
    [port, tcpPort] = [await freePort(), await freePort()];
    good = await httpBackend('good');
    const echo = await echoBackend();
    const dead = await freePort();
    instance = await Instance.start({
      files: {
        'edge.yaml': yaml(
          gatewayClass('settings'),
          config('settings', { accessLog: { target: file } }),
          gateway('edge', [httpListener(port), tcpListener(tcpPort)]),
          httpRoute('web', { hostnames: ['web.corp.test'], rules: [{ backendRefs: [backendRef('good')] }] }),
          httpRoute('dead', { hostnames: ['dead.corp.test'], rules: [{ backendRefs: [backendRef('dead')] }] }),
          httpRoute('half', { hostnames: ['half.corp.test'], rules: [{ backendRefs: [backendRef('half')] }] }),
          tcpRoute('raw', [backendRef('echo')], 'tcp'),
          backend('good', good.port),
          backend('dead', dead),
          backend('half', dead, good.port),
          backend('echo', echo.port),
        ),
      },
    });
  });

  test('a request leaves one line that says all about it', async () => {
    const answer = await ask(port, {
      host: 'web.corp.test',
      path: '/one?secret=1',
      method: 'POST',
      body: 'hello',
      headers: { 'user-agent': 'test/1.0' },
    });
    const { time, peer, duration_ms, upstream_ms, ...rest } = await line(file, '/one');
    expect(rest).toEqual({
      listener: 'default/edge/http',
      route: 'HTTPRoute/default/web/0',
      endpoint: `127.0.0.1:${good.port}`,
      protocol: 'HTTP/1.1',
      method: 'POST',
      host: 'web.corp.test',
      path: '/one',
      user_agent: 'test/1.0',
      status: 200,
      bytes_in: 5,
      bytes_out: answer.body.length,
      retries: 0,
      close_reason: 'completed',
      generation: 1,
    });
    expect(peer).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(Math.abs(Date.parse(String(time)) - Date.now())).toBeLessThan(5_000);
    expect(Number(duration_ms)).toBeGreaterThan(0);
    expect(Number(upstream_ms)).toBeGreaterThan(0);
    expect(Number(upstream_ms)).toBeLessThanOrEqual(Number(duration_ms));
  });

  test('an answer of our own has its cause as close_reason', async () => {
    await ask(port, { host: 'nowhere.test', path: '/no-route' });
    await ask(port, { host: 'dead.corp.test', path: '/dead' });
    const noRoute = await line(file, '/no-route');
    expect(noRoute).toMatchObject({ status: 404, close_reason: 'no_route', listener: 'default/edge/http' });
    expect(Object.keys(noRoute)).not.toContain('endpoint');
    expect(await line(file, '/dead')).toMatchObject({
      status: 502,
      close_reason: 'connect_refused',
      route: 'HTTPRoute/default/dead/0',
    });
  });

  test('a request that took a second endpoint says so', async () => {
    for (const path of ['/h1', '/h2']) await ask(port, { host: 'half.corp.test', path });
    const retries = [(await line(file, '/h1')).retries, (await line(file, '/h2')).retries];
    expect(retries.toSorted()).toEqual([0, 1]);
  });

  test('bytes that could break out of a line or a terminal are escaped', async () => {
    const client = await Wire.connect(port);
    await client.write(
      'GET /"quo\\ted"{} HTTP/1.1\r\nHost: web.corp.test\r\nUser-Agent: "a\\b"\t\xff\xc3\xa9\xc2\x9b,"status":1\r\n\r\n',
    );
    await client.answer();
    const { user_agent, status } = await line(file, '/"quo\\ted"{}');
    expect([user_agent, status]).toEqual(['"a\\b"\t\ufffdé\u009b,"status":1', 200]);
    const codes = [...readFileSync(file, 'utf8')].map((character) => character.codePointAt(0) ?? 0);
    expect(codes.filter((code) => code !== 10 && (code < 0x20 || (code >= 0x7f && code < 0xa0)))).toEqual([]);
  });

  test('a TCP session leaves one line when it ends, without any member of HTTP', async () => {
    const client = await Wire.connect(tcpPort);
    await client.write('echo!');
    await client.take(5);
    client.finish();
    await client.rest();
    let session: Line | undefined;
    await until('it is logged', () => {
      session = lines(file).find(({ protocol }) => protocol === 'TCP');
      return session !== undefined;
    });
    expect(session).toMatchObject({
      listener: 'default/edge/tcp',
      route: 'TCPRoute/default/raw/0',
      bytes_in: 5,
      bytes_out: 5,
      close_reason: 'tcp_done',
    });
    for (const member of ['method', 'host', 'path', 'status', 'user_agent']) expect(session).not.toHaveProperty(member);
  });

  test('a file that was moved away is begun anew at SIGUSR1', async () => {
    const before = lines(file).length;
    renameSync(file, `${file}.1`);
    await ask(port, { host: 'web.corp.test', path: '/still-old' });
    await line(`${file}.1`, '/still-old');
    instance.signal('SIGUSR1');
    await until('the file is there', () => existsSync(file));
    await ask(port, { host: 'web.corp.test', path: '/new' });
    await line(file, '/new');
    expect(lines(`${file}.1`)).toHaveLength(before + 1);
    expect(lines(file)).toHaveLength(1);
  });

  test('two thousand requests are two thousand lines, over both workers', async () => {
    let left = 2_000;
    const client = async (): Promise<void> => {
      const wire = await Wire.connect(port);
      while (left > 0) {
        left -= 1;
        await wire.write(`GET /many/${left} HTTP/1.1\r\nHost: web.corp.test\r\n\r\n`);
        await wire.answer();
      }
      wire.finish();
    };
    await Promise.all(Array.from({ length: 20 }, client));
    const many = (): string[] =>
      lines(file).flatMap(({ path }) => (String(path).startsWith('/many/') ? [String(path)] : []));
    await until('all are logged', () => many().length === 2_000);
    expect(new Set(many()).size).toBe(2_000);
  });
});

describe('heads that are refused', () => {
  interface Refusal {
    readonly what: string;
    readonly head: string;
    readonly status: number;
    readonly reason: string;
    readonly logged: Line;
  }
  const REFUSALS: readonly Refusal[] = [
    {
      what: 'a malformed field',
      head: 'POST /a?secret=1 HTTP/1.1\r\nHost: p0.corp.test:80\r\nUser-Agent: me\r\nno colon\r\n\r\n',
      status: 400,
      reason: 'bad_request',
      logged: { method: 'POST', path: '/a', host: 'p0.corp.test:80', user_agent: 'me', protocol: 'HTTP/1.1' },
    },
    {
      what: 'a request line that never ends',
      head: `GET /${'l'.repeat(70_000)}`,
      status: 414,
      reason: 'head_too_large',
      logged: { method: 'GET' },
    },
    {
      what: 'a head that never ends',
      head: `GET /big HTTP/1.1\r\nHost: p0.corp.test\r\nX: ${'x'.repeat(70_000)}`,
      status: 431,
      reason: 'head_too_large',
      logged: { method: 'GET', path: '/big', host: 'p0.corp.test' },
    },
    {
      what: 'another version',
      head: 'GET /v HTTP/3.0\r\nHost: p0.corp.test\r\n\r\n',
      status: 505,
      reason: 'version_unsupported',
      logged: { method: 'GET', path: '/v', host: 'p0.corp.test' },
    },
    {
      what: 'TLS',
      head: '\x16\x03\x01\x02\x00\x01',
      status: 400,
      reason: 'bad_request',
      logged: {},
    },
    {
      what: 'a head that does not come in time',
      head: 'DELETE /slow HTTP/1.0\r\nHost: p0.corp.test\r\nX: ',
      status: 408,
      reason: 'header_timeout',
      logged: { method: 'DELETE', path: '/slow', host: 'p0.corp.test', protocol: 'HTTP/1.0' },
    },
  ];

  test('each leaves one line with what can be told of it, a connection without a head leaves none', async () => {
    const file = join(folder(), 'access.log');
    const rig = await Rig.start({
      places: 1,
      workers: 1,
      settings: { accessLog: { target: file }, timeouts: { header: '1s' } },
    });
    const silent = await rig.connect();
    silent.finish();
    await silent.rest();
    const gone = await rig.connect();
    await gone.write('GET /gone HTTP/1.1\r\n');
    gone.finish();
    await gone.rest();
    for (const { what, head, status, reason, logged } of REFUSALS) {
      const before = lines(file).length;
      const client = await rig.connect();
      const { localPort } = client.socket;
      await client.write(head);
      const answer = await client.answer();
      expect(answer.status, what).toBe(status);
      client.finish();
      await client.rest();
      await until(`${what} is logged`, () => lines(file).length > before);
      const { time, peer, duration_ms, bytes_in, ...rest } = lines(file)[before] ?? {};
      expect(Date.parse(String(time)), what).toBeGreaterThan(0);
      expect(peer, what).toBe(`127.0.0.1:${localPort}`);
      expect(Number(duration_ms), what).toBeGreaterThanOrEqual(status === 408 ? 900 : 0);
      if (head.length < 65_536) expect(bytes_in, what).toBe(head.length);
      else expect(Number(bytes_in), what).toBeGreaterThanOrEqual(65_536);
      expect({ ...rest, path: String(rest.path ?? '').slice(0, 8) }, what).toEqual({
        listener: 'default/edge/http',
        protocol: 'HTTP/1.1',
        status,
        bytes_out: answer.body.length,
        retries: 0,
        close_reason: reason,
        generation: 1,
        ...logged,
        path: status === 414 ? '/lllllll' : (logged.path ?? ''),
      });
    }
    await rig.instance.stop();
    expect(lines(file)).toHaveLength(REFUSALS.length);
  }, 20_000);
});

test('an upgraded connection leaves one line when it ends, with the request that began it', async () => {
  const file = join(folder(), 'access.log');
  const rig = await Rig.start({ places: 1, workers: 1, settings: { accessLog: { target: file } } });
  const place = rig.place();
  const { client, server } = await exchange(
    place,
    `GET /chat HTTP/1.1\r\nHost: ${place.host}\r\nConnection: Upgrade\r\nUpgrade: chat\r\nUser-Agent: me\r\n\r\n`,
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n',
  );
  await client.write('hello');
  await server.take(5);
  client.finish();
  server.finish();
  await client.rest();
  expect(await line(file, '/chat')).toMatchObject({
    protocol: 'upgrade',
    method: 'GET',
    host: place.host,
    user_agent: 'me',
    status: 101,
    bytes_in: 5,
    bytes_out: 0,
    close_reason: 'upgrade_done',
  });
});

test('without accessLog no request is logged anywhere', async () => {
  const rig = await Rig.start({ places: 1, workers: 1 });
  const place = rig.place();
  await exchange(place, `GET /private HTTP/1.1\r\nHost: ${place.host}\r\n\r\n`, 'HTTP/1.1 204 No Content\r\n\r\n');
  await rig.instance.stop();
  expect(rig.instance.stdout + rig.instance.stderr).not.toContain('private');
});

test('with target stderr the lines come there', async () => {
  const rig = await Rig.start({ places: 1, workers: 1, settings: { accessLog: { target: 'stderr' } } });
  const place = rig.place();
  await exchange(place, `GET /seen HTTP/1.1\r\nHost: ${place.host}\r\n\r\n`, 'HTTP/1.1 204 No Content\r\n\r\n');
  await until('it is logged', () => rig.instance.stderr.includes('"path":"/seen"'));
});

test('an access log that is turned on, and off again, by reloads is on, and off again', async () => {
  const file = join(folder(), 'access.log');
  const port = await freePort();
  const good = await httpBackend('good');
  const files = (settings: Doc): string =>
    yaml(
      gatewayClass('settings'),
      config('settings', settings),
      gateway('edge', [httpListener(port)]),
      httpRoute('all', { rules: [{ backendRefs: [backendRef('good')] }] }),
      backend('good', good.port),
    );
  const instance = await Instance.start({ files: { 'edge.yaml': files({}) } });
  await ask(port, { path: '/before' });
  instance.write('edge.yaml', files({ accessLog: { target: file } }));
  expect((await instance.reload()).status).toBe(0);
  await ask(port, { path: '/during' });
  await line(file, '/during');
  instance.write('edge.yaml', files({}));
  expect((await instance.reload()).status).toBe(0);
  await ask(port, { path: '/after' });
  await instance.stop();
  expect(lines(file).map(({ path }) => path)).toEqual(['/during']);
});

test('a pipe that nobody reads costs lines, which are counted, and no request', async () => {
  const fifo = join(folder(), 'log.fifo');
  execFileSync('mkfifo', [fifo]);
  // A reader that never reads: the pipe holds 64 KiB.
  const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  atEnd(async () => closeSync(reader));
  const rig = await Rig.start({ places: 1, settings: { accessLog: { target: fifo } } });
  const place = rig.place();
  place.endpoint.serve(() => 'HTTP/1.1 204 No Content\r\n\r\n');
  const agent = 'x'.repeat(2_000);
  let left = 4_000;
  let slowestMs = 0;
  const client = async (): Promise<void> => {
    const wire = await Wire.connect(rig.port);
    while (left > 0) {
      left -= 1;
      const startedAt = performance.now();
      await wire.write(`GET / HTTP/1.1\r\nHost: ${place.host}\r\nUser-Agent: ${agent}\r\n\r\n`);
      expect((await wire.answer()).status).toBe(204);
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: 8 }, client));
  // The log's thread waits up to a second for a pipe; a request that did as well would show.
  expect(slowestMs).toBeLessThan(900);
  const lost = async (): Promise<number> =>
    (await rig.instance.metric('weirgate_worker_log_dropped_total')) +
    (await rig.instance.metric('weirgate_access_log_lost_total'));
  await until('lost lines are counted', async () => (await lost()) > 0);
  expect((await rig.instance.stop()).code).toBe(0);
});
