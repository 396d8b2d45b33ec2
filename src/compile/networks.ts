/**
 * Trusted client networks of a listener: CIDR texts as sorted, disjoint ranges that a binary search can answer.
 * IPv4 and IPv6 are apart: `::/0` covers no IPv4 client; a network inside ::ffff:0:0/96 is an IPv4 network.
 */
import { NETWORK_RECORD } from '../native/layout.gen.js';
import { CompileError } from './compile-error.js';
import { parseIpAddress } from './ip-address.js';
import type { Sections } from './sections.js';

interface Network {
  readonly family: 4 | 6;
  readonly low: bigint;
  readonly high: bigint;
}

const BITS = { 4: 32, 6: 128 } as const;
/** Bits of an IPv6 prefix before the IPv4 address that it maps. */
const MAPPED_BITS = 96;

/** Appends the networks and returns how many ranges they made. Overlapping and touching ones are merged. */
export function encodeNetworks(sections: Sections, cidrs: readonly string[]): number {
  const merged = mergeNetworks(cidrs.map(parseNetwork));
  for (const { family, low, high } of merged) {
    const at = sections.networks.record();
    for (let i = 0; i < 16; i++) {
      const shift = BigInt(8 * (15 - i));
      sections.networks.u8(at + NETWORK_RECORD.low + i, Number((low >> shift) & 0xffn));
      sections.networks.u8(at + NETWORK_RECORD.high + i, Number((high >> shift) & 0xffn));
    }
    sections.networks.u32(at + NETWORK_RECORD.family, family);
  }
  return merged.length;
}

function parseNetwork(cidr: string): Network {
  const [ip = '', length] = cidr.split('/');
  const { family, bytes } = parseIpAddress(ip);
  const isMapped = family === 4 && ip.includes(':');
  const bits = length === undefined ? BITS[family] : Number(length) - (isMapped ? MAPPED_BITS : 0);
  if (!Number.isInteger(bits) || bits < 0 || bits > BITS[family]) {
    throw new CompileError('bug', `"${cidr}" is no network`);
  }
  const address = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  const hostMask = (1n << BigInt(BITS[family] - bits)) - 1n;
  return { family, low: address & ~hostMask, high: address | hostMask };
}

function mergeNetworks(networks: readonly Network[]): Network[] {
  const sorted = networks.toSorted((a, b) => a.family - b.family || (a.low < b.low ? -1 : a.low > b.low ? 1 : 0));
  const merged: Network[] = [];
  for (const network of sorted) {
    const last = merged.at(-1);
    if (last === undefined || last.family !== network.family || network.low > last.high + 1n) merged.push(network);
    else if (network.high > last.high) merged[merged.length - 1] = { ...last, high: network.high };
  }
  return merged;
}
