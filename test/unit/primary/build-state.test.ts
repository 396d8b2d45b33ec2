/** Which configurations a reload refuses as a whole, and what becomes of the slots of objects that vanish. */
import { describe, expect, it } from 'vitest';
import { admitText } from '../../../src/admit/index.js';
import { type BuildReply, type BuildRequest, BuildState } from '../../../src/primary/build-state.js';

const GATEWAY_CLASS = `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: edge }
spec:
  controllerName: weirgate.dev/gateway-controller
  parametersRef: { group: weirgate.dev, kind: WeirgateConfig, name: settings, namespace: default }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge }
spec:
  gatewayClassName: edge
  addresses: [{ value: 127.0.0.1 }]
  listeners: [{ name: http, port: 8080, protocol: HTTP }]
`;

const SETTINGS = `---
apiVersion: weirgate.dev/v1alpha1
kind: WeirgateConfig
metadata: { name: settings }
spec: { workers: 2 }
`;

function build(
  state: BuildState,
  text: string,
  generation: number,
  keepGoing = false,
  reuse: Partial<BuildRequest> = {},
): BuildReply {
  return state.build({
    generation,
    files: [{ file: 'edge.yaml', hash: text, admitted: admitText('edge.yaml', text) }],
    readDiagnostics: [],
    facts: { hasIpv6: true, hostAddresses: ['127.0.0.1'], bindFailures: [], assignedAddresses: {} },
    oldestHeld: 0,
    reusable: [],
    keepGoing,
    now: '2026-11-30T00:00:00Z',
    ...reuse,
  });
}

describe('a build', () => {
  it('is refused when the settings of a class are gone: every Gateway of the class would be closed at once', () => {
    const state = new BuildState();
    expect(build(state, GATEWAY_CLASS + SETTINGS, 1).outcome).toBe('changed');
    state.commit();
    const reply = build(state, GATEWAY_CLASS, 2);
    expect(reply.outcome).toBe('refused');
    expect(reply.diagnostics.map(({ code }) => code)).toContain('WG4001');
    expect(state.objects({ kind: 'WeirgateConfig' })).toHaveLength(1);
  });

  it('of what serves already is over at once, and keeps the files for the next one', () => {
    const state = new BuildState();
    const text = GATEWAY_CLASS + SETTINGS;
    build(state, text, 1);
    state.commit();
    expect(build(state, 'kind: [', 2).outcome).toBe('refused');
    expect(build(state, text, 2)).toMatchObject({ outcome: 'unchanged', changes: [], summary: { faultCount: 0 } });
    // Known by its hash alone now.
    const files = [{ file: 'edge.yaml', hash: text }];
    expect(build(state, text, 2, false, { files }).outcome).toBe('unchanged');
    const facts = { hasIpv6: false, hostAddresses: ['127.0.0.1'], bindFailures: [], assignedAddresses: {} };
    expect(build(state, text, 2, false, { files, facts }).outcome).toBe('unchanged');
  });

  it('after one that was given up in part has its table again, whatever it equals', () => {
    const state = new BuildState();
    const text = GATEWAY_CLASS + SETTINGS;
    build(state, text, 1);
    state.commit();
    build(state, text.replace('8080', '8081'), 2);
    state.abandon();
    expect(build(state, text, 3)).toMatchObject({ outcome: 'changed', built: { generation: 3 } });
  });

  it('is told from another one by endpoints alone: no new table', () => {
    const state = new BuildState();
    const pool = (port: number): string => `${GATEWAY_CLASS}${SETTINGS}---
apiVersion: weirgate.dev/v1alpha1
kind: Backend
metadata: { name: pool }
spec: { endpoints: [{ address: 127.0.0.1, port: ${port} }] }
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: all }
spec:
  parentRefs: [{ name: edge }]
  rules: [{ backendRefs: [{ group: weirgate.dev, kind: Backend, name: pool }] }]
`;
    build(state, pool(1), 1);
    state.commit();
    const reply = build(state, pool(2), 2);
    expect(reply.outcome).toBe('updated');
    expect(reply.built?.table).toBeUndefined();
    expect(reply.built?.changedSets).toHaveLength(1);
    expect(reply.changes).toEqual([{ object: 'Backend default/pool', change: 'changed' }]);
  });

  it('serves the rest with --keep-going', () => {
    expect(build(new BuildState(), GATEWAY_CLASS, 1, true).outcome).toBe('changed');
  });

  it('keeps the ids of sockets when it is built once more without those that could not be opened', () => {
    const state = new BuildState();
    const two =
      GATEWAY_CLASS.replace('port: 8080, protocol: HTTP }', '$&, { name: low, port: 80, protocol: HTTP }') + SETTINGS;
    const first = build(state, two, 1).built?.sockets ?? [];
    expect(first.map(({ key }) => key)).toEqual(['tcp/127.0.0.1:80', 'tcp/127.0.0.1:8080']);
    state.revise();
    const [failed, open] = first;
    const bindFailures = [{ key: failed?.key ?? '', reason: 'EACCES', message: 'no right' }];
    const facts = { hasIpv6: true, hostAddresses: ['127.0.0.1'], bindFailures, assignedAddresses: {} };
    expect(build(state, two, 1, false, { facts }).built?.sockets).toEqual([open]);
  });

  it('gives slots of vanished endpoints away only when no generation can name them and they are quiet', () => {
    const state = new BuildState(0);
    const pool = (port: number): string => `---
apiVersion: weirgate.dev/v1alpha1
kind: Backend
metadata: { name: pool }
spec: { endpoints: [{ address: 127.0.0.1, port: ${port} }] }
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: all }
spec:
  parentRefs: [{ name: edge }]
  rules: [{ backendRefs: [{ group: weirgate.dev, kind: Backend, name: pool }] }]
`;
    const slotOf = (reply: BuildReply): number | undefined => reply.built?.slots.endpoints[0]?.slot;
    const load = (port: number, generation: number, reuse: Partial<BuildRequest> = {}): BuildReply => {
      const reply = build(state, GATEWAY_CLASS + SETTINGS + pool(port), generation, false, reuse);
      state.commit();
      return reply;
    };
    const first = slotOf(load(1, 1));
    const second = load(2, 2, { oldestHeld: 1 });
    expect(slotOf(second)).not.toBe(first);
    expect(second.retired).toEqual([]);
    const third = load(3, 3, { oldestHeld: 2 });
    expect(third.retired.map(({ id }) => id)).toContain(first);
    expect(slotOf(third)).not.toBe(first);
    expect(slotOf(load(4, 4, { oldestHeld: 2, reusable: third.retired }))).toBe(first);
  });
});
