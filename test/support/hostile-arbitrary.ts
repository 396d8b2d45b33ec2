/**
 * Hostile configurations: objects of the corpus and of the golden cases, thrown together under few names so that they meet, with fields
 * changed at random to what is odd, huge or wrong. Serves `test/property/hostile.test.ts`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { parseAllDocuments } from 'yaml';
import { admitText } from '../../src/admit/index.js';
import type { WrittenObject } from './snapshot-arbitrary.js';

/** Stands in every Secret of a hostile configuration; must never be seen anywhere else. */
export const MARKER = 'c2VjcmV0LW1hcmtlci1uZXZlci1zaG93bg';

const GATEWAY_API = 'gateway.networking.k8s.io/v1';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const ROOT = new URL('../', import.meta.url);
const LONG_LABEL = 'a'.repeat(63);
const LONG_NAME = `${`${LONG_LABEL}.`.repeat(3)}${'b'.repeat(61)}`;

/** Namespaces and names of hostile objects. */
const NAMESPACES = ['default', 'default', 'default', 'other', 'constructor'];
const NAMES = ['edge', 'web', 'cert', 'ca', 'settings', 'constructor', 'valueof', 'a.b-c', LONG_NAME];
/** What references of a field name, mostly. */
const USUAL_NAMES: Readonly<Record<string, readonly string[]>> = {
  parentRefs: ['edge', 'anchor', 'anchor', 'constructor'],
  parentRef: ['edge', 'anchor', 'anchor'],
  backendRefs: ['web', 'web', 'constructor'],
  backendRef: ['web', 'constructor'],
  targetRefs: ['web', 'constructor'],
  certificateRefs: ['shop', 'pay', 'wild', 'cert'],
  caCertificateRefs: ['authority', 'ca'],
  parametersRef: ['settings'],
};
/** Names of the objects that others refer to. */
const USUAL_OBJECTS: Readonly<Record<string, readonly string[]>> = {
  Gateway: ['edge', 'edge', 'inner', 'constructor'],
  Service: ['web', 'constructor'],
  Backend: ['web', 'constructor'],
  WeirgateConfig: ['settings'],
};
const HOSTNAMES = [
  'a.test',
  '*.test',
  '*.a.test',
  'constructor.test',
  'b.a.test',
  `*.${'a.'.repeat(124)}tt`,
  LONG_NAME,
  `*.${LONG_LABEL}.test`,
];
const PORTS = [1, 80, 80, 443, 8443, 53, 65_535];
const KEYS = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'kubernetes.io/metadata.name', 'a'];
const TEXTS = [
  '',
  ' ',
  '*',
  '/',
  '/a/b',
  '/%2e%2e/%00',
  '__proto__',
  'constructor',
  'toString',
  'ünïcödé\u{1F600}',
  '\ud800',
  '\u202e',
  'a\nb',
  '(a+)+$',
  '[[:alpha:]]{1,1000}{1,1000}',
  '10s',
  '0s',
  '99999h',
  'System',
  'Terminate',
  'Passthrough',
  'All',
  'Selector',
  'HTTPS',
  'UDP',
  'Cookie',
  '192.0.2.10',
  '::ffff:127.0.0.1',
  '2001:db8::10',
  'kubernetes.io/h2c',
  'x'.repeat(253),
  'x'.repeat(1024),
];
const NUMBERS = [-1, 0, 1, 80, 100, 404, 65_535, 65_536, 1_000_000, 2 ** 31, 2 ** 53, 0.5];

/** What hostile objects are made from. */
export const BASES: readonly WrittenObject[] = [...readBases(), ...hugeObjects()];

const KINDS = [...new Set(BASES.map(({ kind }) => kind))];

/**
 * An object of the bases, changed by a seed. What a seed does to a base is the same everywhere, so that a failure shrinks to few objects.
 */
const hostileObject = fc
  .record({ kind: fc.constantFrom(...KINDS, 'HTTPRoute', 'Gateway', 'ListenerSet'), seed: fc.nat(2 ** 31 - 1) })
  .map(({ kind, seed }) => {
    const random = randomNumbers(seed);
    return spoil(
      pick(
        BASES.filter((base) => base.kind === kind),
        random,
      ),
      random,
    );
  });

/** 5 to 60 objects. */
export const hostileObjects: fc.Arbitrary<readonly WrittenObject[]> = fc.array(hostileObject, {
  minLength: 5,
  maxLength: 60,
  size: 'max',
});

/** A class of ours: without one, nothing else would be looked at. */
export const ourClass: WrittenObject = {
  apiVersion: GATEWAY_API,
  kind: 'GatewayClass',
  metadata: { name: 'weirgate', creationTimestamp: '2020-01-01T00:00:00Z' },
  spec: { controllerName: 'weirgate.dev/gateway-controller' },
};

/** The class, and a Gateway that takes whatever wants to be served by it. */
export const anchor: readonly WrittenObject[] = [
  ourClass,
  {
    apiVersion: GATEWAY_API,
    kind: 'Gateway',
    metadata: { name: 'anchor', namespace: 'default', creationTimestamp: '2020-01-01T00:00:00Z' },
    spec: {
      gatewayClassName: 'weirgate',
      addresses: [{ value: '127.0.0.1' }],
      allowedListeners: { namespaces: { from: 'All' } },
      listeners: [
        { name: 'web', protocol: 'HTTP', port: 9000 },
        { name: 'https', protocol: 'HTTPS', port: 9001, tls: { certificateRefs: [{ name: 'shop' }] } },
        { name: 'pass', protocol: 'TLS', port: 9002, tls: { mode: 'Passthrough' } },
        { name: 'end', protocol: 'TLS', port: 9003, tls: { mode: 'Terminate', certificateRefs: [{ name: 'shop' }] } },
        { name: 'tcp', protocol: 'TCP', port: 9004 },
        { name: 'udp', protocol: 'UDP', port: 9004 },
      ].map((listener) => ({ ...listener, allowedRoutes: { namespaces: { from: 'All' } } })),
    },
  },
];

function readBases(): WrittenObject[] {
  const conformance = new URL('conformance/', ROOT);
  const golden = new URL('golden/', ROOT);
  const files = [
    new URL('bases.yaml', conformance),
    ...readdirSync(new URL('corpus/', conformance)).map((file) => new URL(`corpus/${file}`, conformance)),
    ...readdirSync(new URL('certificates/', golden)).map((file) => new URL(`certificates/${file}`, golden)),
    ...readdirSync(golden, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => new URL(`${encodeURIComponent(name)}/`, golden))
      .flatMap((folder) =>
        readdirSync(folder)
          .filter((file) => file === 'input.yaml')
          .map((file) => new URL(file, folder)),
      ),
  ];
  return files
    .flatMap((file) => parseAllDocuments(readFileSync(file, 'utf8')).map((document) => toObject(document)))
    .filter((object) => object !== undefined)
    .filter((object) => admitText('', JSON.stringify(object)).resources.length === 1);
}

function toObject(document: { readonly errors: readonly unknown[]; toJS(): unknown }): WrittenObject | undefined {
  if (document.errors.length > 0) return undefined;
  const value = document.toJS() as WrittenObject | null;
  return typeof value === 'object' && typeof value?.kind === 'string' && typeof value.metadata === 'object'
    ? value
    : undefined;
}

/** Objects as large as the API lets them be, or nearly so where a test would become slow. */
function hugeObjects(): WrittenObject[] {
  const range = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
  const object = (kind: string, spec: object): WrittenObject => ({
    apiVersion: GATEWAY_API,
    kind,
    metadata: { name: `huge-${kind.toLowerCase()}` },
    spec,
  });
  const backendRefs = range(16, (index) => ({ name: 'web', port: 80, weight: index === 0 ? 1 : 1_000_000 }));
  const parentRefs = [{ name: 'edge' }, { name: 'huge-gateway' }];
  return [
    object('Gateway', {
      gatewayClassName: 'weirgate',
      listeners: range(64, (index) => ({
        name: `l${index}`,
        protocol: ['HTTP', 'HTTPS', 'TLS', 'TCP', 'UDP'][index % 5],
        port: 80 + (index % 7),
        ...(index % 5 < 3 && { hostname: HOSTNAMES[index % HOSTNAMES.length] }),
        ...([1, 2].includes(index % 5) && { tls: { certificateRefs: [{ name: 'cert' }, { name: 'shop' }] } }),
      })),
    }),
    object('TLSRoute', { parentRefs, hostnames: range(1024, (i) => `h${i}.test`), rules: [{ backendRefs }] }),
    object('HTTPRoute', {
      parentRefs,
      hostnames: range(16, (index) => `${index}.a.test`),
      rules: range(2, (rule) => ({
        matches: range(64, (index) => ({ path: { value: `/${rule}/${index}` }, headers: [{ name: 'x', value: '1' }] })),
        backendRefs,
      })),
    }),
  ];
}

/** mulberry32: small, and the same numbers everywhere. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Random = () => number;

function pick<T>(items: readonly T[], random: Random): T {
  return items[Math.floor(random() * items.length)] as T;
}

function spoil(base: WrittenObject, random: Random): WrittenObject {
  const object = structuredClone(base) as unknown as { [key: string]: Json };
  const { kind } = base;
  meet(object, '', random);
  const metadata = object.metadata as { [key: string]: Json };
  // Secrets and ConfigMaps keep their names, mostly: those of the golden cases hold what their names say.
  if (!['Secret', 'ConfigMap', 'GatewayClass'].includes(kind) || random() < 0.3) {
    const usual = USUAL_OBJECTS[kind] ?? [`${pick(NAMES, random)}-${Math.floor(random() * 50)}`.slice(-253)];
    metadata.name = pick(random() < 0.8 ? usual : NAMES, random);
  }
  if (kind === 'GatewayClass' && metadata.name === ourClass.metadata.name) metadata.name = 'another';
  if (kind !== 'GatewayClass' && kind !== 'Namespace') metadata.namespace = pick(NAMESPACES, random);
  if (kind === 'EndpointSlice')
    metadata.labels = { 'kubernetes.io/service-name': pick(['web', 'constructor'], random) };
  metadata.creationTimestamp = pick(['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'], random);
  if (random() < 0.4) for (let times = 1 + Math.floor(random() * 3); times > 0; times--) change(object, random);
  if (kind === 'Secret') hideMarker(object, random);
  return object as unknown as WrittenObject;
}

/** Lets references, hostnames and ports meet: most of them become one of few. `field`: in which the value stands. */
function meet(value: Json, field: string, random: Random): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) meet(item, field, random);
    return;
  }
  const names = Object.hasOwn(USUAL_NAMES, field) ? USUAL_NAMES[field] : undefined;
  if (names !== undefined && random() < 0.8) value.name = pick(names, random);
  if (names !== undefined && random() < 0.6) delete value.sectionName;
  if (names !== undefined && random() < 0.7) {
    if (field.startsWith('parentRef')) value.namespace = 'default';
    else delete value.namespace;
  }
  for (const [key, child] of Object.entries(value)) {
    if (typeof child === 'object') meet(child, key, random);
    if (random() < 0.3) continue;
    if (key === 'namespace' && names === undefined && field !== 'metadata') value[key] = pick(NAMESPACES, random);
    if (key === 'hostname') value[key] = pick(HOSTNAMES, random);
    if (key === 'hostnames' && Array.isArray(child) && child.length < 17) value[key] = [pick(HOSTNAMES, random)];
    if (key === 'port' && typeof child === 'number') {
      if (field === 'parentRefs') delete value[key];
      else value[key] = field === 'ports' || field.startsWith('backend') ? 80 : pick(PORTS, random);
    }
    if (key === 'weight') value[key] = pick([0, 1, 3, 1_000_000], random);
    if (key === 'gatewayClassName') value[key] = 'weirgate';
    if (key === 'from' && typeof child === 'string') value[key] = pick(['All', 'All', 'Same'], random);
  }
}

/** Changes one field somewhere; most changes at the top are told apart from those deep inside by chance alone. */
function change(object: { [key: string]: Json }, random: Random): void {
  const places: [{ [key: string]: Json } | Json[], string | number][] = [];
  // Most of the time what is inside: an object without a name is refused before anything else is looked at.
  const { metadata: _, ...inside } = object;
  for (const part of Object.values(random() < 0.1 ? object : inside)) collect(part as Json, places);
  if (places.length === 0) return;
  const [parent, key] = pick(places, random);
  const container = parent as { [key: string]: Json };
  const old = container[key as string];
  const roll = random();
  if (roll < 0.1) {
    if (Array.isArray(parent)) parent.splice(Number(key), 1);
    else delete container[key as string];
  } else if (roll < 0.2 && !Array.isArray(parent)) {
    // Assigning __proto__ would set the prototype.
    const value = pick<Json>(['x', 1, {}, ['a']], random);
    Object.defineProperty(parent, pick(KEYS, random), { value, enumerable: true, configurable: true, writable: true });
  } else if (roll < 0.3 && Array.isArray(old) && old.length > 0) {
    container[key as string] = Array.from({ length: 1 + Math.floor(random() * 20) }, () =>
      structuredClone(old[0] as Json),
    );
  } else if (typeof old === 'number') container[key as string] = pick(NUMBERS, random);
  else if (typeof old === 'string') container[key as string] = pick(TEXTS, random);
  else container[key as string] = pick<Json>([null, {}, [], 'text', 7, true], random);
}

function collect(value: Json, places: [{ [key: string]: Json } | Json[], string | number][]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    if (key === 'kind' || key === 'apiVersion') continue;
    places.push([value as { [key: string]: Json }, Array.isArray(value) ? Number(key) : key]);
    collect(child, places);
  }
}

/** Puts the marker where contents of Secrets are, in every wrong way there is. */
function hideMarker(secret: { [key: string]: Json }, random: Random): void {
  const text = MARKER;
  const encoded = Buffer.from(`-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----\n`).toString('base64');
  const roll = random();
  if (roll < 0.3) return;
  if (roll < 0.4) secret.data = text;
  else if (roll < 0.5) secret.data = [text];
  else if (roll < 0.6) secret.data = { 'tls.crt': encoded, 'tls.key': `${text}!` };
  else if (roll < 0.7) secret.data = { 'tls.crt': { pem: text }, 'tls.key': 7 };
  else if (roll < 0.8) secret.stringData = { 'tls.crt': text, 'tls.key': `-----BEGIN PRIVATE KEY-----\n${text}` };
  else if (roll < 0.9) secret[pick(['stringdata', 'tls.key', 'spec'], random)] = { 'tls.key': text };
  else secret.data = { 'tls.crt': encoded, 'tls.key': encoded, 'ca.crt': encoded };
}
