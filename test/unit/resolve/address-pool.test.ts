import { describe, expect, it } from 'vitest';
import { AddressPool } from '../../../src/resolve/address-pool.js';
import { HostAddresses } from '../../../src/resolve/addresses.js';

const host = new HostAddresses({
  hasIpv6: true,
  hostAddresses: ['192.0.2.12', '192.0.2.9', '192.0.2.10', '2001:db8::7'],
  bindFailures: [],
  assignedAddresses: {},
});

describe('address pool', () => {
  it('gives local addresses in ascending order, network by network, each once', () => {
    const pool = new AddressPool(host, {});
    const networks = ['192.0.2.8/29', '2001:db8::/64'];
    const given = ['a', 'b', 'c', 'd', 'e'].map((key) => pool.give(key, networks));
    expect(given).toEqual(['192.0.2.9', '192.0.2.10', '192.0.2.12', '2001:db8::7', undefined]);
    expect(pool.give('a', networks)).toBe('192.0.2.9');
  });

  it('keeps what a key had as long as the pool holds it and the host has it', () => {
    const pool = new AddressPool(host, { a: '192.0.2.12', b: '192.0.2.13', c: '198.51.100.1', d: 'nonsense' });
    const networks = ['192.0.2.8/29'];
    for (const key of ['a', 'b', 'c', 'd']) pool.keep(key, networks);
    expect(['d', 'c', 'b', 'a'].map((key) => pool.give(key, networks))).toEqual([
      '192.0.2.9',
      '192.0.2.10',
      undefined,
      '192.0.2.12',
    ]);
  });

  it('never gives an address that somebody has named', () => {
    const pool = new AddressPool(host, { a: '192.0.2.9' });
    pool.take('192.0.2.9');
    pool.keep('a', ['192.0.2.8/29']);
    expect(pool.give('a', ['192.0.2.8/29'])).toBe('192.0.2.10');
  });

  it('uses a loopback network without listing it, but not its first and last address', () => {
    const pool = new AddressPool(host, {});
    expect(['a', 'b', 'c'].map((key) => pool.give(key, ['127.0.3.0/30']))).toEqual([
      '127.0.3.1',
      '127.0.3.2',
      undefined,
    ]);
    expect(['d', 'e', 'f'].map((key) => pool.give(key, ['127.0.4.0/31']))).toEqual([
      '127.0.4.0',
      '127.0.4.1',
      undefined,
    ]);
    expect(pool.give('g', ['127.0.5.9/32'])).toBe('127.0.5.9');
  });

  it('has nothing to give when its text is no network', () => {
    expect(new AddressPool(host, {}).give('a', ['not/a/network'])).toBeUndefined();
  });
});
