/**
 * Rules of the kinds: for each what breaks it, and next to it what does not.
 */
import { describe, expect, it } from 'vitest';
import { admitText } from '../../src/admit/index.js';

const GATEWAY_API = 'gateway.networking.k8s.io/v1';

/** `code path` of all faults of one object, and its warnings with a `?`. */
function faults(apiVersion: string, kind: string, spec: string): string[] {
  const text = `{apiVersion: ${apiVersion}, kind: ${kind}, metadata: {name: x}, ${spec}}`;
  return admitText('input.yaml', text).diagnostics.map(
    ({ severity, code, path }) => `${severity === 'warning' ? '?' : ''}${code} ${path}`,
  );
}

type Case = readonly [name: string, spec: string, ...faults: string[]];

function gateway(listeners: string, rest = ''): string {
  return `spec: {gatewayClassName: w, listeners: [${listeners}]${rest}}`;
}

const HTTP = '{name: a, port: 80, protocol: HTTP}';

describe('Gateway', () => {
  it.each<Case>([
    [
      'an address is an address',
      gateway(
        HTTP,
        ', addresses: [{value: 192.0.2.1}, {value: "::1"}, {type: IPAddress}, {type: Hostname, value: a.b}, {type: a.b/c, value: x}]',
      ),
    ],
    [
      'text is no address',
      gateway(HTTP, ', addresses: [{value: 192.0.2}, {value: ""}]'),
      'WG3101 spec.addresses[0].value',
      'WG3101 spec.addresses[1].value',
    ],
    [
      'a host name is a host name',
      gateway(HTTP, ', addresses: [{type: Hostname, value: A_b}]'),
      'WG3101 spec.addresses[0].value',
    ],
    [
      'an address is there once',
      gateway(HTTP, ', addresses: [{value: 192.0.2.1}, {value: 192.0.2.1}, {}, {}]'),
      'WG3102 spec.addresses[1]',
    ],
    [
      'routability is known or ours',
      gateway(
        HTTP,
        ', addresses: [{routability: Cluster}, {routability: a.b/c}, {routability: x}, {routability: k8s.io/x}]',
      ),
      'WG3103 spec.addresses[2].routability',
      'WG3103 spec.addresses[3].routability',
    ],
    ['HTTP has no tls', gateway('{name: a, port: 80, protocol: HTTP, tls: {}}'), 'WG3110 spec.listeners[0].tls'],
    ['TCP has no tls', gateway('{name: a, port: 80, protocol: TCP, tls: {}}'), 'WG3110 spec.listeners[0].tls'],
    ['UDP has no tls', gateway('{name: a, port: 80, protocol: UDP, tls: {}}'), 'WG3110 spec.listeners[0].tls'],
    [
      'HTTPS does not pass through',
      gateway('{name: a, port: 80, protocol: HTTPS, tls: {mode: Passthrough}}'),
      'WG3111 spec.listeners[0].tls.mode',
    ],
    ['HTTPS without tls passes, as in the API', gateway('{name: a, port: 80, protocol: HTTPS}')],
    ['TLS has tls', gateway('{name: a, port: 80, protocol: TLS}'), 'WG3112 spec.listeners[0].tls'],
    [
      'TLS passes through without certificates',
      gateway('{name: a, port: 80, protocol: TLS, tls: {mode: Passthrough}}'),
    ],
    [
      'Terminate needs a certificate',
      gateway('{name: a, port: 80, protocol: TLS, tls: {mode: Terminate}}'),
      'WG3113 spec.listeners[0].tls',
    ],
    [
      'Terminate takes a certificate',
      gateway('{name: a, port: 80, protocol: HTTPS, tls: {certificateRefs: [{name: c}]}}'),
    ],
    ['Terminate takes options', gateway('{name: a, port: 80, protocol: HTTPS, tls: {options: {a.b/c: d}}}')],
    [
      'TCP has no hostname',
      gateway('{name: a, port: 80, protocol: TCP, hostname: a.b}'),
      'WG3114 spec.listeners[0].hostname',
    ],
    [
      'UDP has no hostname',
      gateway('{name: a, port: 80, protocol: UDP, hostname: a.b}'),
      'WG3114 spec.listeners[0].hostname',
    ],
    ['listeners are distinct', gateway(`${HTTP}, {name: b, port: 80, protocol: HTTP}`), 'WG3115 spec.listeners[1]'],
    ['a hostname tells listeners apart', gateway(`${HTTP}, {name: b, port: 80, protocol: HTTP, hostname: a.b}`)],
    ['a protocol tells listeners apart, here', gateway(`${HTTP}, {name: b, port: 80, protocol: TCP}`)],
    [
      'listener names are distinct',
      gateway(`${HTTP}, {name: a, port: 81, protocol: HTTP}`),
      'WG2109 spec.listeners[1]',
    ],
    [
      'ports of frontend validation are distinct',
      gateway(HTTP, ', tls: {frontend: {default: {}, perPort: [{port: 443, tls: {}}, {port: 443, tls: {}}]}}'),
      'WG2109 spec.tls.frontend.perPort[1]',
    ],
    [
      'TCP has no filters',
      gateway('{name: a, port: 80, protocol: TCP, filters: {requests: []}}'),
      'WG3116 spec.listeners[0].filters',
    ],
    [
      'a listener filter has the field of its type',
      gateway('{name: a, port: 80, protocol: HTTP, filters: {requests: [{type: ExtensionRef}]}}'),
      'WG3116 spec.listeners[0].filters.requests[0].extensionRef',
    ],
    [
      'a listener filter asks by its protocol, at a port',
      gateway(
        '{name: a, port: 80, protocol: HTTP, filters: {requests: [{type: ExternalAuth, externalAuth: {protocol: HTTP, grpc: {}, backendRef: {name: a}}}]}}',
      ),
      'WG3116 spec.listeners[0].filters.requests[0].externalAuth.grpc',
      'WG3116 spec.listeners[0].filters.requests[0].externalAuth.http',
      'WG3116 spec.listeners[0].filters.requests[0].externalAuth.backendRef.port',
    ],
    [
      'labels of infrastructure are labels',
      gateway(HTTP, ', infrastructure: {labels: {-a: b}, annotations: {a.b/c: d}}'),
      'WG2107 spec.infrastructure.labels["-a"]',
    ],
  ])('%s', (_, spec, ...expected) => {
    expect(faults(GATEWAY_API, 'Gateway', spec)).toEqual(expected);
  });
});

describe('routes', () => {
  const route = (parents: string): string => `spec: {parentRefs: [${parents}]}`;
  it.each<Case>([
    ['one parent by two sections', route('{name: a, sectionName: x}, {name: a, sectionName: y}')],
    ['one parent by two ports', route('{name: a, port: 1}, {name: a, port: 2}')],
    ['one name in two namespaces', route('{name: a}, {name: a, namespace: b}')],
    [
      'one parent as a whole and by section',
      route('{name: a}, {name: a, sectionName: y}'),
      'WG3201 spec.parentRefs[1]',
    ],
    [
      'one parent by section and by port',
      route('{name: a, port: 1}, {name: a, sectionName: y}'),
      'WG3201 spec.parentRefs[1]',
    ],
    ['one parent twice', route('{name: a}, {name: a}'), 'WG3202 spec.parentRefs[1]'],
    ['one section twice', route('{name: a, sectionName: x}, {name: a, sectionName: x}'), 'WG3202 spec.parentRefs[1]'],
    ['a rule name twice', 'spec: {rules: [{name: a}, {name: a}, {}, {}]}', 'WG3203 spec.rules[1].name'],
    [
      'a Service without port',
      'spec: {rules: [{backendRefs: [{name: a}]}]}',
      'WG3204 spec.rules[0].backendRefs[0].port',
    ],
    [
      'an XBackend with port',
      'spec: {rules: [{backendRefs: [{group: gateway.networking.x-k8s.io, kind: XBackend, name: a, port: 1}]}]}',
      'WG3204 spec.rules[0].backendRefs[0].port',
    ],
    ['another kind without port', 'spec: {rules: [{backendRefs: [{group: x, kind: Service, name: a}]}]}'],
    [
      'a Backend with port',
      'spec: {rules: [{backendRefs: [{group: weirgate.dev, kind: Backend, name: a, port: 1}]}]}',
      '?WG3205 spec.rules[0].backendRefs[0].port',
    ],
    ['a Gateway of another group', route('{name: a, group: weirgate.dev}'), '?WG3206 spec.parentRefs[0].group'],
  ])('%s', (_, spec, ...expected) => {
    expect(faults(GATEWAY_API, 'HTTPRoute', spec)).toEqual(expected);
  });

  it('TCPRoute has them too, and exactly one rule', () => {
    expect(faults(GATEWAY_API, 'TCPRoute', 'spec: {rules: [{backendRefs: [{name: a}]}]}')).toEqual([
      'WG3204 spec.rules[0].backendRefs[0].port',
    ]);
    expect(
      faults(
        GATEWAY_API,
        'TCPRoute',
        'spec: {rules: [{backendRefs: [{name: a, port: 1}]}, {backendRefs: [{name: a, port: 1}]}]}',
      ),
    ).toEqual(['WG2108 spec.rules']);
    expect(faults(GATEWAY_API, 'TCPRoute', 'spec: {rules: [{backendRefs: []}]}')).toEqual([
      'WG2108 spec.rules[0].backendRefs',
    ]);
  });
});

describe('paths', () => {
  const path = (value: string, type = 'PathPrefix'): string =>
    `spec: {rules: [{matches: [{path: {type: ${type}, value: "${value}"}}]}]}`;
  it.each(['/', '/a', '/a/', '/a.b/..c', '/%20', "/-._~!$&'()*+,;=:@"])('%s is a path', (value) => {
    expect(faults(GATEWAY_API, 'HTTPRoute', path(value))).toEqual([]);
    expect(faults(GATEWAY_API, 'HTTPRoute', path(value, 'Exact'))).toEqual([]);
  });
  it.each([
    '',
    'a',
    '/a//b',
    '/a/./b',
    '/a/../b',
    '/a%2fb',
    '/a%2Fb',
    '/a#b',
    '/a/..',
    '/a/.',
    '/a b',
    '/a?b',
    '/%zz',
    '/é',
  ])('%j is none', (value) => {
    expect(faults(GATEWAY_API, 'HTTPRoute', path(value))).toEqual(['WG3301 spec.rules[0].matches[0].path.value']);
    expect(faults(GATEWAY_API, 'HTTPRoute', path(value, 'Exact'))).toEqual([
      'WG3301 spec.rules[0].matches[0].path.value',
    ]);
    expect(faults(GATEWAY_API, 'HTTPRoute', path(value, 'RegularExpression'))).toEqual([]);
  });
});

describe('HTTPRoute', () => {
  const rule = (text: string): string => `spec: {rules: [{${text}}]}`;
  const matches = (count: number): string => `{matches: [${Array(count).fill('{}').join(', ')}]}`;
  it.each<Case>([
    ['128 matches', `spec: {rules: [${matches(64)}, ${matches(64)}]}`],
    ['129 matches', `spec: {rules: [${matches(64)}, ${matches(64)}, ${matches(1)}]}`, 'WG3302 spec.rules'],
    ['one try as long as the request', rule('timeouts: {request: 1s, backendRequest: 1000ms}')],
    [
      'one try longer than the request',
      rule('timeouts: {request: 1s, backendRequest: 1001ms}'),
      'WG3303 spec.rules[0].timeouts.backendRequest',
    ],
    ['a request without limit', rule('timeouts: {request: 0s, backendRequest: 1h}')],
    [
      'a header session without header',
      rule('sessionPersistence: {type: Header}'),
      'WG3304 spec.rules[0].sessionPersistence.header',
    ],
    [
      'a permanent cookie without end',
      rule('sessionPersistence: {cookie: {lifetimeType: Permanent}}'),
      'WG3304 spec.rules[0].sessionPersistence.absoluteTimeout',
    ],
    [
      'a permanent cookie with an end',
      rule('sessionPersistence: {absoluteTimeout: 1h, cookie: {lifetimeType: Permanent}}'),
    ],
  ])('%s', (_, spec, ...expected) => {
    expect(faults(GATEWAY_API, 'HTTPRoute', spec)).toEqual(expected);
  });
});

describe('filters', () => {
  const redirect = 'type: RequestRedirect, requestRedirect: {}';
  const rewrite = 'type: URLRewrite, urlRewrite: {hostname: a.b}';
  const mirror = (text: string): string =>
    `{type: RequestMirror, requestMirror: {backendRef: {name: a, port: 1}${text}}}`;
  const modifier = (type: string, field: string): string => `{type: ${type}, ${field}: {set: [{name: a, value: b}]}}`;
  const replace = 'path: {type: ReplacePrefixMatch, replacePrefixMatch: /}';
  it.each<Case>([
    [
      'each with its field',
      `${modifier('RequestHeaderModifier', 'requestHeaderModifier')}, ${modifier('ResponseHeaderModifier', 'responseHeaderModifier')}, {${rewrite}}, ${mirror('')}, ${mirror('')}, {type: CORS, cors: {}}, {type: ExtensionRef, extensionRef: {group: a, kind: B, name: c}}, {type: ExtensionRef, extensionRef: {group: a, kind: B, name: d}}`,
    ],
    ['one without its field', '{type: CORS}', 'WG3401 @[0].cors'],
    ['one with another field', `{type: CORS, cors: {}, urlRewrite: {}}`, 'WG3401 @[0].urlRewrite'],
    [
      'header modifiers twice',
      `${modifier('RequestHeaderModifier', 'requestHeaderModifier')}, ${modifier('RequestHeaderModifier', 'requestHeaderModifier')}`,
      'WG3402 @[1]',
    ],
    ['CORS twice', '{type: CORS, cors: {}}, {type: CORS, cors: {}}', 'WG3402 @[1]'],
    ['rewrite and redirect', `{${redirect}}, {${rewrite}}`, 'WG3403 @[1]'],
    [
      'a path modifier without its field',
      '{type: URLRewrite, urlRewrite: {path: {type: ReplaceFullPath}}}',
      'WG3405 @[0].urlRewrite.path.replaceFullPath',
    ],
    [
      'a path modifier with another field',
      '{type: URLRewrite, urlRewrite: {path: {type: ReplaceFullPath, replaceFullPath: /, replacePrefixMatch: /}}}',
      'WG3405 @[0].urlRewrite.path.replacePrefixMatch',
    ],
    ['a prefix replaced', `{type: URLRewrite, urlRewrite: {${replace}}}`],
    ['percent and fraction', mirror(', percent: 1, fraction: {numerator: 1}'), 'WG3407 @[0].requestMirror.fraction'],
    ['more than everything', mirror(', fraction: {numerator: 101}'), 'WG3407 @[0].requestMirror.fraction.numerator'],
    [
      'a mirror to a Service without port',
      '{type: RequestMirror, requestMirror: {backendRef: {name: a}}}',
      'WG3408 @[0].requestMirror.backendRef.port',
    ],
    [
      'a star among others',
      '{type: CORS, cors: {allowOrigins: ["*", "https://a"], allowMethods: [GET, "*"], allowHeaders: [a, "*"]}}',
      'WG3409 @[0].cors.allowOrigins[0]',
      'WG3409 @[0].cors.allowMethods[1]',
      'WG3409 @[0].cors.allowHeaders[1]',
    ],
    ['a star alone', '{type: CORS, cors: {allowOrigins: ["*"], allowMethods: ["*"], allowHeaders: ["*"]}}'],
    [
      'external auth without its field',
      '{type: ExternalAuth, externalAuth: {protocol: GRPC, backendRef: {name: a, port: 1}, http: {}}}',
      'WG3410 @[0].externalAuth.grpc',
      'WG3410 @[0].externalAuth.http',
    ],
    [
      'a value with a line break',
      '{type: RequestHeaderModifier, requestHeaderModifier: {add: [{name: a, value: "x\\r\\ny"}]}}',
      'WG2107 @[0].requestHeaderModifier.add[0].value',
    ],
  ])('%s, on a rule and on a backendRef', (_, filters, ...expected) => {
    const at = (path: string): string[] => expected.map((fault) => fault.replace('@', path));
    expect(faults(GATEWAY_API, 'HTTPRoute', `spec: {rules: [{filters: [${filters}]}]}`)).toEqual(
      at('spec.rules[0].filters'),
    );
    const onBackend = `spec: {rules: [{backendRefs: [{name: a, port: 1, filters: [${filters}]}]}]}`;
    expect(faults(GATEWAY_API, 'HTTPRoute', onBackend)).toEqual(at('spec.rules[0].backendRefs[0].filters'));
  });

  it.each<Case>([
    [
      'a redirect beside backends',
      `spec: {rules: [{filters: [{${redirect}}], backendRefs: [{name: a, port: 1}]}]}`,
      'WG3404 spec.rules[0].filters[0]',
    ],
    ['a redirect beside no backends', `spec: {rules: [{filters: [{${redirect}}], backendRefs: []}]}`],
    [
      'a prefix replaced, none matched',
      `spec: {rules: [{matches: [{path: {type: Exact, value: /a}}], filters: [{type: RequestRedirect, requestRedirect: {${replace}}}]}]}`,
      'WG3406 spec.rules[0].filters[0].requestRedirect.path',
    ],
    [
      'a prefix replaced, two matched',
      `spec: {rules: [{matches: [{}, {}], filters: [{type: URLRewrite, urlRewrite: {${replace}}}]}]}`,
      'WG3406 spec.rules[0].filters[0].urlRewrite.path',
    ],
    [
      'a prefix replaced for one backend, two matched',
      `spec: {rules: [{matches: [{}, {}], backendRefs: [{name: a, port: 1, filters: [{type: URLRewrite, urlRewrite: {${replace}}}]}]}]}`,
      'WG3406 spec.rules[0].backendRefs[0].filters[0].urlRewrite.path',
    ],
    [
      'a prefix replaced for two backends, where an API server looks away',
      `spec: {rules: [{matches: [{}, {}], backendRefs: [{name: a, port: 1, filters: [{type: URLRewrite, urlRewrite: {${replace}}}]}, {name: b, port: 1, filters: [{type: URLRewrite, urlRewrite: {${replace}}}]}]}]}`,
    ],
  ])('%s', (_, spec, ...expected) => {
    expect(faults(GATEWAY_API, 'HTTPRoute', spec)).toEqual(expected);
  });
});

describe('core kinds', () => {
  it.each<readonly [name: string, apiVersion: string, kind: string, spec: string, ...faults: string[]]>([
    [
      'a port without name among several',
      'v1',
      'Service',
      'spec: {ports: [{port: 1}, {port: 2, name: b}]}',
      'WG3501 spec.ports[0].name',
    ],
    [
      'a port name twice',
      'v1',
      'Service',
      'spec: {ports: [{port: 1, name: a}, {port: 2, name: a}]}',
      'WG3501 spec.ports[1].name',
    ],
    [
      'a port twice',
      'v1',
      'Service',
      'spec: {ports: [{port: 1, name: a}, {port: 1, name: b}, {port: 1, name: c, protocol: UDP}]}',
      'WG3502 spec.ports[1]',
    ],
    [
      'an address of another family',
      'discovery.k8s.io/v1',
      'EndpointSlice',
      'addressType: IPv4, endpoints: [{addresses: [192.0.2.1]}, {addresses: ["::1"]}]',
      'WG3511 endpoints[1].addresses[0]',
    ],
    [
      'a slice port twice',
      'discovery.k8s.io/v1',
      'EndpointSlice',
      'addressType: IPv6, endpoints: [], ports: [{port: 1}, {port: 2}]',
      'WG3512 ports[1].name',
    ],
  ])('%s', (_, apiVersion, kind, spec, ...expected) => {
    expect(faults(apiVersion, kind, spec)).toEqual(expected);
  });
});

describe('our kinds', () => {
  const policy = (rest: string, target = '{group: "", kind: Service, name: a}'): string =>
    `spec: {targetRefs: [${target}], ${rest}}`;
  it.each<readonly [name: string, kind: string, spec: string, ...faults: string[]]>([
    [
      'a policy for a route',
      'BackendPolicy',
      policy('', '{group: gateway.networking.k8s.io, kind: HTTPRoute, name: a}'),
      'WG3601 spec.targetRefs[0]',
    ],
    ['a policy for a port', 'BackendPolicy', policy('', '{group: "", kind: Service, name: a, sectionName: http}')],
    [
      'a policy for a part of a Backend',
      'BackendPolicy',
      policy('', '{group: weirgate.dev, kind: Backend, name: a, sectionName: b}'),
      'WG3601 spec.targetRefs[0].sectionName',
    ],
    [
      'a target twice',
      'BackendPolicy',
      policy('', '{group: "", kind: Service, name: a}, {group: "", kind: Service, name: a}'),
      'WG3602 spec.targetRefs[1]',
    ],
    [
      'checks without a pause',
      'BackendPolicy',
      policy('healthCheck: {type: TCP, interval: 99ms, timeout: 0s}'),
      'WG3603 spec.healthCheck.interval',
      'WG3603 spec.healthCheck.timeout',
    ],
    ['http for TCP', 'BackendPolicy', policy('healthCheck: {type: TCP, http: {}}'), 'WG3604 spec.healthCheck.http'],
    [
      'an empty range',
      'BackendPolicy',
      policy('healthCheck: {type: HTTP, http: {expectedStatuses: [{from: 300, to: 200}]}}'),
      'WG3604 spec.healthCheck.http.expectedStatuses[0]',
    ],
    [
      'a host that smuggles',
      'BackendPolicy',
      policy('healthCheck: {type: HTTP, http: {host: "a\\r\\nb"}}'),
      'WG2107 spec.healthCheck.http.host',
    ],
    [
      'an endpoint twice',
      'Backend',
      'spec: {endpoints: [{address: 192.0.2.1, port: 1}, {address: 192.0.2.1, port: 1}, {address: 192.0.2.1, port: 2}]}',
      'WG2109 spec.endpoints[1]',
    ],
    [
      'a host name as address',
      'Backend',
      'spec: {endpoints: [{address: a.b, port: 1}]}',
      'WG2107 spec.endpoints[0].address',
    ],
    [
      'a pool of everything',
      'WeirgateConfig',
      'spec: {addressPool: [0.0.0.0/0, 10.0.0.0/8]}',
      'WG3611 spec.addressPool[0]',
    ],
    [
      'a log without place',
      'WeirgateConfig',
      'spec: {accessLog: {target: access.log}}',
      'WG2107 spec.accessLog.target',
    ],
  ])('%s', (_, kind, spec, ...expected) => {
    expect(faults('weirgate.dev/v1alpha1', kind, spec)).toEqual(expected);
  });
});

describe('kinds', () => {
  it.each<readonly [apiVersion: string, kind: string, expected: string, hint: string]>([
    [GATEWAY_API, 'Gatway', 'WG2003 kind', 'did you mean "Gateway"?'],
    ['weirgate.dev/v1alpha1', 'Backends', 'WG2003 kind', 'did you mean "Backend"?'],
    ['gateway.networking.k8.io/v1', 'Gateway', 'WG2003 apiVersion', `did you mean apiVersion: ${GATEWAY_API}?`],
    ['apps/v1', 'Service', '?WG2005 kind', ''],
    ['networking.istio.io/v1', 'Gateway', '?WG2005 kind', ''],
    ['v1', 'Servce', '?WG2005 kind', 'did you mean "Service"?'],
    ['v1', 'Endpoints', '?WG2005 kind', 'write an EndpointSlice'],
    ['weirgate.dev/v1', 'Backend', 'WG2004 apiVersion', 'write apiVersion: weirgate.dev/v1alpha1'],
    ['gateway.networking.x-k8s.io/v1alpha1', 'XListenerSet', 'WG2004 apiVersion', 'it became ListenerSet'],
    [
      'gateway.networking.x-k8s.io/v1alpha1',
      'ListenerSet',
      'WG2003 apiVersion',
      `did you mean apiVersion: ${GATEWAY_API}?`,
    ],
    ['gateway.networking.x-k8s.io/v1alpha1', 'XBackend', '?WG2005 kind', 'write a Backend'],
    ['gateway.networking.k8s.io/v1alpha2', 'GRPCRoute', 'WG2004 apiVersion', `write apiVersion: ${GATEWAY_API}`],
    ['gateway.networking.k8s.io/v1alpha2', 'BackendTLSPolicy', 'WG2004 apiVersion', `write apiVersion: ${GATEWAY_API}`],
    ['gateway.networking.k8s.io/v1alpha2', 'ReferencePolicy', 'WG2004 apiVersion', 'it became ReferenceGrant'],
    ['gateway.networking.k8s.io/v1beta1', 'TCPRoute', 'WG2004 apiVersion', `write apiVersion: ${GATEWAY_API}`],
    ['networking.x-k8s.io/v1alpha1', 'UDPRoute', 'WG2004 apiVersion', `change apiVersion to ${GATEWAY_API}`],
  ])('%s %s', (apiVersion, kind, expected, hint) => {
    expect(faults(apiVersion, kind, 'spec: {}')).toEqual([expected]);
    const [diagnostic] = admitText('input.yaml', `apiVersion: ${apiVersion}\nkind: ${kind}\n`).diagnostics;
    expect(diagnostic?.hint).toContain(hint);
  });
});
