/**
 * Rules of the Gateway API as clients meet them: which listener takes a request, which route of it, and what stays shut.
 * Golden cases hold what is told and planned; here the same rules are asked over the wire.
 */
import { connect } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { each } from './each.js';
import { freePort, Instance } from './instance.js';
import {
  backend,
  backendRef,
  type Doc,
  gateway,
  gatewayClass,
  httpListener,
  httpRoute,
  tcpListener,
  tcpRoute,
  yaml,
} from './manifests.js';
import { ask, httpBackend, tcpBackend } from './peers.js';

const NAMES = ['any', 'wide', 'deep', 'exact', 'old', 'young', 'good', 'team'] as const;

/** Ports by what listens there. */
const ports = { names: 0, narrow: 0, raw: 0, set: 0 };
let instance: Instance;

const named = (doc: Doc, more: Doc): Doc => ({ ...doc, metadata: { ...(doc.metadata as Doc), ...more } });
const at = (name: string, value: string): Doc => ({
  matches: [{ path: { value } }],
  backendRefs: [backendRef(name)],
});
const section = (sectionName: string, ...rules: Doc[]): Doc =>
  httpRoute(sectionName, { parent: { name: 'edge', sectionName }, rules });

/** Listeners of one port with a route each, whose path says for which it is meant. */
const byHostname = (): Doc[] => [
  section('any', at('any', '/any')),
  section('wide', at('wide', '/wide')),
  section('deep', at('deep', '/deep')),
  section('exact', at('exact', '/exact')),
];

/** Two routes that the listener narrows to one name, and a route whose first rules lead nowhere. */
const narrowed = (): Doc[] => [
  named(
    httpRoute('old', {
      parent: { name: 'edge', sectionName: 'narrow' },
      hostnames: ['*.test'],
      rules: [at('old', '/')],
    }),
    {
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
  ),
  named(
    httpRoute('young', {
      parent: { name: 'edge', sectionName: 'narrow' },
      hostnames: ['a.corp.test'],
      rules: [at('young', '/only')],
    }),
    { creationTimestamp: '2026-02-01T00:00:00Z' },
  ),
  httpRoute('broken', {
    parent: { name: 'edge', sectionName: 'narrow' },
    hostnames: ['broken.corp.test'],
    rules: [
      at('missing', '/first'),
      at('good', '/first'),
      {
        matches: [{ path: { value: '/guarded' } }],
        filters: [{ type: 'ExtensionRef', extensionRef: { group: 'example.com', kind: 'Guard', name: 'x' } }],
        backendRefs: [backendRef('good')],
      },
      at('good', '/'),
    ],
  }),
];

/** A ListenerSet of another namespace: a name on the Gateway's port, and a port of its own. */
const ofTeam = (teamPort: number): Doc[] => [
  {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'ListenerSet',
    metadata: { name: 'extra', namespace: 'team' },
    spec: {
      parentRef: { name: 'edge', namespace: 'default' },
      listeners: [httpListener(ports.names, 'name', 'team.example.org'), httpListener(ports.set, 'own')],
    },
  },
  named(httpRoute('team', { parent: { kind: 'ListenerSet', name: 'extra' }, rules: [at('team', '/')] }), {
    namespace: 'team',
  }),
  named(backend('team', teamPort), { namespace: 'team' }),
];

const edge = (from: 'All' | 'None'): Doc => {
  const { spec, ...rest } = gateway('edge', [
    httpListener(ports.names, 'any'),
    httpListener(ports.names, 'wide', '*.example.com'),
    httpListener(ports.names, 'deep', '*.foo.example.com'),
    httpListener(ports.names, 'exact', 'abc.foo.example.com'),
    httpListener(ports.narrow, 'narrow', '*.corp.test'),
    tcpListener(ports.raw, 'raw'),
  ]);
  return { ...rest, spec: { ...(spec as Doc), allowedListeners: { namespaces: { from } } } };
};

beforeAll(async () => {
  for (const key of Object.keys(ports) as (keyof typeof ports)[]) ports[key] = await freePort();
  const http = await Promise.all(NAMES.map((name) => httpBackend(name)));
  const [first, second] = [
    await tcpBackend((socket) => socket.end('first')),
    await tcpBackend((socket) => socket.end('second')),
  ];
  instance = await Instance.start({
    files: {
      'edge.yaml': yaml(edge('All')),
      'rest.yaml': yaml(
        gatewayClass(),
        ...byHostname(),
        ...narrowed(),
        ...ofTeam(http[NAMES.indexOf('team')]?.port ?? 0),
        named(tcpRoute('alpha', [backendRef('second')], 'raw'), { creationTimestamp: '2026-02-01T00:00:00Z' }),
        named(tcpRoute('zeta', [backendRef('first')], 'raw'), { creationTimestamp: '2026-01-01T00:00:00Z' }),
        backend('first', first.port),
        backend('second', second.port),
        ...NAMES.map((name, index) => backend(name, http[index]?.port ?? 0)),
      ),
    },
  });
});

/** The backend that answered, or our own status. */
async function reached(listener: 'names' | 'narrow' | 'set', host: string, path: string): Promise<string> {
  const { status, headers } = await ask(ports[listener], { host, path });
  return String(headers['x-backend'] ?? status);
}

/** What a TCP client reads until the end. */
function read(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1');
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.once('error', reject);
    socket.once('end', () => resolve(text));
  });
}

each([
  { host: 'bar.com', takes: 'any' },
  { host: 'example.com', takes: 'any' },
  { host: 'bar.example.com', takes: 'wide' },
  { host: 'foo.example.com', takes: 'wide' },
  { host: 'bar.foo.example.com', takes: 'deep' },
  { host: 'a.b.foo.example.com', takes: 'deep' },
  { host: 'abc.foo.example.com', takes: 'exact' },
])('a request for $host is served by the routes of listener $takes and by no others', async ({ host, takes }) => {
  for (const name of ['any', 'wide', 'deep', 'exact']) {
    expect(await reached('names', host, `/${name}`)).toBe(name === takes ? name : '404');
  }
});

each([
  { host: 'a.corp.test', path: '/only', to: 'young' },
  { host: 'a.corp.test', path: '/only/deep', to: 'young' },
  { host: 'a.corp.test', path: '/rest', to: 'old' },
  { host: 'b.corp.test', path: '/only', to: 'old' },
  { host: 'a.other.test', path: '/only', to: '404' },
])('of routes that a listener narrows, $host$path reaches $to', async ({ host, path, to }) => {
  expect(await reached('narrow', host, path)).toBe(to);
});

each([
  { path: '/first', to: '500' },
  { path: '/first/more', to: '500' },
  { path: '/guarded', to: '500' },
  { path: '/other', to: 'good' },
])('a rule that leads nowhere keeps its place: $path is $to', async ({ path, to }) => {
  expect(await reached('narrow', 'broken.corp.test', path)).toBe(to);
});

test('of two TCPRoutes on a listener the older one has every connection', async () => {
  const got = await Promise.all(Array.from({ length: 20 }, () => read(ports.raw)));
  expect(new Set(got)).toEqual(new Set(['first']));
});

test('listeners of a ListenerSet serve its routes on the addresses of the Gateway, and no routes of the Gateway', async () => {
  expect(await reached('names', 'team.example.org', '/')).toBe('team');
  expect(await reached('names', 'team.example.org', '/any')).toBe('team');
  expect(await reached('set', 'whatever.test', '/')).toBe('team');
});

test('a ListenerSet that the Gateway no longer allows is shut, and its name falls to the listener without one', async () => {
  instance.write('edge.yaml', yaml(edge('None')));
  expect((await instance.reload()).status).toBe(0);
  expect(await reached('names', 'team.example.org', '/')).toBe('404');
  expect(await reached('names', 'team.example.org', '/any')).toBe('any');
  await expect(ask(ports.set, { host: 'whatever.test' })).rejects.toThrow(/ECONNREFUSED/);
});
