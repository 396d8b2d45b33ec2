/** Active checks by BackendPolicy: done once for each endpoint, by the primary; what fails them gets no traffic. */
import { expect, test } from 'vitest';
import { each } from './each.js';
import { freePort, Instance, until } from './instance.js';
import { backend, backendRef, type Doc, gateway, gatewayClass, httpListener, httpRoute, yaml } from './manifests.js';
import { ask, type Backend, httpBackend, tcpBackend } from './peers.js';

const policy = (healthCheck: Doc, target: Doc = { group: 'weirgate.dev', kind: 'Backend', name: 'pool' }): Doc => ({
  apiVersion: 'weirgate.dev/v1alpha1',
  kind: 'BackendPolicy',
  metadata: { name: 'pool' },
  spec: { targetRefs: [target], healthCheck },
});

const FAST = { interval: '100ms', timeout: '500ms', healthyThreshold: 2, unhealthyThreshold: 2 };

interface Checked {
  readonly port: number;
  readonly instance: Instance;
  /** 1 or 0 for each backend, in order. */
  up(): Promise<number[]>;
}

async function start(backends: readonly Backend[], healthCheck: Doc, workers = 2): Promise<Checked> {
  const port = await freePort();
  const instance = await Instance.start({
    workers,
    files: {
      'edge.yaml': yaml(
        gatewayClass(),
        gateway('edge', [httpListener(port)]),
        httpRoute('all', { rules: [{ backendRefs: [backendRef('pool')] }] }),
        backend('pool', ...backends.map((one) => one.port)),
        policy(healthCheck),
      ),
    },
  });
  const up = (): Promise<number[]> =>
    Promise.all(backends.map((one) => instance.metric('weirgate_endpoint_up', { endpoint: `127.0.0.1:${one.port}` })));
  return { port, instance, up };
}

/** Names of those who answer; other statuses as numbers. */
async function names(port: number, count: number): Promise<Set<string>> {
  const got = new Set<string>();
  for (let number = 0; number < count; number += 1) {
    const { status, headers } = await ask(port, { path: '/work' });
    got.add(status === 200 ? String(headers['x-backend']) : String(status));
  }
  return got;
}

/** A backend whose `/healthz` answers the present `status`. */
async function checkedBackend(name: string): Promise<Backend & { status: number; readonly checks: () => number }> {
  const state = { status: 200 };
  const one = await httpBackend(name, (request, response) => {
    const isCheck = request.url === '/healthz?deep';
    response.writeHead(isCheck ? state.status : 200, { 'x-backend': name });
    response.end();
  });
  return Object.assign(state, one, { checks: () => one.seen.filter(({ url }) => url === '/healthz?deep').length });
}

test('HTTP: an endpoint that turns bad gets no request until it is good again, and no request fails', async () => {
  const [one, two] = [await checkedBackend('one'), await checkedBackend('two')];
  const http = { path: '/healthz?deep', host: 'app.internal', expectedStatuses: [{ from: 200, to: 299 }] };
  const { port, up } = await start([one, two], { type: 'HTTP', ...FAST, http });
  await until('both are checked', () => one.checks() > 1 && two.checks() > 1);
  expect(await names(port, 10)).toEqual(new Set(['one', 'two']));

  one.status = 503;
  await until('one has left', async () => (await up())[0] === 0);
  expect(await names(port, 20)).toEqual(new Set(['two']));

  one.status = 302;
  const checks = one.checks();
  await until('it was checked twice more', () => one.checks() >= checks + 2);
  expect(await up()).toEqual([0, 1]);

  one.status = 204;
  await until('one is back', async () => (await up())[0] === 1);
  expect(await names(port, 10)).toEqual(new Set(['one', 'two']));
  const check = one.seen.find(({ url }) => url === '/healthz?deep');
  expect(check).toMatchObject({ method: 'GET', headers: { host: 'app.internal', 'user-agent': 'weirgate-health' } });
});

test('TCP: an endpoint that no longer accepts leaves before a request meets it, and comes back', async () => {
  const [one, two] = [await httpBackend('one'), await httpBackend('two')];
  const { port, instance, up } = await start([one, two], { type: 'TCP', ...FAST });
  expect(await names(port, 10)).toEqual(new Set(['one', 'two']));
  await one.close();
  await until('one has left', async () => (await up())[0] === 0);
  const failures = { endpoint: `127.0.0.1:${one.port}` };
  const before = await instance.metric('weirgate_endpoint_connect_failures_total', failures);
  expect(await names(port, 20)).toEqual(new Set(['two']));
  expect(await instance.metric('weirgate_endpoint_connect_failures_total', failures)).toBe(before);
  await httpBackend('back', undefined, one.port);
  await until('one is back', async () => (await up())[0] === 1);
  expect(await names(port, 10)).toEqual(new Set(['back', 'two']));
});

test('with four workers each endpoint sees one check for each that is counted', async () => {
  const [one, two] = [await checkedBackend('one'), await checkedBackend('two')];
  const { instance } = await start([one, two], { type: 'HTTP', ...FAST, http: { path: '/healthz?deep' } }, 4);
  await until('there are some checks', () => one.checks() > 8 && two.checks() > 8);
  for (const endpoint of [one, two]) {
    const counted = await instance.metric('weirgate_endpoint_checks_total', { endpoint: `127.0.0.1:${endpoint.port}` });
    // One may be under way.
    expect(Math.abs(endpoint.checks() - counted)).toBeLessThanOrEqual(1);
  }
});

test('an endpoint that is dead from the start gets no request at all once it was checked', async () => {
  const good = await checkedBackend('good');
  const dead = { ...good, port: await freePort() };
  const { port, instance, up } = await start([dead, good], {
    type: 'TCP',
    ...FAST,
    interval: '1s',
    unhealthyThreshold: 100,
  });
  // The first outcome decides alone.
  await until('it has left', async () => (await up())[0] === 0);
  const before = await instance.metric('weirgate_endpoint_connect_failures_total');
  expect(await names(port, 10)).toEqual(new Set(['good']));
  expect(await instance.metric('weirgate_endpoint_connect_failures_total')).toBe(before);
});

test('when all are bad, requests get 503 at once', async () => {
  const [one, two] = [await checkedBackend('one'), await checkedBackend('two')];
  [one.status, two.status] = [500, 500];
  const { port, instance, up } = await start([one, two], { type: 'HTTP', ...FAST, http: { path: '/healthz?deep' } });
  await until('both have left', async () => (await up()).every((value) => value === 0));
  const { status, body } = await ask(port);
  expect([status, body]).toEqual([503, '503 service unavailable: no endpoint of the backend is available\n']);
  expect(await instance.metric('weirgate_connections_closed_total', { reason: 'no_endpoint' })).toBe(1);
});

test('what is known of an endpoint outlives a reload', async () => {
  const [one, two] = [await checkedBackend('one'), await checkedBackend('two')];
  one.status = 500;
  const { port, instance, up } = await start([one, two], { type: 'HTTP', ...FAST, http: { path: '/healthz?deep' } });
  await until('one has left', async () => (await up())[0] === 0);
  instance.write('more.yaml', yaml(backend('other', 9)));
  expect((await instance.reload()).status).toBe(0);
  expect(await up()).toEqual([0, 1]);
  expect(await names(port, 10)).toEqual(new Set(['two']));
});

test('a reload that removes the policy brings every endpoint back and ends the checks', async () => {
  const [one, two] = [await checkedBackend('one'), await checkedBackend('two')];
  one.status = 500;
  const { port, instance, up } = await start([one, two], { type: 'HTTP', ...FAST, http: { path: '/healthz?deep' } });
  await until('one has left', async () => (await up())[0] === 0);
  instance.write('edge.yaml', String(withoutPolicy(port, one, two)));
  expect((await instance.reload()).status).toBe(0);
  await until('one is back', async () => (await names(port, 4)).has('one'));
  const checks = one.checks();
  expect(await names(port, 20)).toEqual(new Set(['one', 'two']));
  expect(one.checks()).toBe(checks);
});

function withoutPolicy(port: number, ...backends: readonly Backend[]): string {
  return yaml(
    gatewayClass(),
    gateway('edge', [httpListener(port)]),
    httpRoute('all', { rules: [{ backendRefs: [backendRef('pool')] }] }),
    backend('pool', ...backends.map((one) => one.port)),
  );
}

each([
  { what: 'answers garbage', answer: 'SSH-2.0-OpenSSH\r\n' },
  { what: 'answers without end', answer: undefined },
])('HTTP: an endpoint that $what is bad', async ({ answer }) => {
  const odd = await tcpBackend((socket) => {
    if (answer !== undefined) socket.once('data', () => socket.end(answer));
  });
  const good = await checkedBackend('good');
  const check = { type: 'HTTP', ...FAST, timeout: '200ms', http: { path: '/healthz?deep' } };
  const { port, up } = await start([odd, good], check);
  await until('it has left', async () => (await up())[0] === 0);
  expect(await names(port, 4)).toEqual(new Set(['good']));
});

test('a policy for a Service checks the endpoints of its slices', async () => {
  const [one, two] = [await checkedBackend('one'), await checkedBackend('two')];
  two.status = 500;
  const port = await freePort();
  const instance = await Instance.start({
    files: {
      'edge.yaml': yaml(
        gatewayClass(),
        gateway('edge', [httpListener(port)]),
        httpRoute('all', { rules: [{ backendRefs: [{ name: 'app', port: 80 }] }] }),
        {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'app' },
          spec: {
            ports: [
              { name: 'a', port: 80 },
              { name: 'b', port: 81 },
            ],
          },
        },
        ...[one, two].map((backend, n) => ({
          apiVersion: 'discovery.k8s.io/v1',
          kind: 'EndpointSlice',
          metadata: { name: `app-${n}`, labels: { 'kubernetes.io/service-name': 'app' } },
          addressType: 'IPv4',
          ports: [{ name: 'a', port: backend.port }],
          endpoints: [{ addresses: ['127.0.0.1'] }],
        })),
        policy({ type: 'HTTP', ...FAST, http: { path: '/healthz?deep' } }, { group: '', kind: 'Service', name: 'app' }),
      ),
    },
  });
  const up = (at: Backend): Promise<number> =>
    instance.metric('weirgate_endpoint_up', { endpoint: `127.0.0.1:${at.port}` });
  await until('the bad one has left', async () => (await up(two)) === 0);
  expect(await up(one)).toBe(1);
  expect(await names(port, 10)).toEqual(new Set(['one']));
});
