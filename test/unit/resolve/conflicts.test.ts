import { describe, expect, it } from 'vitest';
import { planFiles } from '../../support/build.js';
import { gatewayClass, textOf, type WrittenObject } from '../../support/snapshot-arbitrary.js';

interface Given {
  readonly protocol?: string;
  readonly port?: number;
  readonly hostname?: string;
  readonly address?: string;
}

/** One Gateway for each listener; returns which of them are Conflicted. */
function conflicted(...given: readonly Given[]): boolean[] {
  const gateways = given.map(
    ({ protocol = 'HTTP', port = 80, hostname, address }, index): WrittenObject => ({
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: `g${index}` },
      spec: {
        gatewayClassName: 'weirgate',
        ...(address !== undefined && { addresses: [{ value: address }] }),
        listeners: [{ name: 'l', protocol, port, ...(hostname !== undefined && { hostname }) }],
      },
    }),
  );
  const { status } = planFiles(
    { 'input.yaml': textOf([gatewayClass, ...gateways]) },
    { hostAddresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'] },
  );
  return given.map((_, index) => {
    const listener = status.find(({ name }) => name === `g${index}`)?.status.listeners?.[0];
    return listener?.conditions.some(({ type, status: is }) => type === 'Conflicted' && is === 'True') ?? false;
  });
}

describe('listeners over several Gateways', () => {
  it.each<[string, Given[], boolean[]]>([
    ['equal hostnames on all addresses', [{}, {}], [true, true]],
    ['different ports', [{}, { port: 81 }], [false, false]],
    ['different hostnames', [{ hostname: 'a.test' }, { hostname: '*.test' }, {}], [false, false, false]],
    ['different single addresses', [{ address: '192.0.2.1' }, { address: '192.0.2.2' }], [false, false]],
    ['one single address twice', [{ address: '192.0.2.1' }, { address: '192.0.2.1' }], [true, true]],
    ['all addresses and one of IPv6', [{}, { address: '2001:db8::1' }], [true, true]],
    ['all of IPv4 and one of IPv6', [{ address: '0.0.0.0' }, { address: '2001:db8::1' }], [false, false]],
    ['all of IPv4 and one of them', [{ address: '0.0.0.0' }, { address: '192.0.2.1' }], [true, true]],
    ['all of IPv4 and really all', [{ address: '0.0.0.0' }, { address: '::' }], [true, true]],
    ['two that meet the third only', [{ address: '192.0.2.1' }, { address: '192.0.2.2' }, {}], [true, true, true]],
    ['TCP and HTTP', [{ protocol: 'TCP' }, { hostname: 'a.test' }, { hostname: 'b.test' }], [true, true, true]],
    ['TCP on another address', [{ protocol: 'TCP', address: '192.0.2.1' }, { address: '192.0.2.2' }], [false, false]],
    [
      'TCP on one address and HTTP on all makes no other HTTP listener indistinct',
      [{ protocol: 'TCP', address: '192.0.2.1' }, {}, { address: '192.0.2.2', hostname: 'a.test' }],
      [true, true, false],
    ],
    ['TCP twice', [{ protocol: 'TCP' }, { protocol: 'TCP' }], [true, true]],
    ['UDP twice, TCP beside', [{ protocol: 'UDP' }, { protocol: 'UDP' }, { protocol: 'TCP' }], [true, true, false]],
    ['a protocol that nobody knows', [{ protocol: 'example.com/odd' }, {}], [false, false]],
    ['a Gateway that opens nothing disturbs nobody', [{ address: '203.0.113.9' }, {}], [false, false]],
  ])('%s', (_, given, expected) => {
    expect(conflicted(...given)).toEqual(expected);
  });

  it('a message names some rivals, however many there are', () => {
    const given = Array.from({ length: 40 }, () => ({}));
    expect(conflicted(...given).every(Boolean)).toBe(true);
  });
});
