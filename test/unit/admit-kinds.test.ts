/**
 * Rules of the kinds beside Gateway and HTTPRoute, and of metadata: for each what breaks it, and next to it what does not.
 */
import { describe, expect, it } from 'vitest';
import { admitSnapshot, admitText, refuseChanges } from '../../src/admit/index.js';
import type { Resource } from '../../src/gateway-api/index.js';

const GATEWAY_API = 'gateway.networking.k8s.io/v1';

/** `code path` of all faults of one object, and its warnings with a `?`. */
function faults(kind: string, body: string, apiVersion = GATEWAY_API, metadata = 'name: x'): string[] {
  const text = `{apiVersion: ${apiVersion}, kind: ${kind}, metadata: {${metadata}}, ${body}}`;
  return admitText('input.yaml', text).diagnostics.map(
    ({ severity, code, path }) => `${severity === 'warning' ? '?' : ''}${code} ${path}`,
  );
}

function admitted(text: string): Resource | undefined {
  return admitText('input.yaml', text).resources[0];
}

type Case = readonly [says: string, body: string, ...faults: string[]];

describe('GatewayClass', () => {
  it.each<Case>([
    ['a domain and a path', 'spec: {controllerName: a.b/c}'],
    ['no path', 'spec: {controllerName: a.b}', 'WG2107 spec.controllerName'],
    ['a description of 64 characters', `spec: {controllerName: a.b/c, description: ${'é'.repeat(64)}}`],
    ['one of 65', `spec: {controllerName: a.b/c, description: ${'é'.repeat(65)}}`, 'WG2106 spec.description'],
  ])('%s', (_, body, ...expected) => {
    expect(faults('GatewayClass', body)).toEqual(expected);
  });

  const file = (controller: string, name = 'x'): ReturnType<typeof admitText> =>
    admitText(
      'class.yaml',
      `apiVersion: ${GATEWAY_API}\nkind: GatewayClass\nmetadata: {name: ${name}}\nspec: {controllerName: ${controller}}`,
    );

  it('keeps its controller', () => {
    const before = admitSnapshot([file('a.b/c')]).resources;
    const same = admitSnapshot([file('a.b/c')]);
    expect(refuseChanges(before, same)).toBe(same);
    const other = admitSnapshot([file('a.b/c', 'y'), file('a.b/d', 'z')]);
    expect(refuseChanges(before, other)).toBe(other);
    const changed = refuseChanges(before, admitSnapshot([file('a.b/d')]));
    expect(changed.resources).toEqual([]);
    expect([...changed.refused]).toEqual(['GatewayClass x']);
    expect(changed.diagnostics).toMatchObject([
      { code: 'WG3010', path: 'spec.controllerName', severity: 'error', span: { file: 'class.yaml', line: 4 } },
    ]);
  });
});

describe('ListenerSet', () => {
  const set = (listeners: string): string => `spec: {parentRef: {name: edge}, listeners: [${listeners}]}`;
  it.each<Case>([
    ['a parent and a listener', set('{name: a, port: 80, protocol: HTTP}')],
    ['no parent', 'spec: {listeners: [{name: a, port: 80, protocol: HTTP}]}', 'WG2102 spec.parentRef'],
    ['no port', set('{name: a, protocol: HTTP}'), 'WG2102 spec.listeners[0].port'],
    ['rules of listeners hold', set('{name: a, port: 80, protocol: TLS}'), 'WG3112 spec.listeners[0].tls'],
    [
      'equal listeners',
      set('{name: a, port: 80, protocol: HTTP}, {name: b, port: 80, protocol: HTTP}'),
      'WG3115 spec.listeners[1]',
    ],
  ])('%s', (_, body, ...expected) => {
    expect(faults('ListenerSet', body)).toEqual(expected);
  });
});

describe('GRPCRoute', () => {
  const method = (text: string): string => `spec: {rules: [{matches: [{method: {${text}}}]}]}`;
  const at = 'spec.rules[0].matches[0].method';
  it.each<Case>([
    ['a service and a method', method('service: shop.v1.Cart, method: Add')],
    ['neither', method('type: Exact'), `WG3312 ${at}`],
    ['a service that is none', method('service: shop/v1'), `WG3313 ${at}.service`],
    ['a method that is none', method('method: a.b'), `WG3313 ${at}.method`],
    ['patterns may be anything', method('type: RegularExpression, service: "a|b", method: "[a-z]+"')],
    ['an HTTP filter', 'spec: {rules: [{filters: [{type: CORS}]}]}', 'WG2104 spec.rules[0].filters[0].type'],
    [
      'a filter with another field',
      'spec: {rules: [{filters: [{type: ExtensionRef, extensionRef: {group: a, kind: B, name: c}, requestHeaderModifier: {}}]}]}',
      'WG3401 spec.rules[0].filters[0].requestHeaderModifier',
    ],
    [
      'a filter twice',
      'spec: {rules: [{filters: [{type: RequestHeaderModifier, requestHeaderModifier: {}}, {type: RequestHeaderModifier, requestHeaderModifier: {}}]}]}',
      'WG3402 spec.rules[0].filters[1]',
    ],
    [
      '129 matches',
      `spec: {rules: [{matches: [${Array(64).fill('{}').join()}]}, {matches: [${Array(65).fill('{}').join()}]}]}`,
      'WG2108 spec.rules[1].matches',
    ],
    [
      '129 matches in three rules',
      `spec: {rules: [{matches: [${Array(64).fill('{}').join()}]}, {matches: [${Array(64).fill('{}').join()}]}, {matches: [{}]}]}`,
      'WG3311 spec.rules',
    ],
    ['a session with the field of its type', 'spec: {rules: [{sessionPersistence: {cookie: {}}}]}'],
    [
      'a session without it',
      'spec: {rules: [{sessionPersistence: {}}]}',
      'WG3304 spec.rules[0].sessionPersistence.cookie',
    ],
    [
      'a session of an earlier release',
      'spec: {rules: [{sessionPersistence: {cookie: {}, sessionName: a}}]}',
      'WG2101 spec.rules[0].sessionPersistence.sessionName',
    ],
    [
      'a Service without port',
      'spec: {rules: [{backendRefs: [{name: a}]}]}',
      'WG3204 spec.rules[0].backendRefs[0].port',
    ],
  ])('%s', (_, body, ...expected) => {
    expect(faults('GRPCRoute', body)).toEqual(expected);
  });
});

describe('routes of whole connections', () => {
  const rules = 'rules: [{backendRefs: [{name: a, port: 1}]}]';
  const two = 'rules: [{backendRefs: [{name: a, port: 1}]}, {backendRefs: [{name: b, port: 1}]}]';
  it.each<readonly [kind: string, version: string, body: string, ...faults: string[]]>([
    ['TLSRoute', 'v1', `spec: {hostnames: ["*.a.b"], ${rules}}`],
    ['TLSRoute', 'v1', `spec: {${rules}}`, 'WG2102 spec.hostnames'],
    ['TLSRoute', 'v1', `spec: {hostnames: [192.0.2.1], ${rules}}`, 'WG3321 spec.hostnames[0]'],
    ['TLSRoute', 'v1', `spec: {hostnames: [a.*.b], ${rules}}`, 'WG2107 spec.hostnames[0]'],
    ['TLSRoute', 'v1', `spec: {hostnames: [a.b], ${two}}`, 'WG2108 spec.rules'],
    ['TLSRoute', 'v1alpha3', `spec: {${rules}}`, '?WG2007 apiVersion', 'WG2102 spec.hostnames'],
    ['TLSRoute', 'v1alpha2', `spec: {${rules}}`, '?WG2007 apiVersion'],
    ['TLSRoute', 'v1alpha2', `spec: {hostnames: [192.0.2.1], ${two}}`, '?WG2007 apiVersion', '?WG3322 spec.rules[1]'],
    ['TCPRoute', 'v1', `spec: {${two}}`, 'WG2108 spec.rules'],
    ['TCPRoute', 'v1alpha2', `spec: {${two}}`, '?WG2007 apiVersion', '?WG3322 spec.rules[1]'],
    ['UDPRoute', 'v1', `spec: {${rules}}`],
    ['UDPRoute', 'v1', 'spec: {rules: [{backendRefs: [{name: a}]}]}', 'WG3204 spec.rules[0].backendRefs[0].port'],
    ['UDPRoute', 'v1', `spec: {hostnames: [a.b], ${rules}}`, 'WG2101 spec.hostnames'],
  ])('%s %s: %s', (kind, version, body, ...expected) => {
    expect(faults(kind, body, `gateway.networking.k8s.io/${version}`)).toEqual(expected);
  });

  it('without hostnames v1alpha2 has none', () => {
    const text = `{apiVersion: gateway.networking.k8s.io/v1alpha2, kind: TLSRoute, metadata: {name: x}, spec: {${rules}}}`;
    expect(admitted(text)).toMatchObject({ apiVersion: GATEWAY_API, spec: { hostnames: [] } });
  });
});

describe('BackendTLSPolicy', () => {
  const target = '{group: "", kind: Service, name: a}';
  const part = (name: string): string => `{group: "", kind: Service, name: a, sectionName: ${name}}`;
  const policy = (validation: string, targets = target): string =>
    `spec: {targetRefs: [${targets}], validation: {hostname: a.b, ${validation}}}`;
  const system = 'wellKnownCACertificates: System';
  const refs = 'caCertificateRefs: [{group: "", kind: ConfigMap, name: ca}]';
  it.each<Case>([
    ['authorities of the system', policy(system)],
    ['authorities of a ConfigMap', policy(refs)],
    ['both', policy(`${system}, ${refs}`), 'WG3703 spec.validation'],
    ['neither', policy(''), 'WG3703 spec.validation'],
    ['two parts of a target', policy(system, `${part('x')}, ${part('y')}`)],
    ['a target as a whole and in part', policy(system, `${target}, ${part('y')}`), 'WG3701 spec.targetRefs[1]'],
    ['a part twice', policy(system, `${part('x')}, ${part('x')}`), 'WG3702 spec.targetRefs[1]'],
    [
      'names of both types',
      policy(`${system}, subjectAltNames: [{type: Hostname, hostname: a}, {type: URI, uri: "a://b"}]`),
    ],
    [
      'a name without its field',
      policy(`${system}, subjectAltNames: [{type: URI}]`),
      'WG3704 spec.validation.subjectAltNames[0].uri',
    ],
    [
      'a name with another field',
      policy(`${system}, subjectAltNames: [{type: URI, uri: "a://b", hostname: a}]`),
      'WG3704 spec.validation.subjectAltNames[0].hostname',
    ],
    [
      'a wildcard as server name',
      'spec: {targetRefs: [{group: "", kind: Service, name: a}], validation: {hostname: "*.a", wellKnownCACertificates: System}}',
      'WG2107 spec.validation.hostname',
    ],
  ])('%s', (_, body, ...expected) => {
    expect(faults('BackendTLSPolicy', body)).toEqual(expected);
  });
});

describe('ReferenceGrant', () => {
  it.each<Case>([
    ['from and to', 'spec: {from: [{group: a, kind: B, namespace: c}], to: [{group: "", kind: Service}]}'],
    ['from nobody', 'spec: {from: [], to: [{group: "", kind: Service}]}', 'WG2108 spec.from'],
    [
      'to another namespace',
      'spec: {from: [{group: a, kind: B, namespace: c}], to: [{group: "", kind: Service, namespace: d}]}',
      'WG2101 spec.to[0].namespace',
    ],
  ])('%s', (_, body, ...expected) => {
    expect(faults('ReferenceGrant', body)).toEqual(expected);
  });
});

describe('Service and EndpointSlice', () => {
  const slice = (type: string, address: string): string =>
    `addressType: ${type}, endpoints: [{addresses: ["${address}"]}]`;
  it.each<readonly [says: string, kind: 'Service' | 'EndpointSlice', body: string, ...faults: string[]]>([
    ['no ports', 'Service', 'spec: {}', 'WG3503 spec.ports'],
    ['no ports and no address', 'Service', 'spec: {clusterIP: None}'],
    ['no spec', 'Service', 'status: {}', 'WG3503 spec.ports'],
    ['a host name', 'Service', 'spec: {type: ExternalName, externalName: a.b}'],
    ['no host name', 'Service', 'spec: {type: ExternalName}', 'WG3505 spec.externalName'],
    [
      'a host name that is none',
      'Service',
      'spec: {type: ExternalName, externalName: A_b}',
      'WG3505 spec.externalName',
    ],
    ['an address that is none', 'Service', 'spec: {clusterIP: a, ports: [{port: 1}]}', 'WG3504 spec.clusterIP'],
    ['a port name in capitals', 'Service', 'spec: {ports: [{port: 1, name: A}]}', 'WG2107 spec.ports[0].name'],
    [
      'a target without a letter',
      'Service',
      'spec: {ports: [{port: 1, targetPort: "1"}]}',
      'WG2107 spec.ports[0].targetPort',
    ],
    [
      'a protocol with a blank',
      'Service',
      'spec: {ports: [{port: 1, appProtocol: a b}]}',
      'WG2107 spec.ports[0].appProtocol',
    ],
    ['loopback', 'EndpointSlice', slice('IPv4', '127.0.0.1')],
    ['no address at all', 'EndpointSlice', slice('IPv4', '0.0.0.0'), 'WG3511 endpoints[0].addresses[0]'],
    ['a link-local address', 'EndpointSlice', slice('IPv6', 'fe80::1'), 'WG3511 endpoints[0].addresses[0]'],
    ['multicast', 'EndpointSlice', slice('IPv4', '224.0.0.1'), 'WG3511 endpoints[0].addresses[0]'],
    [
      'IPv4 in the clothes of IPv6',
      'EndpointSlice',
      slice('IPv6', '::ffff:c000:201'),
      'WG3511 endpoints[0].addresses[0]',
    ],
    ['a zone', 'EndpointSlice', slice('IPv6', '2001:db8::1%eth0'), 'WG3511 endpoints[0].addresses[0]'],
    ['a wildcard', 'EndpointSlice', slice('FQDN', '*.a'), 'WG3511 endpoints[0].addresses[0]'],
    ['a type of JavaScript', 'EndpointSlice', slice('__proto__', '192.0.2.1'), 'WG2104 addressType'],
    [
      'an endpoint that is nothing',
      'EndpointSlice',
      'addressType: IPv4, endpoints: [null]',
      'WG2102 endpoints[0].addresses',
    ],
  ])('%s of a %s', (_, kind, body, ...expected) => {
    expect(faults(kind, body, kind === 'Service' ? 'v1' : 'discovery.k8s.io/v1')).toEqual(expected);
  });

  it('a port leads to the same port of the endpoints', () => {
    const text =
      '{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 80}, {port: 81, targetPort: 0}, {port: 82, targetPort: web}]}}';
    const named = text.replaceAll(/port: (8\d)/g, 'name: p$1, port: $1');
    expect(admitted(named)).toMatchObject({
      spec: { ports: [{ targetPort: 80 }, { targetPort: 81 }, { targetPort: 'web' }] },
    });
  });
});

describe('Secret and ConfigMap', () => {
  it.each<readonly [says: string, kind: 'Secret' | 'ConfigMap', body: string, ...faults: string[]]>([
    ['base64', 'Secret', 'data: {a: YQ==, b: "", c: "YQ\\n=="}'],
    ['no base64', 'Secret', 'data: {a: hunter2!}', 'WG2107 data.a'],
    ['base64 without its end', 'Secret', 'data: {a: YQ}', 'WG2107 data.a'],
    ['a key with a slash', 'Secret', 'data: {a/b: YQ==}', 'WG2107 data["a/b"]'],
    ['a key of dots', 'Secret', 'stringData: {..a: b}', 'WG2107 stringData["..a"]'],
    ['certificate and key', 'Secret', 'type: kubernetes.io/tls, data: {tls.crt: ""}, stringData: {tls.key: b}'],
    ['no key', 'Secret', 'type: kubernetes.io/tls, data: {tls.crt: ""}', 'WG3521 data["tls.key"]'],
    ['more than 1 MiB', 'Secret', `stringData: {a: ${'x'.repeat(1_048_577)}}`, 'WG3522 data'],
    ['a key in both', 'ConfigMap', 'data: {a: b}, binaryData: {a: YQ==}', 'WG3531 data.a'],
    ['more than 1 MiB', 'ConfigMap', `data: {a: ${'x'.repeat(1_048_577)}}`, 'WG3532 data'],
  ])('%s in a %s', (_, kind, body, ...expected) => {
    expect(faults(kind, body, 'v1')).toEqual(expected);
  });

  it('plain text goes over data, and both end as base64', () => {
    const text =
      '{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: YQ==, b: "Y\\nQ=="}, stringData: {a: x, c: }}';
    const secret = admitted(text);
    expect(secret).toMatchObject({ type: 'Opaque', data: { a: 'eA==', b: 'YQ==', c: '' } });
    expect(secret).not.toHaveProperty('stringData');
  });

  it.each([
    'data: {a: "hunter2 hunter2"}',
    'data: hunter2',
    'data: {a: [hunter2]}',
    'stringData: {a: {hunter2: hunter2}}',
    'stringData: [hunter2]',
    'stringData: {a: 20011, b: true}',
    'data: {a: 20011}',
    'stringData: {"hunter 2": hunter2}',
    'type: kubernetes.io/tls, stringData: {tls.crt: hunter2}',
  ])('no message quotes %s', (body) => {
    const { diagnostics } = admitText('s.yaml', `{apiVersion: v1, kind: Secret, metadata: {name: s}, ${body}}`);
    expect(diagnostics.length).toBeGreaterThan(0);
    for (const { message, hint } of diagnostics) expect(`${message} ${hint}`).not.toMatch(/hunter2|20011/);
  });
});

describe('metadata', () => {
  const route = 'spec: {}';
  it.each<readonly [says: string, kind: string, metadata: string, ...faults: string[]]>([
    ['a name of 253 characters', 'HTTPRoute', `name: ${'a'.repeat(253)}`],
    ['a name of 254', 'HTTPRoute', `name: ${'a'.repeat(254)}`, 'WG2106 metadata.name'],
    ['a name with dots', 'HTTPRoute', 'name: a.b'],
    ['a name in capitals', 'HTTPRoute', 'name: A', 'WG2107 metadata.name'],
    ['no name', 'HTTPRoute', '', 'WG2102 metadata.name'],
    ['an empty namespace is the default one', 'HTTPRoute', 'name: a, namespace: ""'],
    ['a namespace with a dot', 'HTTPRoute', 'name: a, namespace: a.b', 'WG2107 metadata.namespace'],
    ['labels', 'HTTPRoute', 'name: a, labels: {a.b/C: D, e: }'],
    ['a label that is none', 'HTTPRoute', 'name: a, labels: {A.b/c: d}', 'WG2107 metadata.labels["A.b/c"]'],
    ['a value that is none', 'HTTPRoute', 'name: a, labels: {a: "b c"}', 'WG2107 metadata.labels.a'],
    ['annotations forgive capitals', 'HTTPRoute', 'name: a, annotations: {A.b/c: "d e"}'],
    ['an annotation that is none', 'HTTPRoute', 'name: a, annotations: {a b: c}', 'WG2107 metadata.annotations["a b"]'],
    [
      'annotations beyond all measure',
      'HTTPRoute',
      `name: a, annotations: {a: ${'x'.repeat(262_144)}}`,
      'WG3002 metadata.annotations',
    ],
    ['a field that is none', 'HTTPRoute', 'name: a, label: {}', 'WG2101 metadata.label'],
    ['a Namespace with a dot', 'Namespace', 'name: a.b', 'WG2107 metadata.name'],
  ])('%s', (_, kind, metadata, ...expected) => {
    expect(faults(kind, route, kind === 'Namespace' ? 'v1' : GATEWAY_API, metadata)).toEqual(expected);
  });

  it('is looked for where it is missing', () => {
    const { diagnostics } = admitText('a.yaml', `apiVersion: ${GATEWAY_API}\nkind: HTTPRoute\nspec: {}`);
    expect(diagnostics).toMatchObject([{ code: 'WG2102', path: 'metadata.name', span: { line: 1, column: 1 } }]);
  });

  it('an object without a namespace, or with an empty one, is in the default one', () => {
    for (const namespace of ['', ', namespace: ""', ', namespace: ']) {
      const text = `{apiVersion: ${GATEWAY_API}, kind: HTTPRoute, metadata: {name: a${namespace}}, spec: {}}`;
      expect(admitted(text)?.metadata.namespace).toBe('default');
    }
  });
});

describe('one run', () => {
  it('names broken rules beside values that are out of bounds', () => {
    const body =
      'spec: {hostnames: [A], rules: [{filters: [{type: CORS}], matches: [{path: {value: "a//b#"}}], timeouts: {request: x}}]}';
    expect(faults('HTTPRoute', body)).toEqual([
      'WG2107 spec.hostnames[0]',
      'WG2107 spec.rules[0].timeouts.request',
      'WG3301 spec.rules[0].matches[0].path.value',
      'WG3301 spec.rules[0].matches[0].path.value',
      'WG3301 spec.rules[0].matches[0].path.value',
      'WG3401 spec.rules[0].filters[0].cors',
    ]);
  });

  it('names a repeated item once, with all its lines', () => {
    const item = '\n      - {name: a, port: 1, protocol: HTTP}';
    const text = `apiVersion: ${GATEWAY_API}\nkind: Gateway\nmetadata: {name: x}\nspec:\n  gatewayClassName: w\n  listeners:${item.repeat(3)}`;
    const repeated = admitText('a.yaml', text).diagnostics.filter(({ code }) => code === 'WG2109');
    expect(repeated).toMatchObject([
      {
        path: 'spec.listeners[1]',
        message: 'name "a" is there 3 times',
        hint: 'the first one is in line 7, more are in line 9; each may occur once',
        span: { line: 8 },
      },
    ]);
  });

  it('lists a hundred faults of an object and counts the others', () => {
    const ports = Array.from({ length: 30_000 }, () => ({ port: 1 }));
    const object = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'x' }, spec: { ports } };
    const { diagnostics, resources } = admitText('a.yaml', JSON.stringify(object));
    expect(resources).toEqual([]);
    expect(diagnostics).toHaveLength(101);
    expect(diagnostics.at(-1)).toMatchObject({
      code: 'WG2110',
      severity: 'error',
      message: '59899 more faults of this object are not listed',
    });
  });

  it('counts warnings as warnings', () => {
    const backendRefs = Array(16).fill({ group: 'weirgate.dev', kind: 'Backend', name: 'a', port: 1 });
    const spec = { rules: Array(16).fill({ backendRefs }) };
    const object = { apiVersion: GATEWAY_API, kind: 'HTTPRoute', metadata: { name: 'x' }, spec };
    const { diagnostics, resources } = admitText('a.yaml', JSON.stringify(object));
    expect(resources).toHaveLength(1);
    expect(diagnostics).toHaveLength(101);
    expect(new Set(diagnostics.map(({ severity }) => severity))).toEqual(new Set(['warning']));
  });

  it('quotes no more than a line of a text of megabytes', () => {
    const long = 'QUJD'.repeat(2_400_000);
    for (const object of [
      { apiVersion: 'v1', kind: long },
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, data: { a: `${long}!`, [long]: 'YQ==' } },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: long, labels: { [long]: long } } },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'x' },
        spec: { type: 'ExternalName', externalName: long },
      },
    ]) {
      const { diagnostics } = admitText('a.yaml', JSON.stringify(object));
      expect(diagnostics.length).toBeGreaterThan(0);
      for (const { object: label, path, message, hint } of diagnostics) {
        expect(Math.max(...[label, path, message, hint].map((text) => text.length))).toBeLessThanOrEqual(400);
      }
    }
  });
});
