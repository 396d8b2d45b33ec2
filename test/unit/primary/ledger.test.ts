/** Generations and transition times of objects, over reloads and restarts, as a build thread remembers them. */
import { describe, expect, it } from 'vitest';
import { admitText } from '../../../src/admit/index.js';
import type { ListedObject } from '../../../src/ipc/admin-protocol.js';
import { BuildState } from '../../../src/primary/build-state.js';
import { countGenerations, EMPTY_ROSTER, ledgerOf, recordStatuses } from '../../../src/primary/ledger.js';
import { decodeLedger, encodeLedger } from '../../../src/primary/ledger-file.js';

const GATEWAY = `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: edge }
spec: { controllerName: weirgate.dev/gateway-controller }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge }
spec:
  gatewayClassName: edge
  addresses: [{ value: 127.0.0.1 }]
  listeners: [{ name: http, port: 8080, protocol: HTTP }]
---
`;
const backend = (name: string): string => `apiVersion: weirgate.dev/v1alpha1
kind: Backend
metadata: { name: ${name} }
spec: { endpoints: [{ address: 127.0.0.1, port: 9000 }] }
---
`;
const route = (target: string, extra = '', metadata = ''): string => `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: web${metadata} }
spec:
  parentRefs: [{ name: edge }]
  rules: [{ backendRefs: [{ group: weirgate.dev, kind: Backend, name: ${target} }] }]
${extra}---
`;

const [T1, T2, T3] = ['2026-12-01T00:00:00Z', '2026-12-02T00:00:00Z', '2026-12-03T00:00:00Z'] as const;

/** Builds and commits; whatever was refused is not committed. */
function load(state: BuildState, text: string, now: string, keepGoing = false): string {
  const { outcome } = state.build({
    generation: 1,
    files: [{ file: 'edge.yaml', hash: text, admitted: admitText('edge.yaml', text) }],
    readDiagnostics: [],
    facts: { hasIpv6: true, hostAddresses: ['127.0.0.1'], bindFailures: [], assignedAddresses: {} },
    oldestHeld: 0,
    reusable: [],
    keepGoing,
    now,
  });
  if (outcome !== 'refused') state.commit();
  return outcome;
}

/** A process that ends, and the one that follows. */
function restarted(state: BuildState): BuildState {
  const next = new BuildState();
  const bytes = state.ledger(true);
  expect(bytes === undefined ? 'no ledger' : next.restore(bytes)).toBeUndefined();
  return next;
}

interface Seen {
  readonly generation: number | undefined;
  /** `type: status since time of generation`. */
  readonly conditions: readonly string[];
}

function seen(state: BuildState, kind: string): Seen {
  const object = state.objects({ kind })[0] as ListedObject;
  const { conditions, parents } = object.status as Record<string, { conditions: unknown }[]>;
  const list = (conditions ?? parents?.[0]?.conditions) as Record<string, string>[];
  return {
    generation: object.metadata.generation,
    conditions: list.map(
      ({ type, status, lastTransitionTime, observedGeneration }) =>
        `${type}: ${status} since ${lastTransitionTime} of ${observedGeneration}`,
    ),
  };
}

describe('over reloads and restarts', () => {
  it('a generation counts changes of the spec, and conditions name it', () => {
    let state = new BuildState();
    load(state, GATEWAY + backend('a') + backend('b') + route('a'), T1);
    expect(seen(state, 'HTTPRoute').generation).toBe(1);
    load(state, GATEWAY + backend('a') + backend('b') + route('b'), T2);
    const second = {
      generation: 2,
      conditions: [`Accepted: True since ${T1} of 2`, `ResolvedRefs: True since ${T1} of 2`],
    };
    expect(seen(state, 'HTTPRoute')).toEqual(second);
    expect(seen(state, 'Gateway').generation, 'nobody touched it').toBe(1);

    state = restarted(state);
    load(state, GATEWAY + backend('a') + backend('b') + route('b'), T3);
    expect(seen(state, 'HTTPRoute')).toEqual(second);
    state = restarted(state);
    load(state, GATEWAY + backend('a') + backend('b') + route('a'), T3);
    expect(seen(state, 'HTTPRoute').generation, 'changed while nobody looked').toBe(3);
  });

  it('a transition time moves with the status only, and the reason of a condition may change', () => {
    let state = new BuildState();
    load(state, GATEWAY + route('missing'), T1);
    state = restarted(state);
    const granted = route('missing', '', ', labels: { a: b }');
    load(state, GATEWAY + granted, T2);
    expect(seen(state, 'HTTPRoute').conditions).toEqual([
      `Accepted: True since ${T1} of 1`,
      `ResolvedRefs: False since ${T1} of 1`,
    ]);
    // Another reason: not missing, but of no such kind.
    load(state, GATEWAY + route('missing').replace('kind: Backend', 'kind: Bucket'), T2);
    expect(seen(state, 'HTTPRoute').conditions[1]).toBe(`ResolvedRefs: False since ${T1} of 2`);
    load(state, GATEWAY + backend('missing') + route('missing'), T3);
    expect(seen(state, 'HTTPRoute').conditions).toEqual([
      `Accepted: True since ${T1} of 3`,
      `ResolvedRefs: True since ${T3} of 3`,
    ]);
  });

  it('labels, comments, places and the order of keys are no change of the spec', () => {
    const state = new BuildState();
    load(state, GATEWAY + backend('a') + route('a'), T1);
    const moved = backend('a') + route('a', '', ', labels: { tier: front }') + GATEWAY;
    const reordered = moved.replace(
      'name: http, port: 8080, protocol: HTTP',
      'protocol: HTTP, port: 8080, name: http # as before',
    );
    load(state, reordered, T2);
    for (const kind of ['Gateway', 'HTTPRoute', 'Backend']) expect(seen(state, kind).generation, kind).toBe(1);
  });

  it('a generation in the file is a lower bound: files come from clusters, too', () => {
    const state = new BuildState();
    load(state, GATEWAY + backend('a') + route('a', '', ', generation: 7'), T1);
    expect(seen(state, 'HTTPRoute').generation).toBe(7);
    load(state, GATEWAY + backend('a') + route('b', '', ', generation: 7'), T2);
    expect(seen(state, 'HTTPRoute').generation).toBe(8);
    load(state, GATEWAY + backend('a') + route('b', '', ', generation: 3'), T2);
    expect(seen(state, 'HTTPRoute').generation, 'never less than it was').toBe(8);
  });

  it('an object that is gone begins anew, one that has an error for a while does not', () => {
    const state = new BuildState();
    const whole = GATEWAY + backend('a') + route('a');
    load(state, whole, T1);
    const faulty = whole.replace('name: edge }]', 'name: 7 }]');
    expect(load(state, faulty, T2, true)).toBe('changed');
    expect(state.objects({ kind: 'HTTPRoute' })).toEqual([]);
    const again = restarted(state);
    load(again, whole, T3, true);
    expect(seen(again, 'HTTPRoute').conditions[0]).toMatch(`since ${T1}`);
    load(state, GATEWAY, T2);
    load(state, whole, T3);
    expect(seen(state, 'HTTPRoute')).toMatchObject({
      generation: 1,
      conditions: [`Accepted: True since ${T3} of 1`, `ResolvedRefs: True since ${T3} of 1`],
    });
  });

  it('a build that does not serve leaves no trace', () => {
    const state = new BuildState();
    load(state, GATEWAY + route('a'), T1);
    expect(load(state, 'kind: [', T2)).toBe('refused');
    expect(seen(state, 'HTTPRoute').generation).toBe(1);
    expect(state.ledger(false)).toBeInstanceOf(Uint8Array);
    expect(state.ledger(false), 'nothing moved').toBeUndefined();
    expect(state.ledger(true)).toBeInstanceOf(Uint8Array);
    load(state, `${GATEWAY}${route('a')}# a comment`, T2);
    expect(state.ledger(false), 'still nothing moved').toBeUndefined();
  });

  it('objects without a counted generation show none', () => {
    const state = new BuildState();
    load(state, `apiVersion: v1\nkind: Namespace\nmetadata: { name: shop }\n---\n${GATEWAY}`, T1);
    expect(state.objects({ kind: 'Namespace' })[0]?.metadata).toEqual({ name: 'shop' });
  });
});

describe('a ledger as bytes', () => {
  const bytes = (() => {
    const state = new BuildState();
    load(state, GATEWAY + backend('a') + route('a'), T1);
    return state.ledger(true) as Uint8Array;
  })();

  it('is the same ledger again', () => {
    const decoded = decodeLedger(bytes);
    expect(decoded.ok && [...decoded.value.keys()]).toEqual([
      'Backend default/a',
      'Gateway default/edge',
      'GatewayClass edge',
      'HTTPRoute default/web',
    ]);
    expect(decoded.ok && encodeLedger(decoded.value)).toEqual(bytes);
  });

  it('tells nothing of what objects say', () => {
    expect(new TextDecoder().decode(bytes)).not.toMatch(/127\.0\.0\.1|8080|message/);
  });

  it('cut off, changed or foreign is refused with a reason, wherever it is hurt', () => {
    for (let length = 0; length < bytes.length; length += 7)
      expect(decodeLedger(bytes.subarray(0, length)).ok).toBe(false);
    for (let at = 0; at < bytes.length; at += 1) {
      const hurt = Uint8Array.from(bytes);
      hurt[at] = (hurt[at] ?? 0) ^ 1;
      const decoded = decodeLedger(hurt);
      // The last line end says nothing.
      if (at < bytes.length - 1) expect(decoded.ok, `byte ${at}`).toBe(false);
    }
    const text = new TextDecoder().decode(bytes);
    const later = new TextEncoder().encode(text.replace('"version":1', '"version":2'));
    expect(decodeLedger(later)).toEqual({ ok: false, error: 'it has version 2, this release reads 1' });
    expect(decodeLedger(new TextEncoder().encode('{"a":1}\n')).ok).toBe(false);
    expect(decodeLedger(new Uint8Array([0xff, 0xfe, 0])).ok).toBe(false);
  });
});

it('100,000 routes take 8 MB, and those in which nothing moved are kept once', () => {
  const [template] = admitText('a.yaml', route('a')).resources;
  if (template?.kind !== 'HTTPRoute') throw new Error('no route');
  const resources = Array.from({ length: 100_000 }, (_, index) => ({
    ...template,
    metadata: { ...template.metadata, name: `route-${String(index).padStart(6, '0')}` },
  }));
  const conditions = [
    { type: 'Accepted', status: 'True', reason: 'Accepted', message: '', observedGeneration: 1 },
    { type: 'ResolvedRefs', status: 'True', reason: 'ResolvedRefs', message: '', observedGeneration: 1 },
  ] as const;
  const statuses = resources.map(({ apiVersion, kind, metadata: { namespace, name } }, index) => ({
    apiVersion,
    kind,
    namespace,
    name,
    generation: 1,
    status: {
      parents: [
        { parentRef: { name: `edge-${index % 1000}` }, controllerName: 'weirgate.dev/gateway-controller', conditions },
      ],
    },
  }));
  const none: ReadonlySet<string> = new Set();
  const roster = recordStatuses(countGenerations(resources, none, EMPTY_ROSTER), statuses, T1);
  const bytes = encodeLedger(ledgerOf(roster));
  expect(bytes.length / 1e6).toBeLessThan(8);
  const again = recordStatuses(countGenerations(resources, none, roster), statuses, T2);
  // Nothing moved: the very same rows, so nothing is kept twice.
  expect(again.rows.every((row, index) => row === roster.rows[index])).toBe(true);
});
