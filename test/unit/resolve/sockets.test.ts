import { describe, expect, it } from 'vitest';
import type { Facts } from '../../../src/resolve/index.js';
import { buildText, planFiles } from '../../support/build.js';
import { gatewayClass, textOf, type WrittenObject } from '../../support/snapshot-arbitrary.js';

const gatewayOf = (name: string, hostname: string, addresses: readonly string[]): WrittenObject => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name },
  spec: {
    gatewayClassName: 'weirgate',
    ...(addresses.length > 0 && { addresses: addresses.map((value) => ({ value })) }),
    listeners: [{ name: 'l', protocol: 'HTTP', port: 80, hostname }],
  },
});

function sockets(gateways: readonly WrittenObject[], facts: Partial<Facts> = {}): string[] {
  const { ir } = buildText(textOf([gatewayClass, ...gateways]), facts);
  return ir.sockets.map(
    ({ key, listeners }) => `${key} ${listeners.map((index) => ir.listeners[index]?.name).join(' ')}`,
  );
}

describe('sockets', () => {
  it('a wildcard address swallows the single addresses of the same Gateway', () => {
    expect(sockets([gatewayOf('g', 'a.test', ['192.0.2.10', '::'])])).toEqual(['tcp/[::]:80 default/g/l']);
    expect(sockets([gatewayOf('g', 'a.test', ['0.0.0.0', '192.0.2.10', '2001:db8::10'])])).toEqual([
      'tcp/0.0.0.0:80 default/g/l',
      'tcp/[2001:db8::10]:80 default/g/l',
    ]);
  });

  it('an IPv4 wildcard is served on single IPv4 addresses only', () => {
    expect(
      sockets([
        gatewayOf('all4', 'a.test', ['0.0.0.0']),
        gatewayOf('one4', 'b.test', ['192.0.2.10']),
        gatewayOf('one6', 'c.test', ['2001:db8::10']),
      ]),
    ).toEqual([
      'tcp/0.0.0.0:80 default/all4/l',
      'tcp/192.0.2.10:80 default/all4/l default/one4/l',
      'tcp/[2001:db8::10]:80 default/one6/l',
    ]);
  });

  it('an IPv4 wildcard is itself narrower than all addresses', () => {
    expect(sockets([gatewayOf('all', 'a.test', []), gatewayOf('all4', 'b.test', ['0.0.0.0'])])).toEqual([
      'tcp/0.0.0.0:80 default/all/l default/all4/l',
      'tcp/[::]:80 default/all/l',
    ]);
  });

  it('a single address that cannot be opened is not shared', () => {
    const bindFailures = [{ key: 'tcp/192.0.2.10:80', reason: 'EADDRINUSE', message: 'held by pid 1' }];
    expect(
      sockets([gatewayOf('all', 'a.test', []), gatewayOf('one', 'b.test', ['192.0.2.10'])], { bindFailures }),
    ).toEqual(['tcp/[::]:80 default/all/l']);
  });

  it('an address written in two ways is one address', () => {
    expect(
      sockets([gatewayOf('a', 'a.test', ['2001:DB8::0010']), gatewayOf('b', 'b.test', ['2001:db8:0::10'])]),
    ).toEqual(['tcp/[2001:db8::10]:80 default/a/l default/b/l']);
  });

  it('UDP and TCP on one port are sockets of their own, shared with nobody of the other transport', () => {
    const listeners = (protocol: string, addresses: readonly string[]): WrittenObject => {
      const gateway = gatewayOf(protocol.toLowerCase(), 'unused', addresses);
      const spec = { ...(gateway.spec as object), listeners: [{ name: 'l', protocol, port: 53 }] };
      return { ...gateway, spec };
    };
    const text = textOf([gatewayClass, listeners('UDP', ['192.0.2.10']), listeners('TCP', [])]);
    const { ir } = planFiles({ 'input.yaml': text });
    expect(ir.sockets.map(({ key, transport, protocol }) => [key, transport, protocol])).toEqual([
      ['tcp/[::]:53', 'tcp', 'tcp'],
      ['udp/192.0.2.10:53', 'udp', 'udp'],
    ]);
  });

  it('a failure of one transport does not touch the other', () => {
    const gateway: WrittenObject = {
      ...gatewayOf('g', 'unused', []),
      spec: {
        gatewayClassName: 'weirgate',
        listeners: ['TCP', 'UDP'].map((protocol) => ({ name: protocol.toLowerCase(), protocol, port: 53 })),
      },
    };
    const bindFailures = [{ key: 'udp/[::]:53', reason: 'EADDRINUSE', message: 'held by pid 53' }];
    const { ir } = planFiles({ 'input.yaml': textOf([gatewayClass, gateway]) }, { bindFailures });
    expect(ir.sockets.map(({ key }) => key)).toEqual(['tcp/[::]:53']);
  });
});
