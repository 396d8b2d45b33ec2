/**
 * What holds for every configuration: order means nothing, and what is bad harms nobody else.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BuildResult } from '../../src/pipeline.js';
import { buildFiles } from '../support/build.js';
import { arbitraryObjects, textOf, type WrittenObject } from '../support/snapshot-arbitrary.js';

// The seed is printed by fast-check when a case fails; WEIRGATE_SEED repeats it.
const SEED = Number(process.env.WEIRGATE_SEED ?? Date.now() % 2 ** 31);
const RUNS = Number(process.env.WEIRGATE_RUNS ?? 300);

describe(`builds (seed ${SEED})`, () => {
  it('the order of objects and files changes nothing', () => {
    const shuffled = arbitraryObjects.chain((objects) =>
      fc.record({
        objects: fc.constant(objects),
        order: fc.shuffledSubarray([...objects.keys()], { minLength: objects.length }),
        files: fc.array(fc.constantFrom('z.yaml', 'a.yaml', 'm.yaml'), {
          minLength: objects.length,
          maxLength: objects.length,
        }),
      }),
    );
    let served = 0;
    fc.assert(
      fc.property(shuffled, ({ objects, order, files }) => {
        const inOrder = buildFiles({ 'all.yaml': textOf(objects) });
        const spread = buildFiles(
          spreadOver(
            files,
            order.map((index) => objects[index]!),
          ),
        );
        expect(withoutPlaces(spread)).toEqual(withoutPlaces(inOrder));
        served += inOrder.ir.actions.length;
      }),
      { seed: SEED, numRuns: RUNS },
    );
    // A generator whose routes never attach would prove nothing.
    expect(served).toBeGreaterThan(RUNS / 4);
  });

  it('one bad object more leaves the IR of the others as it is', () => {
    fc.assert(
      fc.property(arbitraryObjects, fc.constantFrom(...BAD_OBJECTS), (objects, bad) => {
        const good = buildFiles({ 'all.yaml': textOf(objects) });
        const spoilt = buildFiles({ 'all.yaml': textOf(objects), 'bad.yaml': textOf([bad]) });
        expect(spoilt.ir).toEqual(good.ir);
        expect(spoilt.diagnostics.some(({ span }) => span.file === 'bad.yaml')).toBe(true);
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });
});

const route = (name: string, spec: object): WrittenObject => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { name },
  spec,
});

const toEverything = [
  { name: 'edge' },
  { name: 'inner' },
  { name: 'edge', namespace: 'other' },
  { name: 'inner', namespace: 'other' },
];

/** Objects that admission refuses, or of which resolution accepts nothing. */
const BAD_OBJECTS: readonly WrittenObject[] = [
  route('aaa-no-such-parent', { parentRefs: [{ name: 'nobody' }] }),
  route('aaa-no-such-section', { parentRefs: [{ name: 'edge', sectionName: 'absent' }] }),
  route('aaa-unserved', { parentRefs: toEverything, rules: [{ retry: { attempts: 1 } }] }),
  route('aaa-refused', { parentRefs: toEverything, rules: 'none' }),
  route('zzz-refused', { parentRefs: toEverything, rules: [{ matches: [{ path: { value: 'no-slash' } }] }] }),
  gatewayOf('aaa-no-class', { gatewayClassName: 'nobody' }),
  gatewayOf('aaa-odd', { listeners: [{ name: 'odd', protocol: 'example.com/odd', port: 80 }] }),
  gatewayOf('aaa-address', { addresses: [{ type: 'Hostname', value: 'lb.example.com' }] }),
  gatewayOf('aaa-parameters', {
    infrastructure: { parametersRef: { group: 'weirgate.dev', kind: 'WeirgateConfig', name: 'nobody' } },
  }),
  // What the Gateway has, what two listeners of one set want, and what nobody serves.
  setOf('aaa-taken', { listeners: [{ name: 'raw', protocol: 'TCP', port: 8080 }] }),
  setOf('aaa-torn', {
    listeners: [
      { name: 'raw', protocol: 'TCP', port: 9090 },
      { name: 'web', protocol: 'HTTP', port: 9090 },
    ],
  }),
  setOf('aaa-odd', { listeners: [{ name: 'odd', protocol: 'example.com/odd', port: 9090 }] }),
  setOf('aaa-orphan', { parentRef: { name: 'nobody' } }),
  setOf('aaa-service', { parentRef: { group: '', kind: 'Service', name: 'edge' } }),
  {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'GatewayClass',
    metadata: { name: 'aaa-broken' },
    spec: {
      controllerName: 'weirgate.dev/gateway-controller',
      parametersRef: { group: '', kind: 'ConfigMap', name: 'settings' },
    },
  },
  {
    apiVersion: 'weirgate.dev/v1alpha1',
    kind: 'BackendPolicy',
    metadata: { name: 'aaa-nothing' },
    spec: { targetRefs: [{ group: '', kind: 'Service', name: 'nobody' }], healthCheck: { type: 'TCP' } },
  },
  {
    apiVersion: 'weirgate.dev/v1alpha1',
    kind: 'WeirgateConfig',
    metadata: { name: 'aaa-unused' },
    spec: { workers: 7 },
  },
];

function gatewayOf(name: string, spec: object = {}): WrittenObject {
  const listeners = [{ name: 'http', protocol: 'HTTP', port: 80 }];
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name },
    spec: { gatewayClassName: 'weirgate', listeners, ...spec },
  };
}

function setOf(name: string, spec: object): WrittenObject {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'ListenerSet',
    metadata: { name, creationTimestamp: '2025-01-01T00:00:00Z' },
    spec: { parentRef: { name: 'edge' }, listeners: [{ name: 'http', protocol: 'HTTP', port: 9090 }], ...spec },
  };
}

function spreadOver(files: readonly string[], objects: readonly WrittenObject[]): Record<string, string> {
  const byFile = new Map<string, WrittenObject[]>();
  for (const [index, object] of objects.entries()) {
    const file = files[index]!;
    byFile.set(file, [...(byFile.get(file) ?? []), object]);
  }
  return Object.fromEntries([...byFile].map(([file, content]) => [file, textOf(content)]));
}

/** Everything but where it stands in files. */
function withoutPlaces({ diagnostics, ...rest }: BuildResult): object {
  const texts = diagnostics.map(({ span, ...text }) => JSON.stringify(text)).sort();
  return { ...rest, diagnostics: texts };
}
