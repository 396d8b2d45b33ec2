/** Which configurations a reload refuses as a whole. */
import { describe, expect, it } from 'vitest';
import { admitText } from '../../../src/admit/index.js';
import { type BuildReply, BuildState } from '../../../src/primary/build-state.js';

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

function build(state: BuildState, text: string, generation: number, keepGoing = false): BuildReply {
  return state.build({
    generation,
    files: [{ file: 'edge.yaml', hash: text, admitted: admitText('edge.yaml', text) }],
    readDiagnostics: [],
    facts: { hasIpv6: true, hostAddresses: ['127.0.0.1'], bindFailures: [], assignedAddresses: {} },
    keepGoing,
    now: '2026-11-30T00:00:00Z',
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

  it('serves the rest with --keep-going', () => {
    expect(build(new BuildState(), GATEWAY_CLASS, 1, true).outcome).toBe('changed');
  });
});
