/** /metrics as a strict reader of OpenMetrics 1.0 sees it, and that its numbers are those of the traffic. */
import { request } from 'node:http';
import { beforeAll, expect, test } from 'vitest';
import { freePort, Instance, until } from './instance.js';
import {
  backend,
  backendRef,
  gateway,
  gatewayClass,
  httpListener,
  httpRoute,
  tcpListener,
  tcpRoute,
  yaml,
} from './manifests.js';
import { ask, echoBackend, httpBackend } from './peers.js';
import { Wire } from './wire.js';

let instance: Instance;
let port: number;
let good: Awaited<ReturnType<typeof httpBackend>>;

beforeAll(async () => {
  port = await freePort();
  const tcpPort = await freePort();
  good = await httpBackend('good', (req, res) => {
    req.resume();
    req.on('end', () => {
      res.writeHead(Number(new URL(req.url ?? '', 'http://x').searchParams.get('status') ?? 200));
      res.end('x'.repeat(1000));
    });
  });
  const echo = await echoBackend();
  instance = await Instance.start({
    files: {
      'edge.yaml': yaml(
        gatewayClass(),
        gateway('edge', [httpListener(port), tcpListener(tcpPort)]),
        httpRoute('web', {
          hostnames: ['web.corp.test'],
          rules: [
            { matches: [{ path: { type: 'PathPrefix', value: '/a' } }], backendRefs: [backendRef('good')] },
            { backendRefs: [backendRef('good')] },
          ],
        }),
        tcpRoute('raw', [backendRef('echo')], 'tcp'),
        backend('good', good.port),
        backend('echo', echo.port),
      ),
    },
  });
  for (const status of [200, 201, 302, 404, 500, 503]) {
    await ask(port, { host: 'web.corp.test', path: `/a?status=${status}`, method: 'POST', body: 'hello' });
  }
  await ask(port, { host: 'web.corp.test' });
  await ask(port, { host: 'nowhere.test' });
  const client = await Wire.connect(tcpPort);
  await client.write('ping');
  await client.take(4);
  client.finish();
  await client.rest();
  await until('all is over', async () => (await instance.metric('weirgate_listener_connections_active')) === 0);
});

interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

interface Family {
  readonly name: string;
  readonly type: string;
  readonly unit: string | undefined;
  readonly help: string;
  readonly samples: Sample[];
}

/** Reads an exposition; throws where it is not what the specification allows (of what we write). */
function parse(text: string): Family[] {
  const lines = text.split('\n');
  expect(lines.slice(-2)).toEqual(['# EOF', '']);
  const families: { name: string; type: string; unit?: string; help?: string; samples: Sample[] }[] = [];
  for (const line of lines.slice(0, -2)) {
    const meta = /^# (TYPE|UNIT|HELP) ([a-z_]+) (.+)$/.exec(line);
    const family = families.at(-1);
    if (meta !== null) {
      const [, keyword, name = '', value = ''] = meta;
      if (keyword === 'TYPE') families.push({ name, type: value, samples: [] });
      else if (family?.name !== name || family.samples.length > 0) throw new Error(`out of place: ${line}`);
      else if (keyword === 'UNIT') family.unit = value;
      else family.help = value;
      continue;
    }
    const sample = /^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (-?[0-9.eE+-]+|NaN|[+-]Inf)$/.exec(
      line,
    );
    if (sample === null || family === undefined) throw new Error(`neither sample nor metadata: ${line}`);
    const [, name = '', labels = '', value] = sample;
    const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)];
    family.samples.push({
      name,
      labels: new Map(pairs.map(([, key = '', text = '']) => [key, text])),
      value: Number(value),
    });
  }
  return families.map((family) => ({ unit: undefined, help: '', ...family }));
}

test('it is OpenMetrics: families in one piece, with type and help, counters in _total, units as named', async () => {
  const families = parse(await instance.metrics());
  expect(families.length).toBeGreaterThan(30);
  expect(new Set(families.map(({ name }) => name)).size).toBe(families.length);
  for (const { name, type, unit, help, samples } of families) {
    expect(['counter', 'gauge', 'info'], name).toContain(type);
    expect(help, name).toMatch(/^[A-Z0-9].*\.$/);
    expect(samples.length, name).toBeGreaterThan(0);
    const suffix = { counter: '_total', gauge: '', info: '_info' }[type];
    for (const sample of samples) expect(sample.name).toBe(name + suffix);
    expect(name, name).not.toMatch(/_(total|info|created)$/);
    const ending = /_(seconds|bytes)$/.exec(name)?.[1];
    expect(unit, name).toBe(ending);
    const sets = samples.map(({ labels }) => JSON.stringify([...labels].toSorted()));
    expect(new Set(sets).size, name).toBe(sets.length);
    expect(new Set(samples.map(({ labels }) => [...labels.keys()].join())).size, name).toBe(1);
    for (const { value } of samples) expect(Number.isFinite(value) && value >= 0, `${name} ${value}`).toBe(true);
  }
});

test('the numbers are those of the traffic', async () => {
  const families = parse(await instance.metrics());
  const value = (name: string, labels: Readonly<Record<string, string>> = {}): number =>
    families
      .flatMap(({ samples }) => samples)
      .filter((sample) => sample.name === name && Object.entries(labels).every(([k, v]) => sample.labels.get(k) === v))
      .reduce((sum, sample) => sum + sample.value, 0);
  const rule = { route: 'HTTPRoute/default/web', rule: '0' };
  const classes = ['1xx', '2xx', '3xx', '4xx', '5xx'].map((of) =>
    value('weirgate_route_responses_total', { ...rule, class: of }),
  );
  expect(classes).toEqual([0, 2, 1, 1, 2]);
  expect(value('weirgate_route_requests_total', rule)).toBe(6);
  expect(value('weirgate_route_requests_total', { ...rule, rule: '1' })).toBe(1);
  expect(value('weirgate_route_requests_total', { route: 'TCPRoute/default/raw' })).toBe(1);
  expect(value('weirgate_route_bytes_total', { ...rule, direction: 'in' })).toBe(30);
  expect(value('weirgate_route_duration_seconds_total', rule)).toBeGreaterThan(0);
  const endpoint = { cluster: 'Backend/default/good', endpoint: `127.0.0.1:${good.port}` };
  expect(value('weirgate_endpoint_requests_total', endpoint)).toBe(7);
  expect(
    value('weirgate_endpoint_connects_total', endpoint) + value('weirgate_endpoint_connections_reused_total', endpoint),
  ).toBe(7);
  expect(value('weirgate_endpoint_up', endpoint)).toBe(1);
  const listener = { listener: 'default/edge/http' };
  expect(value('weirgate_listener_requests_total', listener)).toBe(8);
  expect(value('weirgate_listener_rejected_total', listener)).toBe(1);
  expect(value('weirgate_listener_connections_accepted_total', listener)).toBe(8);
  expect(value('weirgate_listener_connections_closed_total', listener)).toBe(8);
  expect(value('weirgate_connections_closed_total', { reason: 'no_route' })).toBe(1);
  expect(value('weirgate_connections_closed_total', { reason: 'tcp_done' })).toBe(1);
  expect(value('weirgate_worker_accepts_total')).toBe(9);
  expect(value('weirgate_config_generation')).toBe(1);
  expect(value('weirgate_workers')).toBe(2);
});

test('the bytes of a listener are those on its wires, also on a kept connection', async () => {
  const of = (direction: string): Promise<number> =>
    instance.metric('weirgate_listener_bytes_total', { listener: 'default/edge/http', direction });
  const before = [await of('in'), await of('out')];
  const client = await Wire.connect(port);
  let [sent, received] = [0, 0];
  for (let number = 0; number < 3; number += 1) {
    const bytes = `POST /a HTTP/1.1\r\nHost: web.corp.test\r\nContent-Length: 10\r\n\r\n0123456789`;
    await client.write(bytes);
    sent += bytes.length;
    const { line, fields, framed } = await client.answer();
    received += [line, ...fields, '', ''].join('\r\n').length + framed.length;
  }
  client.finish();
  await client.rest();
  const after = [await of('in'), await of('out')];
  // Node answers in chunks: `framed` lacks the empty line behind the last one.
  expect(after.map((bytes, i) => bytes - (before[i] ?? 0))).toEqual([sent, received + 3 * '\r\n'.length]);
});

test('no counter goes backwards from one look to the next', async () => {
  const totals = async (): Promise<Map<string, number>> => {
    const all = new Map<string, number>();
    for (const { type, samples } of parse(await instance.metrics())) {
      if (type !== 'counter') continue;
      for (const { name, labels, value } of samples) all.set(`${name}${JSON.stringify([...labels])}`, value);
    }
    return all;
  };
  const first = await totals();
  await ask(port, { host: 'web.corp.test' });
  const second = await totals();
  for (const [series, value] of first) expect(second.get(series), series).toBeGreaterThanOrEqual(value);
});

test('the answer has the type of OpenMetrics, other paths are 404, and writing is refused', async () => {
  const call = (method: string, path: string): Promise<{ status: number; type: string }> =>
    new Promise((resolve, reject) => {
      const sent = request({ socketPath: `${instance.folder}/admin.sock`, method, path }, (response) => {
        response.resume();
        resolve({ status: response.statusCode ?? 0, type: String(response.headers['content-type']) });
      });
      sent.once('error', reject);
      sent.end();
    });
  const got = await call('GET', '/metrics');
  expect(got.status).toBe(200);
  expect(got.type).toMatch(/^application\/openmetrics-text; version=1\.0\.0/);
  expect((await call('GET', '/nothing')).status).toBe(404);
  expect((await call('POST', '/metrics')).status).toBe(405);
});
