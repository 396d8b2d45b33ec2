import { describe, expect, it } from 'vitest';
import { type CompiledEndpointSet, encodeEndpointSet } from '../../src/compile/compile.js';
import { parseIpAddress } from '../../src/compile/ip-address.js';
import { ENDPOINT_BLOCK, ENDPOINT_RECORD } from '../../src/native/layout.gen.js';

const SET: CompiledEndpointSet = {
  id: 3,
  key: 'Service/default/web:80',
  slot: 77,
  endpoints: [
    { ip: '10.0.0.1', port: 80, weight: 2, slot: 11 },
    { ip: '2001:db8::1', port: 65_535, weight: 1, slot: 12 },
  ],
  healthCheck: undefined,
};

function sequenceOf(block: Uint8Array): number[] {
  const view = new DataView(block.buffer, block.byteOffset);
  const at = ENDPOINT_BLOCK.size + view.getUint32(ENDPOINT_BLOCK.endpoints, true) * ENDPOINT_RECORD.size;
  const length = view.getUint32(ENDPOINT_BLOCK.sequence, true);
  return Array.from({ length }, (_, i) => view.getUint16(at + 2 * i, true));
}

describe('encodeEndpointSet', () => {
  it('writes addresses in network byte order with port, slot and health', () => {
    const block = encodeEndpointSet(SET, (i) => i === 1);
    const view = new DataView(block.buffer);
    expect(view.getUint32(ENDPOINT_BLOCK.slot, true)).toBe(77);
    const first = ENDPOINT_BLOCK.size;
    const second = first + ENDPOINT_RECORD.size;
    expect([...block.subarray(first + ENDPOINT_RECORD.ip, first + ENDPOINT_RECORD.ip + 16)]).toEqual([
      10,
      0,
      0,
      1,
      ...new Array(12).fill(0),
    ]);
    expect(view.getUint8(first + ENDPOINT_RECORD.family)).toBe(4);
    expect(view.getUint8(first + ENDPOINT_RECORD.health)).toBe(0);
    expect(view.getUint8(second + ENDPOINT_RECORD.family)).toBe(6);
    expect(view.getUint8(second + ENDPOINT_RECORD.health)).toBe(1);
    expect(view.getUint16(second + ENDPOINT_RECORD.port, true)).toBe(65_535);
    expect(view.getUint32(second + ENDPOINT_RECORD.slot, true)).toBe(12);
    expect(
      Buffer.from(block.subarray(second + ENDPOINT_RECORD.ip, second + ENDPOINT_RECORD.ip + 16)).toString('hex'),
    ).toBe('20010db8000000000000000000000001');
  });

  it('leaves unhealthy endpoints out of the sequence and is empty when none is left', () => {
    expect(sequenceOf(encodeEndpointSet(SET, () => true))).toEqual([0, 1, 0]);
    expect(sequenceOf(encodeEndpointSet(SET, (i) => i === 1))).toEqual([1]);
    expect(sequenceOf(encodeEndpointSet(SET, () => false))).toEqual([]);
  });
});

describe('parseIpAddress', () => {
  it.each([
    ['0.0.0.0', '00000000'],
    ['255.1.2.3', 'ff010203'],
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['fe80::', 'fe800000000000000000000000000000'],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ['1::8', '00010000000000000000000000000008'],
    ['64:ff9b::1.2.3.4', '0064ff9b000000000000000001020304'],
    ['::ffff:10.0.0.1', '0a000001'],
    ['::ffff:0a00:1', '0a000001'],
  ])('reads %s as %s', (text, hex) => {
    expect(Buffer.from(parseIpAddress(text).bytes).toString('hex')).toBe(hex);
  });

  it.each(['', 'localhost', '1.2.3', '1.2.3.4.5', '::g', 'fe80::1%eth0', '01.2.3.4'])('refuses %j', (text) => {
    expect(() => parseIpAddress(text)).toThrow('is no IP address');
  });
});
