import { describe, expect, it } from 'vitest';
import { admitSnapshot, admitText } from '../../../src/admit/index.js';
import { ALL_CAPABILITIES, type Capability } from '../../../src/model/capabilities.js';
import { plan } from '../../../src/pipeline.js';
import type { ListenerStatus } from '../../../src/status/status.js';
import { FACTS } from '../../support/build.js';
import { gatewayClass, textOf } from '../../support/snapshot-arbitrary.js';

const PASSTHROUGH = { protocol: 'TLS', tls: { mode: 'Passthrough' } };
const TERMINATE = { protocol: 'TLS', tls: { mode: 'Terminate', options: { 'weirgate.dev/min-version': '1.3' } } };

/** Judges one listener for a data plane without some capabilities. */
function judge(listener: object, ...without: readonly Capability[]): ListenerStatus | undefined {
  const gateway = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'edge' },
    spec: { gatewayClassName: 'weirgate', listeners: [{ name: 'l', port: 443, ...listener }] },
  };
  const snapshot = admitSnapshot([admitText('input.yaml', textOf([gatewayClass, gateway]))]);
  const { status } = plan(snapshot, FACTS, new Set(ALL_CAPABILITIES.filter((one) => !without.includes(one))));
  return status.find(({ kind }) => kind === 'Gateway')?.status.listeners?.[0];
}

function kindsOf(...args: Parameters<typeof judge>): string[] | undefined {
  return judge(...args)?.supportedKinds.map(({ kind }) => kind);
}

function acceptedOf(...args: Parameters<typeof judge>): string {
  const accepted = judge(...args)?.conditions.find(({ type }) => type === 'Accepted');
  return `${accepted?.status}/${accepted?.reason}`;
}

describe('kinds of routes of a listener', () => {
  it.each([
    [{ protocol: 'HTTP' }, ['HTTPRoute', 'GRPCRoute']],
    [{ protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'gone' }] } }, ['HTTPRoute', 'GRPCRoute']],
    [PASSTHROUGH, ['TLSRoute']],
    [TERMINATE, ['TLSRoute', 'TCPRoute']],
    [{ protocol: 'TCP' }, ['TCPRoute']],
    [{ protocol: 'UDP' }, ['UDPRoute']],
    [{ protocol: 'example.com/odd' }, []],
  ])('%j takes %j', (listener, kinds) => {
    expect(kindsOf(listener)).toEqual(kinds);
  });

  it('are without GRPCRoute where the data plane lacks it', () => {
    expect(kindsOf({ protocol: 'HTTP' }, 'route/GRPCRoute')).toEqual(['HTTPRoute']);
  });

  it('are none where the data plane lacks the protocol', () => {
    expect(kindsOf({ protocol: 'UDP' }, 'protocol/UDP')).toEqual([]);
  });
});

describe('acceptance of a listener', () => {
  it.each<[string, object, Capability, string]>([
    ['a protocol that is not served', { protocol: 'TCP' }, 'protocol/TCP', 'False/UnsupportedProtocol'],
    ['TLS that is not served at all', PASSTHROUGH, 'protocol/TLS', 'False/UnsupportedProtocol'],
    ['passing TLS through', PASSTHROUGH, 'tls/passthrough', 'False/UnsupportedValue'],
    ['ending TLS', TERMINATE, 'tls/terminate', 'False/UnsupportedValue'],
    ['passing TLS through where only ending it is not served', PASSTHROUGH, 'tls/terminate', 'True/Accepted'],
  ])('%s', (_, listener, without, expected) => {
    expect(acceptedOf(listener, without)).toBe(expected);
  });

  it('HTTPS does not depend on the modes of protocol TLS', () => {
    const https = { protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'gone' }] } };
    expect(acceptedOf(https, 'tls/terminate', 'tls/passthrough')).toBe('True/Accepted');
  });
});

describe('a listener that is not served', () => {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'cert' },
    type: 'kubernetes.io/tls',
    data: { 'tls.crt': 'eA==', 'tls.key': 'eA==' },
    spec: undefined,
  };

  /** Returns codes and hints for a Gateway with this listener beside a Secret, for a data plane without HTTPS. */
  function told(listener: object): string[] {
    const gateway = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'edge' },
      spec: { gatewayClassName: 'weirgate', listeners: [{ name: 'l', port: 443, ...listener }] },
    };
    const snapshot = admitSnapshot([admitText('input.yaml', textOf([gatewayClass, gateway, secret]))]);
    const served = new Set(ALL_CAPABILITIES.filter((one) => one !== 'protocol/HTTPS'));
    return plan(snapshot, FACTS, served).diagnostics.map(({ code, hint }) => `${code} ${hint}`);
  }

  it('keeps its certificate from being called useless', () => {
    const https = { protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'cert' }] } };
    expect(told(https)).toEqual(['WG4020 HTTP, TLS, TCP and UDP are served']);
  });

  it('is told which protocol was meant, if that one is served', () => {
    expect(told({ protocol: 'http' })[0]).toBe('WG4020 did you mean HTTP?');
    expect(told({ protocol: 'https' })[0]).toBe('WG4020 HTTP, TLS, TCP and UDP are served');
  });
});
