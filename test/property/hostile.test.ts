/**
 * Whatever else there is: nothing throws, nothing of the innocent changes, statuses are such as an API server takes, and what Secrets
 * hold is never shown. For data planes that can do everything, what ours can, nothing, and all but one thing.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type AdmittedFile, admitSnapshot, admitText } from '../../src/admit/index.js';
import { buildReport, formatGithub, formatReport } from '../../src/cli/check-report.js';
import { createPainter } from '../../src/cli/output.js';
import { CAPABILITIES, SlotBook } from '../../src/compile/compile.js';
import type { Ir } from '../../src/ir/ir.js';
import { ALL_CAPABILITIES, type Capabilities } from '../../src/model/capabilities.js';
import { checkTable } from '../../src/native/addon.js';
import { BuildMemo, build, type Plan, plan } from '../../src/pipeline.js';
import { listObject } from '../../src/primary/object-list.js';
import type { Condition, ObjectStatus } from '../../src/status/index.js';
import { FACTS } from '../support/build.js';
import { anchor, hostileObjects, MARKER, ourClass } from '../support/hostile-arbitrary.js';
import { textOf, type WrittenObject } from '../support/snapshot-arbitrary.js';

// The seed is printed by fast-check when a case fails; WEIRGATE_SEED repeats it.
const SEED = Number(process.env.WEIRGATE_SEED ?? Date.now() % 2 ** 31);
const RUNS = Number(process.env.WEIRGATE_RUNS ?? 60);

const ALL: Capabilities = new Set(ALL_CAPABILITIES);
const NONE: Capabilities = new Set();

const ANCHOR = admitText('anchor.yaml', textOf(anchor));

const plain = createPainter(false);

/** Files of which snapshots are drawn. */
const POOL = fc.sample(hostileObjects, { seed: SEED, numRuns: 6 }).flat().map(admitObject);

describe(`hostile configurations (seed ${SEED})`, () => {
  it('are planned and built for every data plane, in statuses that an API server takes, and show no Secret', () => {
    let served = 0;
    fc.assert(
      fc.property(hostileObjects, fc.constantFrom(...ALL_CAPABILITIES), (objects, missing) => {
        const snapshot = admitSnapshot([ANCHOR, ...objects.map(admitObject)]);
        const planned = plan(snapshot, FACTS, ALL);
        const ours = build(snapshot, FACTS, new SlotBook(), 1);
        expect(checkTable(ours.compiled.table)).toBeNull();
        const others = [NONE, new Set(ALL_CAPABILITIES.filter((capability) => capability !== missing))];
        for (const one of [planned, ours, ...others.map((capabilities) => plan(snapshot, FACTS, capabilities))]) {
          for (const status of one.status) expect(faultsOfStatus(status)).toEqual([]);
          const shown = JSON.stringify([snapshot.diagnostics, one.diagnostics, one.status, withoutKeys(one.ir)]);
          expect(shown).not.toContain(MARKER);
          expect(shown).not.toContain('BEGIN PRIVATE KEY');
        }
        served += planned.ir.actions.length;
      }),
      { seed: SEED, numRuns: RUNS },
    );
    // A generator whose routes never serve would prove nothing.
    expect(served).toBeGreaterThan(RUNS / 2);
  });

  it('are checked and listed without a line of a Secret', () => {
    fc.assert(
      fc.property(hostileObjects, (objects) => {
        // In one file, and with a line for each value, so that code frames have something to show.
        const text = objects.map((object) => stringify(object, { lineWidth: 0 })).join('---\n');
        const snapshot = admitSnapshot([admitText('all.yaml', text), ANCHOR]);
        const planned = plan(snapshot, FACTS, ALL);
        const diagnostics = [...snapshot.diagnostics, ...planned.diagnostics];
        const listed = snapshot.resources.map((resource) => listObject(resource, undefined));
        const report = buildReport({ files: 2, diagnostics, objects: listed });
        const texts = new Map([['all.yaml', text]]);
        for (const shown of [formatReport(report, texts, plain), formatGithub(report), JSON.stringify(report)]) {
          expect(shown).not.toContain(MARKER);
          expect(shown).not.toContain('BEGIN PRIVATE KEY');
        }
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });

  it.each([
    ['without a name', 'apiVersion: v1\nkind: Secret\nmetadata: {}\ndata:'],
    ['whose kind is written in an odd way', 'apiVersion: v1\nkind: "Sec\\u0072et"\nmetadata: { name: a }\ndata:'],
  ])('a Secret %s is checked without a line of it', (_, head) => {
    const text = `${head}\n  a: ${MARKER}!\n  b: []\n`;
    const { diagnostics } = admitText('all.yaml', text);
    expect(diagnostics.length).toBeGreaterThan(0);
    const report = buildReport({ files: 1, diagnostics, objects: [] });
    expect(formatReport(report, new Map([['all.yaml', text]]), plain)).not.toContain(MARKER);
  });

  it('mean the same in every order of their files', () => {
    const shuffled = hostileObjects.chain((objects) =>
      fc.record({
        objects: fc.constant(objects),
        order: fc.shuffledSubarray([...objects.keys()], { minLength: objects.length }),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ objects, order }) => {
        const files = objects.map(admitObject);
        const inOrder = admitSnapshot([ANCHOR, ...files]);
        const mixed = admitSnapshot([...order.map((index) => files[index]!), ANCHOR]);
        expect(mixed).toEqual(inOrder);
        expect(plan(mixed, FACTS, ALL)).toEqual(plan(inOrder, FACTS, ALL));
      }),
      { seed: SEED, numRuns: Math.ceil(RUNS / 2) },
    );
  });

  it('mean the same to one who has planned others before', () => {
    const memo = new BuildMemo();
    fc.assert(
      fc.property(fc.shuffledSubarray([...POOL.keys()], { minLength: 20 }), (chosen) => {
        // The very same files come again, as they do where most of a folder does not change.
        const snapshot = admitSnapshot([ANCHOR, ...chosen.map((index) => POOL[index]!)]);
        expect(plan(snapshot, FACTS, ALL, memo)).toEqual(plan(snapshot, FACTS, ALL));
      }),
      { seed: SEED, numRuns: Math.ceil(RUNS / 2) },
    );
  });

  it.each([
    ['everything', ALL],
    ['what ours does', CAPABILITIES],
  ])('leave what they do not concern as it is, where a data plane does %s', (_, capabilities) => {
    const innocent = [admitText('victim.yaml', textOf([ourClass, ...VICTIM]))];
    const alone = partOf(plan(admitSnapshot(innocent), FACTS, capabilities));
    expect(alone.listeners.length).toBeGreaterThan(1);
    fc.assert(
      fc.property(hostileObjects, (objects) => {
        const beside = plan(admitSnapshot([...objects.map(admitObject), ...innocent]), FACTS, capabilities);
        expect(partOf(beside)).toEqual(alone);
      }),
      { seed: SEED, numRuns: Math.ceil(RUNS / 2) },
    );
  });
});

function admitObject(object: WrittenObject, index: number): AdmittedFile {
  return admitText(`${index}.yaml`, JSON.stringify(object));
}

function withoutKeys(ir: Ir): Ir {
  return { ...ir, certificates: ir.certificates.map((certificate) => ({ ...certificate, privateKey: '' })) };
}

/** Whom nothing may harm: in a namespace and on ports of its own, it takes nobody else's routes and ListenerSets. */
const VICTIM: readonly WrittenObject[] = [
  victim('gateway.networking.k8s.io/v1', 'Gateway', 'front', {
    spec: {
      gatewayClassName: 'weirgate',
      addresses: [{ value: '192.0.2.10' }],
      listeners: [
        { name: 'web', protocol: 'HTTP', port: 47_080, hostname: '*.a.test' },
        { name: 'tcp', protocol: 'TCP', port: 47_081 },
        { name: 'udp', protocol: 'UDP', port: 47_082 },
        { name: 'tls', protocol: 'TLS', port: 47_443, tls: { mode: 'Passthrough' } },
      ],
    },
  }),
  victim('gateway.networking.k8s.io/v1', 'HTTPRoute', 'web', {
    spec: {
      parentRefs: [{ name: 'front' }],
      rules: [{ matches: [{ path: { value: '/a' } }], backendRefs: [{ name: 'web', port: 80 }] }],
    },
  }),
  ...['TCPRoute', 'UDPRoute'].map((kind) =>
    victim('gateway.networking.k8s.io/v1', kind, 'raw', {
      spec: {
        parentRefs: [{ name: 'front' }],
        rules: [{ backendRefs: [{ name: 'web', port: kind === 'UDPRoute' ? 53 : 80 }] }],
      },
    }),
  ),
  victim('gateway.networking.k8s.io/v1', 'TLSRoute', 'names', {
    spec: {
      parentRefs: [{ name: 'front' }],
      hostnames: ['a.test', '*.a.test'],
      rules: [{ backendRefs: [{ name: 'web', port: 80 }] }],
    },
  }),
  victim('gateway.networking.k8s.io/v1', 'BackendTLSPolicy', 'web', {
    spec: {
      targetRefs: [{ group: '', kind: 'Service', name: 'web', sectionName: 'tls' }],
      validation: { hostname: 'web.test', wellKnownCACertificates: 'System' },
    },
  }),
  victim('v1', 'Service', 'web', {
    spec: {
      ports: [
        { name: 'web', port: 80 },
        { name: 'tls', port: 443 },
        { name: 'dns', port: 53, protocol: 'UDP' },
      ],
    },
  }),
  victim('discovery.k8s.io/v1', 'EndpointSlice', 'web', {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'] }],
    ports: [
      { name: 'web', port: 8080 },
      { name: 'dns', port: 8053, protocol: 'UDP' },
    ],
  }),
];

function victim(apiVersion: string, kind: string, name: string, fields: object): WrittenObject {
  const labels = kind === 'EndpointSlice' ? { labels: { 'kubernetes.io/service-name': name } } : {};
  return {
    apiVersion,
    kind,
    metadata: { name, namespace: 'victim', ...labels },
    ...fields,
  } as unknown as WrittenObject;
}

/** What there is of the victim, with references written out: indexes change with what others have. */
function partOf({ ir, status, diagnostics }: Plan): { readonly listeners: readonly unknown[]; readonly rest: unknown } {
  const action = (index: number | undefined): unknown => {
    const found = index === undefined ? undefined : ir.actions[index];
    const backends = found?.backends.map((one) =>
      one.kind === 'cluster' ? { ...one, cluster: ir.clusters[one.cluster] } : one,
    );
    return found && { ...found, backends };
  };
  const listeners = ir.listeners.flatMap((listener, index): unknown[] => {
    if (!listener.name.startsWith('victim/')) return [];
    const sockets = ir.sockets
      .filter((socket) => socket.listeners.includes(index))
      .map((socket) => ({ ...socket, listeners: socket.listeners.length }));
    switch (listener.kind) {
      case 'http':
        return [
          {
            ...listener,
            sockets,
            virtualHosts: listener.virtualHosts.map((host) => ({
              ...host,
              matches: host.matches.map((match) => ({ ...match, action: action(match.action) })),
            })),
          },
        ];
      case 'tls':
        return [
          {
            ...listener,
            sockets,
            routes: listener.routes.map((route) => ({ ...route, action: action(route.action) })),
          },
        ];
      default:
        return [{ ...listener, sockets, action: action(listener.action) }];
    }
  });
  return {
    listeners,
    rest: {
      status: status.filter(({ namespace }) => namespace === 'victim'),
      diagnostics: diagnostics.filter(({ span }) => span.file.startsWith('victim')),
    },
  };
}

/** As the schema of `metav1.Condition` has it. */
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

/** Returns what an API server would refuse. */
function faultsOfStatus({ kind, name, status }: ObjectStatus): string[] {
  const { conditions, addresses = [], listeners = [], parents = [], ancestors = [], supportedFeatures = [] } = status;
  const lists = [conditions, ...[...listeners, ...parents, ...ancestors].map((entry) => entry.conditions)];
  const faults = lists.flatMap((list) => (list === undefined ? [] : faultsOfConditions(list)));
  const limit = (what: string, count: number, most: number): void => {
    if (count > most) faults.push(`${count} ${what}`);
  };
  limit('addresses', addresses.length, 16);
  limit('listeners', listeners.length, 64);
  limit('parents', parents.length, 32);
  limit('ancestors', ancestors.length, 16);
  limit('features', supportedFeatures.length, 64);
  for (const { supportedKinds } of listeners) limit('supportedKinds', supportedKinds.length, 8);
  return faults.map((fault) => `${kind} ${name}: ${fault}`);
}

function faultsOfConditions(conditions: readonly Condition[]): string[] {
  const types = conditions.map(({ type }) => type);
  const faults = conditions.length > 8 ? [`${conditions.length} conditions`] : [];
  if (new Set(types).size < types.length) faults.push(`a type twice: ${types.join(', ')}`);
  for (const { type, status, reason, message, observedGeneration } of conditions) {
    if (!REASON.test(reason) || reason.length > 1024) faults.push(`${type}: reason ${reason}`);
    if (!['True', 'False', 'Unknown'].includes(status)) faults.push(`${type}: status ${status}`);
    if ([...message].length > 32_768 || /\p{Surrogate}/u.test(message))
      faults.push(`${type}: message ${message.slice(0, 80)}`);
    if (!Number.isInteger(observedGeneration) || observedGeneration < 0) faults.push(`${type}: generation`);
  }
  return faults;
}
