/**
 * Crowds: what many objects that have to do with one another cost. Each of these cost a multiple of its bound once, and minutes when ten
 * times as large, because something was done for each of them with each of the others.
 */
import { describe, expect, it } from 'vitest';
import { admitSnapshot, admitText, type Snapshot } from '../../src/admit/index.js';
import { assertDefined } from '../../src/base/index.js';
import { spanAt } from '../../src/gateway-api/index.js';
import { ALL_CAPABILITIES } from '../../src/model/capabilities.js';
import { type Plan, plan } from '../../src/pipeline.js';
import { buildText, FACTS } from '../support/build.js';
import { gatewayClass, textOf, type WrittenObject } from '../support/snapshot-arbitrary.js';

/** Far above what it takes on a busy machine, far below what squares take. */
const BOUND_MS = 5000;

const GATEWAY_API = 'gateway.networking.k8s.io/v1';
const GROUP = 'gateway.networking.k8s.io';

function range<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function object(kind: string, name: string, spec: object, namespace = 'default'): WrittenObject {
  return { apiVersion: kind === 'Service' ? 'v1' : GATEWAY_API, kind, metadata: { name, namespace }, spec };
}

function gateway(name: string, listeners: readonly object[]): WrittenObject {
  return object('Gateway', name, { gatewayClassName: 'weirgate', listeners });
}

function route(name: string, parentRefs: readonly object[], backendRef?: object, path = '/'): WrittenObject {
  const rule = { matches: [{ path: { value: path } }], ...(backendRef && { backendRefs: [backendRef] }) };
  return object('HTTPRoute', name, { parentRefs, rules: [rule] });
}

const http = { name: 'http', protocol: 'HTTP', port: 80 };
const edge = gateway('edge', [http]);

/** `number` at the end of a name with so many letters. */
function longName(number: number, length: number): string {
  return (
    `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.`.slice(0, length - 4) + String(number).padStart(4, '0')
  );
}

/** Plans in less than the bound; admission is not what is measured. */
function planInTime(objects: readonly WrittenObject[]): Plan {
  const snapshot: Snapshot = admitSnapshot([admitText('input.yaml', textOf([gatewayClass, ...objects]))]);
  expect(snapshot.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const startedAt = performance.now();
  const result = plan(snapshot, FACTS, new Set(ALL_CAPABILITIES));
  expect(performance.now() - startedAt).toBeLessThan(BOUND_MS);
  return result;
}

describe('crowds cost what they are, not their squares', () => {
  it('section names that no listener has, as long as they may be', () => {
    const listeners = range(64, (index) => ({ ...http, name: longName(index, 180), port: 1000 + index }));
    const wrong = range(32, (index) => ({ name: 'edge', sectionName: longName(index, 180).replaceAll('c', 'd') }));
    const { status } = planInTime([gateway('edge', listeners), ...range(150, (index) => route(`r${index}`, wrong))]);
    expect(status.filter(({ kind }) => kind === 'HTTPRoute')).toHaveLength(150);
  });

  it('grants that all allow the same, for as many references', () => {
    const grant = {
      from: [{ group: GROUP, kind: 'HTTPRoute', namespace: 'default' }],
      to: [{ group: '', kind: 'Service' }],
    };
    const { ir, diagnostics } = planInTime([
      edge,
      object('Service', 'web', { ports: [{ port: 80 }] }, 'shop'),
      ...range(4000, (index) => object('ReferenceGrant', `g${index}`, grant, 'shop')),
      ...range(4000, (index) =>
        route(`r${index}`, [{ name: 'edge' }], { name: 'web', namespace: 'shop', port: 80 }, `/${index}`),
      ),
    ]);
    expect(ir.actions).toHaveLength(4000);
    // All of them were of use.
    expect(diagnostics.filter(({ object: label }) => label.startsWith('ReferenceGrant'))).toEqual([]);
  });

  it('policies that want one Service, which as many Gateways use', () => {
    const policy = {
      targetRefs: [{ group: '', kind: 'Service', name: 'web' }],
      validation: { hostname: 'a.test', wellKnownCACertificates: 'System' },
    };
    const { status, diagnostics } = planInTime([
      object('Service', 'web', { ports: [{ port: 80 }] }),
      ...range(1000, (index) => gateway(`g${index}`, [{ ...http, hostname: `h${index}.test` }])),
      ...range(1000, (index) => object('BackendTLSPolicy', `p${String(index).padStart(3, '0')}`, policy)),
      ...range(1000, (index) => route(`r${index}`, [{ name: `g${index}` }], { name: 'web', port: 80 })),
    ]);
    const policies = status.filter(({ kind }) => kind === 'BackendTLSPolicy');
    expect(new Set(policies.map((one) => one.status.ancestors?.length))).toEqual(new Set([16]));
    // The one that holds says so to the Gateways that its status has no room for; those that do not hold say nothing.
    const told = diagnostics.filter(({ message }) => message.includes('has no room to say so'));
    expect(told).toHaveLength(1000 - 16);
    expect(new Set(told.map(({ message }) => message.split(' ')[1]))).toEqual(new Set(['default/p000']));
  });

  it('ports of a Service of which none is the right one', () => {
    const { diagnostics } = planInTime([
      edge,
      object('Service', 'web', { ports: range(3000, (index) => ({ name: `p${index}`, port: 1 + index })) }),
      ...range(3000, (index) => route(`r${index}`, [{ name: 'edge' }], { name: 'web', port: 30_000 + index })),
    ]);
    const hints = diagnostics.flatMap(({ message, hint }) => (message.includes('which does not exist') ? [hint] : []));
    expect(hints).toHaveLength(3000);
    expect(hints[0]).toBe(`its ports: ${range(16, (index) => 1 + index).join(', ')} and 2984 more`);
  });

  it('ports of a Service, each with a slice of its own for another one', () => {
    const slices = range(2000, (index) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: `s${index}`, labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'] }],
      ports: [{ name: `q${index}`, port: 8080 }],
    }));
    const { ir } = planInTime([
      edge,
      object('Service', 'web', { ports: range(2000, (index) => ({ name: `p${index}`, port: 1 + index })) }),
      ...(slices as unknown as WrittenObject[]),
      ...range(2000, (index) => route(`r${index}`, [{ name: 'edge' }], { name: 'web', port: 1 + index }, `/${index}`)),
    ]);
    expect(ir.clusters).toHaveLength(2000);
  });

  it('more endpoints of one Service than there can be: the first are served, and nothing else suffers', () => {
    const slices = range(66, (slice) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: `s${slice}`, labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      endpoints: range(1000, (index) => ({ addresses: [`10.${slice}.${index >> 8}.${index & 255}`] })),
      ports: [{ port: 8080 }],
    }));
    const objects = [
      gatewayClass,
      edge,
      object('Service', 'web', { ports: [{ port: 80 }] }),
      ...(slices as unknown as WrittenObject[]),
      route('web', [{ name: 'edge' }], { name: 'web', port: 80 }),
    ];
    const { ir, compiled, diagnostics } = buildText(objects.map((one) => JSON.stringify(one)).join('\n---\n'));
    expect(ir.clusters[0]?.endpoints).toHaveLength(65_535);
    expect(compiled.endpointSets).toHaveLength(1);
    expect(diagnostics.map(({ object: label, message }) => `${label}: ${message}`)).toEqual([
      'Service default/web: port 80 has 66000 ready endpoints, of which the first 65535 by address are served',
    ]);
  });

  it('places of the many faults of one object', () => {
    const certificateRefs = range(64, (index) => ({ name: `c${index}` }));
    const listeners = range(64, (index) => ({
      name: `l${index}`,
      protocol: 'HTTPS',
      port: 443,
      hostname: `h${index}.test`,
      tls: { certificateRefs },
    }));
    const [resource] = admitText('input.yaml', textOf([gateway('edge', listeners)])).resources;
    const startedAt = performance.now();
    const lines = new Set<number>();
    for (let asked = 0; asked < 100_000; asked++) {
      const path = `spec.listeners[${asked % 64}].tls.certificateRefs[${Math.floor(asked / 64) % 64}].name`;
      lines.add(spanAt(assertDefined(resource, 'the Gateway is good'), path).line);
    }
    expect(performance.now() - startedAt).toBeLessThan(BOUND_MS);
    expect(lines.size).toBe(64 * 64);
  });

  it('copies of one object', () => {
    const files = range(20_000, (index) =>
      admitText(`${index}.yaml`, '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}'),
    );
    const startedAt = performance.now();
    const { diagnostics } = admitSnapshot(files);
    expect(performance.now() - startedAt).toBeLessThan(BOUND_MS);
    expect(diagnostics).toHaveLength(20_000);
    expect(admitSnapshot(files.toReversed()).diagnostics).toEqual(diagnostics);
  });
});
