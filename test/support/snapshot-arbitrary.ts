/**
 * Random configurations over small alphabets, so that hostnames, ports, names and references meet often.
 * Objects come as plain data; JSON is YAML, so a file is their texts with `---` between. Serves the property tests.
 */
import fc from 'fast-check';

/** An object as a user writes it. */
export interface WrittenObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly creationTimestamp?: string };
  readonly spec: unknown;
}

const GATEWAY_API = 'gateway.networking.k8s.io/v1';
const OURS = 'weirgate.dev/v1alpha1';

export const gatewayClass: WrittenObject = {
  apiVersion: GATEWAY_API,
  kind: 'GatewayClass',
  metadata: { name: 'weirgate' },
  spec: { controllerName: 'weirgate.dev/gateway-controller' },
};

const hostname = fc.constantFrom('a.test', 'b.a.test', '*.a.test', '*.b.a.test', '*.test', 'c.test');
const namespace = fc.constantFrom('default', 'other');
const created = fc.constantFrom('2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', undefined);
const backendName = fc.constantFrom('a', 'b', 'missing');

const metadata = (names: readonly string[]): fc.Arbitrary<WrittenObject['metadata']> =>
  fc
    .record({ name: fc.constantFrom(...names), namespace, creationTimestamp: created })
    .map(({ creationTimestamp, ...rest }) => ({ ...rest, ...(creationTimestamp && { creationTimestamp }) }));

const listener = fc
  .record({
    protocol: fc.constantFrom('HTTP', 'HTTP', 'HTTP', 'TCP', 'UDP', 'example.com/odd'),
    port: fc.constantFrom(80, 81),
    hostname: fc.option(hostname, { nil: undefined }),
    from: fc.constantFrom('Same', 'All'),
  })
  .map(({ protocol, port, hostname: own, from }) => ({
    protocol,
    port,
    ...(own !== undefined && protocol === 'HTTP' && { hostname: own }),
    allowedRoutes: { namespaces: { from } },
  }));

const gateway = fc
  .record({
    metadata: metadata(['edge', 'inner']),
    listeners: fc.array(listener, { minLength: 1, maxLength: 4 }),
    address: fc.constantFrom(undefined, '192.0.2.10', '127.0.0.1', '203.0.113.1'),
    allowed: fc.constantFrom('None', 'Same', 'All'),
  })
  .map(({ metadata: meta, listeners, address, allowed }) => ({
    apiVersion: GATEWAY_API,
    kind: 'Gateway',
    metadata: meta,
    spec: {
      gatewayClassName: 'weirgate',
      ...(address !== undefined && { addresses: [{ value: address }] }),
      allowedListeners: { namespaces: { from: allowed } },
      listeners: listeners.map((spec, index) => ({ ...spec, name: `l${index}` })),
    },
  }));

/** Always there, so that most routes have something to attach to. */
const edge = fc.array(listener, { maxLength: 3 }).map((listeners) => ({
  apiVersion: GATEWAY_API,
  kind: 'Gateway',
  metadata: { name: 'edge', namespace: 'default' },
  spec: {
    gatewayClassName: 'weirgate',
    allowedListeners: { namespaces: { from: 'All' } },
    listeners: [
      { name: 'l0', protocol: 'HTTP', port: 8080, allowedRoutes: { namespaces: { from: 'All' } } },
      { name: 'l1', protocol: 'TCP', port: 9000, allowedRoutes: { namespaces: { from: 'All' } } },
      ...listeners.map((spec, index) => ({ ...spec, name: `l${index + 2}` })),
    ],
  },
}));

const listenerSet = fc
  .record({
    metadata: metadata(['s1', 's2']),
    parentRef: fc.record({ name: fc.constantFrom('edge', 'edge', 'inner', 'absent'), namespace }),
    listeners: fc.array(listener, { minLength: 1, maxLength: 3 }),
  })
  .map(({ metadata: meta, parentRef, listeners }) => ({
    apiVersion: GATEWAY_API,
    kind: 'ListenerSet',
    metadata: meta,
    spec: { parentRef, listeners: listeners.map((spec, index) => ({ ...spec, name: `l${index}` })) },
  }));

const parentRefs = fc
  .record({
    name: fc.constantFrom('edge', 'edge', 'edge', 'inner', 'absent'),
    namespace: fc.constantFrom('default', 'default', 'other'),
    sectionName: fc.constantFrom(undefined, undefined, 'l0', 'l3'),
  })
  .chain(({ sectionName, ...gateway }) =>
    fc
      .constantFrom(gateway, gateway, gateway, { ...gateway, kind: 'ListenerSet', name: 's1' })
      .map((parent) => [{ ...parent, ...(sectionName && { sectionName }) }]),
  );

const backendRef = fc.record({
  group: fc.constant('weirgate.dev'),
  kind: fc.constant('Backend'),
  name: backendName,
  namespace,
  weight: fc.constantFrom(0, 1, 3),
});

/** A match that the data plane carries out. */
export const servedMatch = fc
  .record({
    path: fc.record({
      type: fc.constantFrom('Exact', 'PathPrefix'),
      value: fc.constantFrom('/', '/a', '/a/b', '/a/', '/ab'),
    }),
    method: fc.constantFrom(undefined, 'GET', 'POST'),
    headers: fc.subarray([
      { name: 'X-One', value: '1' },
      { name: 'x-two', value: '2' },
    ]),
  })
  .map(({ method, ...rest }) => ({ ...rest, ...(method && { method }) }));

const rule = fc
  .record({
    matches: fc.array(servedMatch, { minLength: 1, maxLength: 3 }),
    backendRefs: fc.array(backendRef, { maxLength: 2 }),
    isUnserved: fc.constantFrom(false, false, false, true),
  })
  .map(({ isUnserved, ...rest }) => ({ ...rest, ...(isUnserved && { retry: { attempts: 1 } }) }));

const httpRoute = fc
  .record({
    metadata: metadata(['r1', 'r2', 'r3', 'r4', 'r5']),
    parentRefs,
    hostnames: fc.uniqueArray(hostname, { maxLength: 3 }),
    rules: fc.array(rule, { minLength: 1, maxLength: 3 }),
  })
  .map(({ metadata: meta, ...spec }) => ({ apiVersion: GATEWAY_API, kind: 'HTTPRoute', metadata: meta, spec }));

const tcpRoute = fc
  .record({
    metadata: metadata(['t1', 't2']),
    parentRefs,
    backendRefs: fc.array(backendRef, { minLength: 1, maxLength: 2 }),
  })
  .map(({ metadata: meta, parentRefs: parents, backendRefs }) => ({
    apiVersion: GATEWAY_API,
    kind: 'TCPRoute',
    metadata: meta,
    spec: { parentRefs: parents, rules: [{ backendRefs }] },
  }));

const backend = fc.record({ name: fc.constantFrom('a', 'b'), namespace }).map((meta) => ({
  apiVersion: OURS,
  kind: 'Backend',
  metadata: meta,
  spec: { endpoints: [{ address: meta.name === 'a' ? '10.0.0.1' : '10.0.0.2', port: 80 }] },
}));

const policy = fc.record({ metadata: metadata(['p1', 'p2']), name: backendName }).map(({ metadata: meta, name }) => ({
  apiVersion: OURS,
  kind: 'BackendPolicy',
  metadata: meta,
  spec: { targetRefs: [{ group: 'weirgate.dev', kind: 'Backend', name }], healthCheck: { type: 'TCP' } },
}));

const grant = fc.record({ namespace, from: namespace }).map(({ namespace: own, from }) => ({
  apiVersion: GATEWAY_API,
  kind: 'ReferenceGrant',
  metadata: { name: `from-${from}`, namespace: own },
  spec: {
    from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: from }],
    to: [{ group: 'weirgate.dev', kind: 'Backend' }],
  },
}));

const anything: fc.Arbitrary<WrittenObject> = fc.oneof(
  { weight: 2, arbitrary: gateway },
  { weight: 2, arbitrary: listenerSet },
  { weight: 5, arbitrary: httpRoute },
  { weight: 2, arbitrary: tcpRoute },
  { weight: 2, arbitrary: backend },
  { weight: 1, arbitrary: policy },
  { weight: 1, arbitrary: grant },
);

/** A class of ours, a Gateway, and up to 14 objects more; each name once. */
export const arbitraryObjects: fc.Arbitrary<readonly WrittenObject[]> = fc
  .tuple(edge, fc.uniqueArray(anything, { maxLength: 14, selector: identityOf }))
  .map(([first, rest]) => [gatewayClass, first, ...rest.filter((object) => identityOf(object) !== identityOf(first))]);

/** Kind and name: what makes an object the same one. */
export function identityOf({ kind, metadata: { namespace: own = 'default', name } }: WrittenObject): string {
  return `${kind} ${own}/${name}`;
}

/** Returns the text of one file with these objects. */
export function textOf(objects: readonly WrittenObject[]): string {
  return objects.map((object) => JSON.stringify(object, undefined, 1)).join('\n---\n');
}
