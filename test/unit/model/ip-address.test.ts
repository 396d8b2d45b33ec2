import { describe, expect, it } from 'vitest';
import {
  compareIpAddresses,
  isGlobal,
  isLoopback,
  isWithin,
  parseIpAddress,
  parseIpNetwork,
} from '../../../src/model/ip-address.js';

const address = (text: string) => parseIpAddress(text)!;

describe('IP addresses', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['0.0.0.0', '0.0.0.0'],
    ['::', '::'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['fe80::', 'fe80::'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
  ])('%s is written %s', (text, canonical) => {
    expect(parseIpAddress(text)?.text).toBe(canonical);
  });

  it.each([
    '',
    '1.2.3',
    '1.2.3.256',
    '01.2.3.4',
    '1.2.3.4.5',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8',
    'fe80::1%eth0',
    '::g',
    'localhost',
  ])('"%s" is no address', (text) => {
    expect(parseIpAddress(text)).toBeUndefined();
  });

  it('a network holds its addresses and no others, of its own family only', () => {
    const network = parseIpNetwork('10.1.2.3/8')!;
    expect(isWithin(address('10.0.0.0'), network)).toBe(true);
    expect(isWithin(address('10.255.255.255'), network)).toBe(true);
    expect(isWithin(address('11.0.0.0'), network)).toBe(false);
    expect(isWithin(address('::a00:1'), network)).toBe(false);
    expect(isWithin(address('2001:db8::1'), parseIpNetwork('2001:db8::/32')!)).toBe(true);
    expect(isWithin(address('192.0.2.1'), parseIpNetwork('192.0.2.1')!)).toBe(true);
    expect(isWithin(address('255.1.1.1'), parseIpNetwork('0.0.0.0/0')!)).toBe(true);
  });

  it.each(['10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/a', 'x/8'])('"%s" is no network', (text) => {
    expect(parseIpNetwork(text)).toBeUndefined();
  });

  it('loopback, link-local, multicast and unspecified addresses are not global', () => {
    for (const text of [
      '127.9.9.9',
      '169.254.1.1',
      '224.0.0.1',
      '0.0.0.0',
      '::1',
      'fe80::1',
      'febf::1',
      'ff02::1',
      '::',
    ]) {
      expect(isGlobal(address(text)), text).toBe(false);
    }
    for (const text of ['10.0.0.1', '192.0.2.1', '2001:db8::1', 'fd00::1', '223.255.255.255']) {
      expect(isGlobal(address(text)), text).toBe(true);
    }
    expect(isLoopback(address('127.9.9.9'))).toBe(true);
    expect(isLoopback(address('::1'))).toBe(true);
    expect(isLoopback(address('128.0.0.1'))).toBe(false);
  });

  it('IPv4 sorts before IPv6, and numbers by value, not by text', () => {
    const sorted = ['10.0.0.9', '10.0.0.10', '9.0.0.0', '::2', '::10'].map(address).sort(compareIpAddresses);
    expect(sorted.map(({ text }) => text)).toEqual(['9.0.0.0', '10.0.0.9', '10.0.0.10', '::2', '::10']);
  });
});
