/**
 * What a data plane lacks is answered as the specification answers what is not supported, never served in part and never left out in
 * silence: every capability is taken away once, and the conditions that change are compared.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { admitSnapshot, admitText } from '../../../src/admit/index.js';
import { ALL_CAPABILITIES, type Capability } from '../../../src/model/capabilities.js';
import { plan } from '../../../src/pipeline.js';
import { FACTS } from '../../support/build.js';

const GOLDEN = new URL('../../golden/', import.meta.url);
const read = (file: string): string => readFileSync(fileURLToPath(new URL(file, GOLDEN)), 'utf8');

const API = 'apiVersion: gateway.networking.k8s.io/v1';
const BACKEND = '{ group: weirgate.dev, kind: Backend, name: a }';
const route = (name: string, rule: string): string =>
  `${API}\nkind: HTTPRoute\nmetadata: { name: ${name} }\nspec: { parentRefs: [{ name: edge, sectionName: http }], rules: [{ ${rule} }] }`;
const filtered = (type: string, field: string): string =>
  route(type.toLowerCase(), `filters: [{ type: ${type}, ${field} }], backendRefs: [${BACKEND}]`);

/** Asks for everything. */
const EVERYTHING = [
  `${API}
kind: Gateway
metadata: { name: edge }
spec:
  gatewayClassName: weirgate
  tls:
    backend: { clientCertificateRef: { name: client } }
    frontend: { default: { validation: { caCertificateRefs: [{ group: "", kind: ConfigMap, name: authority }] } } }
  listeners:
    - { name: http, protocol: HTTP, port: 80 }
    - { name: https, protocol: HTTPS, port: 443, tls: { certificateRefs: [{ name: shop }] } }
    - { name: pass, protocol: TLS, port: 8443, tls: { mode: Passthrough } }
    - { name: end, protocol: TLS, port: 8444, tls: { mode: Terminate, certificateRefs: [{ name: shop }] } }
    - { name: raw, protocol: TCP, port: 9000 }
    - { name: dns, protocol: UDP, port: 53 }`,
  `${API}\nkind: GRPCRoute\nmetadata: { name: grpc }\nspec: { parentRefs: [{ name: edge, sectionName: http }], rules: [{ backendRefs: [${BACKEND}] }] }`,
  route('query', `matches: [{ queryParams: [{ name: a, value: b }] }], backendRefs: [${BACKEND}]`),
  route('pattern', `matches: [{ path: { type: RegularExpression, value: "/a.*" } }], backendRefs: [${BACKEND}]`),
  filtered('RequestHeaderModifier', 'requestHeaderModifier: { remove: [a] }'),
  filtered('ResponseHeaderModifier', 'responseHeaderModifier: { remove: [a] }'),
  route('requestredirect', 'filters: [{ type: RequestRedirect, requestRedirect: { hostname: a.test } }]'),
  filtered('URLRewrite', 'urlRewrite: { hostname: a.test }'),
  filtered('RequestMirror', `requestMirror: { backendRef: ${BACKEND} }`),
  filtered('CORS', 'cors: { allowOrigins: ["*"] }'),
  filtered('ExternalAuth', `externalAuth: { protocol: HTTP, backendRef: ${BACKEND}, http: {} }`),
  route(
    'own',
    'backendRefs: [{ group: weirgate.dev, kind: Backend, name: a, filters: [{ type: URLRewrite, urlRewrite: { hostname: a.test } }] }]',
  ),
  route('retry', `retry: { codes: [500] }, backendRefs: [${BACKEND}]`),
  route('sticky', `sessionPersistence: { cookie: {} }, backendRefs: [${BACKEND}]`),
  route('h2c', 'backendRefs: [{ name: web, port: 80 }]'),
  route('secure', 'backendRefs: [{ name: web, port: 443 }]'),
  'apiVersion: v1\nkind: Service\nmetadata: { name: web }\nspec: { ports: [{ name: h2c, port: 80, appProtocol: kubernetes.io/h2c }, { name: secure, port: 443 }] }',
  `${API}
kind: BackendTLSPolicy
metadata: { name: secure }
spec:
  targetRefs: [{ group: "", kind: Service, name: web, sectionName: secure }]
  validation: { hostname: a.test, wellKnownCACertificates: System }`,
  ...['base.yaml', 'certificates/shop.yaml', 'certificates/client.yaml', 'certificates/authority.yaml'].map(read),
].join('\n---\n');

const snapshot = admitSnapshot([admitText('input.yaml', EVERYTHING)]);

/** `object: Type=Status/Reason` for each condition, with the listener or nothing. */
function conditionsOf(capabilities: Iterable<Capability>): Set<string> {
  const { status } = plan(snapshot, FACTS, new Set(capabilities));
  return new Set(
    status.flatMap(({ kind, name, status: { conditions = [], listeners = [], parents = [], ancestors = [] } }) =>
      [
        { at: `${kind} ${name}`, conditions },
        ...listeners.map((listener) => ({ at: `listener ${listener.name}`, conditions: listener.conditions })),
        ...[...parents, ...ancestors].map((entry) => ({ at: `${kind} ${name}`, conditions: entry.conditions })),
      ].flatMap((list) => list.conditions.map(({ type, status: is, reason }) => `${list.at}: ${type}=${is}/${reason}`)),
    ),
  );
}

const complete = conditionsOf(ALL_CAPABILITIES);
const unserved = (name: string): string[] => [`HTTPRoute ${name}: Accepted=False/UnsupportedValue`];
const unknown = (listener: string): string[] => [
  'Gateway edge: Accepted=True/ListenersNotValid',
  `listener ${listener}: Accepted=False/UnsupportedProtocol`,
  `listener ${listener}: Programmed=False/Invalid`,
];

it('everything is asked for and nothing is refused', () => {
  expect(snapshot.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect([...complete].filter((line) => /=False\/(?!NoConflicts)/.test(line))).toEqual([]);
});

it.each<[Capability, string[]]>([
  ['protocol/HTTPS', unknown('https')],
  ['protocol/TLS', [...unknown('end'), ...unknown('pass').slice(1)]],
  ['protocol/TCP', unknown('raw')],
  ['protocol/UDP', unknown('dns')],
  [
    'tls/passthrough',
    [
      'Gateway edge: Accepted=True/ListenersNotValid',
      'listener pass: Accepted=False/UnsupportedValue',
      'listener pass: Programmed=False/Invalid',
    ],
  ],
  [
    'tls/terminate',
    [
      'Gateway edge: Accepted=True/ListenersNotValid',
      'listener end: Accepted=False/UnsupportedValue',
      'listener end: Programmed=False/Invalid',
    ],
  ],
  [
    'tls/clientValidation',
    [
      'Gateway edge: Accepted=True/ListenersNotValid',
      'listener https: Accepted=False/UnsupportedValue',
      'listener https: Programmed=False/Invalid',
    ],
  ],
  ['route/GRPCRoute', ['GRPCRoute grpc: Accepted=False/NotAllowedByListeners']],
  ['match/queryParams', unserved('query')],
  ['match/regularExpression', unserved('pattern')],
  ['filter/RequestHeaderModifier', unserved('requestheadermodifier')],
  ['filter/ResponseHeaderModifier', unserved('responseheadermodifier')],
  ['filter/RequestRedirect', unserved('requestredirect')],
  ['filter/URLRewrite', [...unserved('own'), ...unserved('urlrewrite')]],
  ['filter/RequestMirror', unserved('requestmirror')],
  ['filter/CORS', unserved('cors')],
  ['filter/ExternalAuth', unserved('externalauth')],
  ['filter/backendRefs', unserved('own')],
  ['rule/retry', unserved('retry')],
  ['rule/sessionPersistence', unserved('sticky')],
  ['upstream/http2', ['HTTPRoute h2c: ResolvedRefs=False/UnsupportedProtocol']],
  ['upstream/tls', ['BackendTLSPolicy secure: Accepted=False/Invalid']],
  // The API has no condition for it: what endpoints do not see they can ask for, and check says so.
  ['upstream/clientCertificate', []],
])('without %s', (missing, expected) => {
  const changed = [...conditionsOf(ALL_CAPABILITIES.filter((capability) => capability !== missing))];
  expect(changed.filter((line) => !complete.has(line)).sort()).toEqual(expected.sort());
});

it('a client certificate that no endpoint will see is told', () => {
  const capabilities = new Set(ALL_CAPABILITIES.filter((name) => name !== 'upstream/clientCertificate'));
  const { diagnostics, ir } = plan(snapshot, FACTS, capabilities);
  expect(diagnostics.filter(({ code }) => code === 'WG4007').map(({ path }) => path)).toEqual([
    'spec.tls.backend.clientCertificateRef',
  ]);
  expect(ir.listeners.filter(({ clientCertificate }) => clientCertificate !== undefined)).toEqual([]);
});

it('a backend whose TLS cannot be carried out is never spoken to in clear text', () => {
  const { ir } = plan(snapshot, FACTS, new Set(ALL_CAPABILITIES.filter((name) => name !== 'upstream/tls')));
  const action = ir.actions.find(({ name }) => name === 'HTTPRoute/default/secure/0');
  expect(action?.backends).toEqual([{ kind: 'invalid', weight: 1, status: 500 }]);
});
