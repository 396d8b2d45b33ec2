/**
 * Objects of every kind out of its schema: every field, mostly with values that fit, sometimes with others. New kinds and fields
 * take part by themselves. Serves the property tests of admission.
 */
import fc from 'fast-check';
import {
  type AnySchema,
  apiVersionOf,
  type FormatName,
  KINDS,
  type KindDefinition,
} from '../../src/gateway-api/index.js';

/** Texts that fit a format, for those that a text of letters does not fit. */
const FITTING: Partial<Record<FormatName, readonly string[]>> = {
  subdomain: ['a', 'b', 'web', 'edge'],
  label: ['a', 'b', 'web', 'edge'],
  hostname: ['a.test', '*.a.test', '*.b.a.test'],
  controllerName: ['weirgate.dev/gateway-controller', 'a.b/c'],
  duration: ['0s', '10s', '1h30m', '99999h99999h99999h99999h'],
  protocol: ['HTTP', 'HTTPS', 'TLS', 'TCP', 'UDP', 'a.b/C'],
  addressType: ['IPAddress', 'Hostname', 'NamedAddress', 'a.b/c'],
  group: ['', '', 'gateway.networking.k8s.io', 'weirgate.dev'],
  // The kinds that most references may name come more often, so that objects with several references fit at times.
  kind: [
    'Service',
    'Service',
    'Service',
    'Service',
    'Gateway',
    'ListenerSet',
    'Secret',
    'ConfigMap',
    'Backend',
    'HTTPRoute',
  ],
  base64: ['', 'YQ==', 'Y\nQ=='],
  ip: ['192.0.2.1', '2001:db8::1', '127.0.0.1'],
  cidr: ['192.0.2.0/24', '2001:db8::/64', '0.0.0.0/0'],
  timestamp: ['2026-01-01T00:00:00Z'],
  uri: ['spiffe://a/b'],
  logTarget: ['stderr'],
  requestTarget: ['/', '/a?b'],
  corsOrigin: ['*', 'https://*.a.test:8443'],
};

/** What fits nearly nowhere, or only just: lengths and numbers at limits, other types, odd characters. */
const ODD: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom('', ' ', 'A', '-', '*', '*.', 'a..b', '/', '//', '/a/../b', '%2f', 'é', '\u0000', 'a\nb', '😀'),
  fc.constantFrom(
    '192.0.2.01',
    '::ffff:1.2.3.4',
    'fe80::1%eth0',
    '0.0.0.0',
    'x'.repeat(254),
    '__proto__',
    '-1',
    '1e9',
    'no',
  ),
  fc.constantFrom(-1, 0, 0.5, 65_536, 2 ** 31, 2 ** 53, 1e300, true, false, null),
  fc.constantFrom<unknown>([], {}, [[]], [null], { a: null }, { '': '' }, ['a', 'a'], [{}, {}]),
  fc.jsonValue({ maxDepth: 3 }),
);

const KEYS = fc.constantFrom(
  'a',
  'b.c/d',
  'tls.crt',
  'ca.crt',
  'kubernetes.io/service-name',
  '__proto__',
  'constructor',
  'A b',
);

/** Returns values for a schema; about one in thirty is odd. Objects are as deep as the schema, lists short. */
function arbitraryOf(schema: AnySchema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 29, arbitrary: fitting(schema) }, { weight: 1, arbitrary: ODD });
}

function fitting(schema: AnySchema): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case 'string':
      return fc.constantFrom(...((schema.format && FITTING[schema.format]) ?? ['a', 'b', 'web', 'edge', '/a']));
    case 'enum':
      return fc.constantFrom(...schema.values);
    case 'integer':
      return schema.values ? fc.constantFrom(...schema.values) : fc.constantFrom(schema.min ?? 0, schema.max ?? 3, 80);
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(arbitraryOf(schema.items), { minLength: schema.minItems ?? 0, maxLength: 2 });
    case 'map':
      return fc.dictionary(KEYS, arbitraryOf(schema.values), { maxKeys: 3 });
    case 'object':
      return fields(schema.fields);
    case 'union':
      return fc.oneof(...schema.variants.map(arbitraryOf));
    case 'unchecked':
      return ODD;
  }
}

function fields(schemas: Readonly<Record<string, AnySchema>>): fc.Arbitrary<unknown> {
  const entries = Object.entries(schemas).map(([name, schema]) => {
    const often = schema.presence === 'required' ? 39 : schema.type === 'unchecked' ? 1 : 12;
    const present = fc.oneof(
      { weight: often, arbitrary: arbitraryOf(schema) },
      { weight: 40 - often, arbitrary: fc.constant(undefined) },
    );
    return [name, present] as const;
  });
  const unknown = fc.oneof(
    { weight: 50, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.dictionary(KEYS, ODD) },
  );
  return fc
    .tuple(fc.record(Object.fromEntries(entries)), unknown)
    .map(([known, others]) => ({ ...(JSON.parse(JSON.stringify(known)) as object), ...others }));
}

/** Returns objects of one kind, of any version that is read. */
export function arbitraryOfKind(definition: KindDefinition): fc.Arbitrary<object> {
  const { apiVersion, kind, ...schemas } = (definition.schema as Extract<AnySchema, { type: 'object' }>).fields;
  const group = definition.group === '' ? '' : `${definition.group}/`;
  const versions = [apiVersionOf(definition), ...definition.otherVersions.map((version) => `${group}${version}`)];
  return fc
    .tuple(fc.constantFrom(...versions), fields(schemas))
    .map(([version, own]) => ({ apiVersion: version, kind: definition.kind, ...(own as object) }));
}

/** Objects of every kind. */
export const arbitraryObject: fc.Arbitrary<object> = fc.oneof(...KINDS.map(arbitraryOfKind));
