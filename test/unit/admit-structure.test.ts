/**
 * Structure and defaults: what becomes of values, and what is said about those that do not fit.
 */
import { describe, expect, it } from 'vitest';
import { admitSnapshot, admitText, nearestWord } from '../../src/admit/index.js';
import { FORMATS, type FormatName } from '../../src/gateway-api/index.js';

function admit(text: string): ReturnType<typeof admitText> {
  return admitText('input.yaml', text);
}

function faults(text: string): string[] {
  return admit(text).diagnostics.map(({ severity, code, path }) => `${severity} ${code} ${path}`);
}

const ROUTE = 'apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: web}\n';
const CONFIG = 'apiVersion: weirgate.dev/v1alpha1\nkind: WeirgateConfig\nmetadata: {name: c}\n';

describe('defaults', () => {
  it('an empty HTTPRoute has one rule that matches everything', () => {
    const [route] = admit(`${ROUTE}spec:\n`).resources;
    expect(route).toBeUndefined();
    const [empty] = admit(`${ROUTE}spec: {}\n`).resources;
    expect(empty).toMatchObject({
      metadata: { name: 'web', namespace: 'default', labels: {}, annotations: {}, generation: 1 },
      spec: { rules: [{ matches: [{ path: { type: 'PathPrefix', value: '/' } }] }] },
    });
  });

  it('references are complete', () => {
    const [route] = admit(
      `${ROUTE}spec: {parentRefs: [{name: edge}], rules: [{backendRefs: [{name: web, port: 80}]}]}`,
    ).resources;
    expect(route).toMatchObject({
      spec: {
        parentRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'edge' }],
        rules: [{ backendRefs: [{ group: '', kind: 'Service', name: 'web', port: 80, weight: 1 }] }],
      },
    });
  });

  it('null counts as absent: defaults apply, required fields are missing', () => {
    const [config] = admit(`${CONFIG}spec: {via: null, limits: }`).resources;
    expect(config).toMatchObject({
      spec: { via: false, limits: { headBytes: 65_536, headers: 100, idlePerEndpoint: 256 } },
    });
    expect(faults(ROUTE.replace('name: web', 'name: '))).toEqual(['error WG2102 metadata.name', 'error WG2102 spec']);
  });

  it('older versions are read as the one we work with', () => {
    const [route] = admit(`${ROUTE.replace('/v1\n', '/v1beta1\n')}spec: {}`).resources;
    expect(route?.apiVersion).toBe('gateway.networking.k8s.io/v1');
  });

  it('objects without a namespace have none, whatever they say', () => {
    const [object] = admit('apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, namespace: x}').resources;
    expect(object?.metadata.namespace).toBe('');
  });
});

describe('structure', () => {
  it.each([
    ['an unknown field is a fault', `${ROUTE}spec: {ruls: []}`, ['error WG2101 spec.ruls']],
    ['a number is not text', `${ROUTE}spec: {hostnames: [1]}`, ['error WG2103 spec.hostnames[0]']],
    ['a format is kept', `${ROUTE}spec: {hostnames: ["A.example.com"]}`, ['error WG2107 spec.hostnames[0]']],
    ['a text is not empty', `${ROUTE}spec: {hostnames: [""]}`, ['error WG2106 spec.hostnames[0]']],
    ['a text is not too long', `${ROUTE}spec: {hostnames: ["${'a'.repeat(254)}"]}`, ['error WG2106 spec.hostnames[0]']],
    ['a list has a length', `${ROUTE}spec: {rules: []}`, ['error WG2108 spec.rules']],
    [
      'a map list has distinct keys',
      `${ROUTE}spec: {rules: [{matches: [{headers: [{name: a, value: x}, {name: a, value: y}]}]}]}`,
      ['error WG2109 spec.rules[0].matches[0].headers[1]'],
    ],
    [
      'a set has distinct items',
      `${ROUTE}spec: {rules: [{retry: {codes: [500, 500]}}]}`,
      ['error WG2109 spec.rules[0].retry.codes[1]'],
    ],
    ['a number is whole', `${CONFIG}spec: {workers: 1.5}`, ['error WG2103 spec.workers']],
    ['a number is in range', `${CONFIG}spec: {workers: 65}`, ['error WG2105 spec.workers']],
    [
      'a map key has a format',
      'apiVersion: v1\nkind: Namespace\nmetadata: {name: a, labels: {"-x": y}}',
      ['error WG2107 metadata.labels["-x"]'],
    ],
    [
      'all faults are found at once',
      `${CONFIG}spec: {workers: 0, via: 1, trustedProxies: [x, 10.0.0.0/33]}`,
      [
        'error WG2105 spec.workers',
        'error WG2103 spec.via',
        'error WG2107 spec.trustedProxies[0]',
        'error WG2107 spec.trustedProxies[1]',
      ],
    ],
    [
      'a union takes its variants',
      'apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 1, targetPort: true}]}',
      ['error WG2103 spec.ports[0].targetPort'],
    ],
  ])('%s', (_, text, expected) => {
    expect(faults(text)).toEqual(expected);
  });

  it('keys of Object.prototype are fields like others', () => {
    const { diagnostics } = admit(
      'apiVersion: v1\nkind: Namespace\nconstructor: 1\n__proto__: {a: 1}\nmetadata: {name: a}',
    );
    expect(diagnostics.map(({ message }) => message)).toEqual([
      'unknown field "constructor"',
      'unknown field "__proto__"',
    ]);
    const { resources } = admit('apiVersion: v1\nkind: Namespace\nmetadata: {name: a, annotations: {toString: x}}');
    expect(resources[0]?.metadata.annotations).toEqual({ toString: 'x' });
    expect(({} as { a?: number }).a).toBeUndefined();
  });
});

describe('lists', () => {
  it('are taken apart, and a bad item harms no other', () => {
    const item = (name: string, extra = ''): string =>
      `- {apiVersion: v1, kind: Namespace, metadata: {name: ${name}${extra}}}\n`;
    const file = admit(`apiVersion: v1\nkind: List\nitems:\n${item('a')}${item('b', ', name: b')}${item('c')}`);
    expect(file.resources.map(({ metadata }) => metadata.name)).toEqual(['a', 'c']);
    expect(file.diagnostics.map(({ code }) => code)).toEqual(['WG1006']);
    const typed = admit(`apiVersion: v1\nkind: NamespaceList\nmetadata: {}\nitems:\n${item('a')}`);
    expect(typed.resources).toHaveLength(1);
  });
});

describe('snapshots', () => {
  const namespace = (name: string): string => `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n`;

  it('two objects of one name are both refused, whichever version, and the rest stays', () => {
    const { resources, diagnostics } = admitSnapshot([
      admitText('b.yaml', `${ROUTE}spec: {}\n---\n${namespace('x')}`),
      admitText('a.yaml', `${ROUTE.replace('/v1\n', '/v1beta1\n')}spec: {}\n`),
    ]);
    expect(resources.map(({ kind }) => kind)).toEqual(['Namespace']);
    expect(diagnostics.map(({ code, span }) => `${code} ${span.file}:${span.line}`)).toEqual([
      'WG3001 a.yaml:3',
      'WG3001 b.yaml:3',
    ]);
    expect(diagnostics[0]?.hint).toContain('b.yaml:1:1');
  });

  it('an object that is refused for its own faults still counts', () => {
    const { resources, refused } = admitSnapshot([
      admitText('a.yaml', `${ROUTE}spec: {rules: 1}\n`),
      admitText('b.yaml', `${ROUTE}spec: {}\n`),
    ]);
    expect(resources).toEqual([]);
    expect([...refused]).toEqual(['HTTPRoute default/web']);
  });

  it('does not depend on the order of the files', () => {
    const files = ['c', 'a', 'b'].map((name) => admitText(`${name}.yaml`, namespace(name)));
    expect(admitSnapshot(files)).toEqual(admitSnapshot([...files].reverse()));
    expect(admitSnapshot(files).resources.map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
  });
});

describe('formats', () => {
  it.each<[FormatName, string[], string[]]>([
    ['hostname', ['a', 'a.b', '*.a.b', '1.2.3.4'], ['', 'A', '*', '*a.b', 'a..b', 'a.', '-a', 'a_b']],
    [
      'duration',
      ['0s', '1h30m', '250ms', '1h1m1s1ms', '99999s'],
      ['', '1', '1d', '1.5s', '-1s', '100000s', '1s1s1s1s1s', ' 1s'],
    ],
    ['controllerName', ['example.com/a', 'a/b/c'], ['example.com', '/a', 'A.com/a', 'example.com/']],
    ['headerName', ['X-A', 'a_b', '!'], ['', 'a b', 'a:b', 'é']],
    [
      'cidr',
      ['10.0.0.0/8', '::/0', '2001:db8::/32'],
      ['10.0.0.0', '10.0.0.0/33', '::/129', '10.0.0.0/8/8', 'a/8', 'fe80::%1/64'],
    ],
    ['ip', ['192.0.2.1', '::1'], ['192.0.2.256', '1.2.3', 'fe80::1%eth0', '']],
    [
      'timestamp',
      ['2026-11-30T12:00:00Z', '2026-11-30T12:00:00.5+01:00'],
      ['2026-11-30', '2026-13-30T12:00:00Z', 'now'],
    ],
    ['logTarget', ['stderr', '/var/log/a.log'], ['', 'stdout', 'a.log', '/var/log/']],
    ['qualifiedName', ['a', 'example.com/A_b', 'a.b'], ['', 'a/', '/a', 'A.com/b', 'a/b/c', `${'a'.repeat(64)}`]],
    ['headerValue', ['a b', 'a\tb', 'a, b;c'], ['a\nb', 'a\rb', 'a\u0000', 'é', 'a  b', ' a', '']],
    ['requestTarget', ['/', '/a?b=c', '/%20'], ['', 'a', '/ b', '/%zz', '/a\r\nHost: b']],
    ['authority', ['a', 'a.b:80', '[::1]:80'], ['', 'a b', 'a:b', 'a\r\nx: y']],
    ['corsOrigin', ['*', 'https://a.b', 'http://*.a:80', 'https://*'], ['a.b', 'https://', 'ftp://a', 'https://a/b']],
  ])('%s', (name, good, bad) => {
    expect(good.filter((text) => !FORMATS[name].test(text))).toEqual([]);
    expect(bad.filter((text) => FORMATS[name].test(text))).toEqual([]);
  });
});

describe('suggestions', () => {
  it.each([
    ['hostname', ['hostnames', 'rules'], 'hostnames'],
    ['wieght', ['weight', 'name'], 'weight'],
    ['parentref', ['parentRefs'], 'parentRefs'],
    ['Prefix', ['Exact', 'PathPrefix'], 'PathPrefix'],
    ['x', ['name', 'port'], undefined],
    ['nam', ['name', 'namespace'], 'name'],
  ])('%s among %j is %s', (written, candidates, expected) => {
    expect(nearestWord(written, candidates)).toBe(expected);
  });
});
