/**
 * Random routes of all five kinds beside one Gateway with a listener of each protocol: right and wrong values of every field, so that
 * rules are dropped, references lead nowhere and kinds meet listeners that do not take them. Serves the property tests.
 */
import fc from 'fast-check';
import type { WrittenObject } from './snapshot-arbitrary.js';

const GATEWAY_API = 'gateway.networking.k8s.io/v1';

const LISTENERS = [
  { name: 'http', protocol: 'HTTP', port: 80 },
  { name: 'named', protocol: 'HTTP', port: 80, hostname: '*.a.test' },
  { name: 'https', protocol: 'HTTPS', port: 443, hostname: 'a.test', tls: { certificateRefs: [{ name: 'missing' }] } },
  { name: 'pass', protocol: 'TLS', port: 443, hostname: '*.a.test', tls: { mode: 'Passthrough' } },
  { name: 'end', protocol: 'TLS', port: 8443, tls: { mode: 'Terminate', certificateRefs: [{ name: 'missing' }] } },
  { name: 'tcp', protocol: 'TCP', port: 9000 },
  { name: 'udp', protocol: 'UDP', port: 9000 },
] as const;

/** What the routes meet: a class, a Gateway, backends and a Service with ports of many protocols. */
export const SURROUNDINGS: readonly WrittenObject[] = [
  {
    apiVersion: GATEWAY_API,
    kind: 'GatewayClass',
    metadata: { name: 'weirgate' },
    spec: { controllerName: 'weirgate.dev/gateway-controller' },
  },
  {
    apiVersion: GATEWAY_API,
    kind: 'Gateway',
    metadata: { name: 'edge', namespace: 'default' },
    spec: { gatewayClassName: 'weirgate', defaultScope: 'All', listeners: LISTENERS },
  },
  {
    apiVersion: 'weirgate.dev/v1alpha1',
    kind: 'Backend',
    metadata: { name: 'a', namespace: 'default' },
    spec: { endpoints: [{ address: '10.0.0.1', port: 80 }] },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's', namespace: 'default' },
    spec: {
      ports: [
        { name: 'h2c', port: 80, appProtocol: 'kubernetes.io/h2c' },
        { name: 'ws', port: 81, appProtocol: 'kubernetes.io/ws' },
        { name: 'https', port: 82, appProtocol: 'https' },
        { name: 'udp', port: 80, protocol: 'UDP' },
      ],
    },
  },
];

const hostname = fc.constantFrom('a.test', 'b.a.test', '*.a.test', '*.b.a.test', '*.test', 'c.test');
const pattern = fc.constantFrom('a', '/v[0-9]+', '(?i)A', '(', '(?=a)', '(a)\\1', '[z-a]', 'a{2,1}', '\\p{Greek}');

const backendObject = fc.constantFrom(
  { group: 'weirgate.dev', kind: 'Backend', name: 'a' },
  { name: 's', port: 80 },
  { name: 's', port: 81 },
  { name: 's', port: 82 },
  { name: 's', port: 99 },
  { name: 'missing', port: 80 },
  { name: 's', namespace: 'other', port: 80 },
  { group: 'example.com', kind: 'Bucket', name: 'x' },
);

const valueMatch = (names: readonly string[]) =>
  fc.uniqueArray(
    fc.oneof(
      fc.record({ name: fc.constantFrom(...names), value: fc.constantFrom('1', '2') }),
      fc.record({ name: fc.constantFrom(...names), value: pattern, type: fc.constant('RegularExpression') }),
    ),
    { maxLength: 2, selector: ({ name }) => name },
  );

const headers = valueMatch(['X-One', 'x-one', 'x-two']);

const httpMatch = fc.record({
  path: fc.oneof(
    fc.record({
      type: fc.constantFrom('Exact', 'PathPrefix'),
      value: fc.constantFrom('/', '/a', '/a/', '/a/b'),
    }),
    fc.record({ type: fc.constant('RegularExpression'), value: pattern }),
  ),
  headers,
  queryParams: valueMatch(['q', 'Q']),
});

const grpcMatch = fc.oneof(
  fc.constant({}),
  fc.record({
    method: fc.constantFrom(
      { service: 'shop.Cart', method: 'Add' },
      { service: 'shop.Cart' },
      { method: 'Add' },
      { type: 'RegularExpression', service: 'shop.*', method: '(' },
      { type: 'RegularExpression', method: 'A.*' },
    ),
    headers,
  }),
);

const path = fc.constantFrom(
  { type: 'ReplaceFullPath', replaceFullPath: '/new' },
  { type: 'ReplaceFullPath', replaceFullPath: 'new' },
  { type: 'ReplaceFullPath', replaceFullPath: '/new path' },
);

const sharedFilter = fc.oneof(
  fc.record({
    type: fc.constant('RequestHeaderModifier'),
    requestHeaderModifier: fc.record({
      set: fc.constantFrom([], [{ name: 'X-One', value: '1' }], [{ name: 'Host', value: 'a' }]),
      remove: fc.constantFrom([], ['x-one'], ['Connection']),
    }),
  }),
  backendObject.map((backendRef) => ({ type: 'RequestMirror', requestMirror: { backendRef, percent: 50 } })),
  fc.constant({ type: 'ExtensionRef', extensionRef: { group: 'example.com', kind: 'Filter', name: 'x' } }),
);

const httpFilter = fc.oneof(
  { weight: 2, arbitrary: sharedFilter },
  { weight: 1, arbitrary: path.map((changed) => ({ type: 'URLRewrite', urlRewrite: { path: changed } })) },
  { weight: 1, arbitrary: path.map((changed) => ({ type: 'RequestRedirect', requestRedirect: { path: changed } })) },
  { weight: 1, arbitrary: fc.constant({ type: 'CORS', cors: { allowOrigins: ['https://a.test:443'] } }) },
  {
    weight: 1,
    arbitrary: backendObject.map((backendRef) => ({
      type: 'ExternalAuth',
      externalAuth: { protocol: 'HTTP', backendRef, http: {} },
    })),
  },
);

/** A filter of a kind stands once, as the schema wants it. */
const filtersOf = (filter: typeof sharedFilter | typeof httpFilter) =>
  fc.uniqueArray(filter as fc.Arbitrary<{ readonly type: string }>, { maxLength: 2, selector: ({ type }) => type });

const weighted = (filter: Parameters<typeof filtersOf>[0]) =>
  fc.array(
    fc
      .tuple(backendObject, fc.constantFrom(0, 1, 3), filtersOf(filter))
      .map(([reference, weight, filters]) => ({ ...reference, weight, ...(filters.length > 0 && { filters }) })),
    { maxLength: 2 },
  );

const httpRule = fc
  .record({
    matches: fc.array(httpMatch, { minLength: 1, maxLength: 3 }),
    filters: filtersOf(httpFilter),
    backendRefs: weighted(httpFilter),
    retry: fc.option(fc.constantFrom({}, { attempts: 0 }, { codes: [503, 500], backoff: '1s' }), { nil: undefined }),
    sessionPersistence: fc.option(fc.constantFrom({ cookie: {} }, { cookie: { path: '/;' } }), { nil: undefined }),
  })
  .map(({ backendRefs, ...rule }) => ({
    ...rule,
    // A redirect beside backends is refused by the schema, which would leave nothing to resolve.
    backendRefs: rule.filters.some(({ type }) => type === 'RequestRedirect') ? [] : backendRefs,
  }));

const grpcRule = fc.record({
  matches: fc.array(grpcMatch, { maxLength: 3 }),
  filters: filtersOf(sharedFilter),
  backendRefs: weighted(sharedFilter),
});

const streamRule = fc.record({
  backendRefs: fc.array(
    fc.tuple(backendObject, fc.constantFrom(0, 1, 3)).map(([reference, weight]) => ({ ...reference, weight })),
    { minLength: 1, maxLength: 2 },
  ),
});

/** Each parentRef names one listener, so that what is told about a parent is about that listener alone. */
const parentRefs = fc
  .uniqueArray(fc.constantFrom(...LISTENERS.map(({ name }) => name), 'absent'), { minLength: 1, maxLength: 4 })
  .map((sections) => sections.map((sectionName) => ({ name: 'edge', sectionName })));

const metadata = fc.record({
  name: fc.constantFrom('r1', 'r2', 'r3'),
  namespace: fc.constantFrom('default', 'default', 'default', 'other'),
});

const KINDS = {
  HTTPRoute: {
    hostnames: fc.uniqueArray(hostname, { maxLength: 2 }),
    rules: fc.array(httpRule, { minLength: 1, maxLength: 3 }),
  },
  GRPCRoute: { hostnames: fc.uniqueArray(hostname, { maxLength: 2 }), rules: fc.array(grpcRule, { maxLength: 3 }) },
  TLSRoute: {
    hostnames: fc.uniqueArray(hostname, { minLength: 1, maxLength: 3 }),
    rules: fc.array(streamRule, { minLength: 1, maxLength: 1 }),
  },
  TCPRoute: { rules: fc.array(streamRule, { minLength: 1, maxLength: 1 }) },
  UDPRoute: { rules: fc.array(streamRule, { minLength: 1, maxLength: 1 }) },
} as const;

const route: fc.Arbitrary<WrittenObject> = fc.oneof(
  ...Object.entries(KINDS).map(([kind, fields]) =>
    fc
      .record({ metadata, spec: fc.record({ parentRefs, ...(fields as Record<string, fc.Arbitrary<unknown>>) }) })
      .map((rest) => ({ apiVersion: GATEWAY_API, kind, ...rest })),
  ),
);

/** Up to ten routes, each name once. */
export const arbitraryRoutes: fc.Arbitrary<readonly WrittenObject[]> = fc.uniqueArray(route, {
  minLength: 1,
  maxLength: 10,
  selector: ({ kind, metadata: { namespace, name } }) => `${kind} ${namespace}/${name}`,
});
