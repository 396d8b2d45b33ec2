/**
 * IP literals and networks as values: one text for one address, whatever way it was written.
 * Nothing here asks the host anything; which addresses are local is a fact that comes from outside.
 */

export type IpFamily = 4 | 6;

export interface IpAddress {
  readonly family: IpFamily;
  /** As inet_ntop prints it: `192.0.2.1`, `2001:db8::1`. IPv4-mapped IPv6 counts as the IPv4 address that it carries. */
  readonly text: string;
  /** The address as a number of 32 or 128 bits. */
  readonly value: bigint;
}

export interface IpNetwork {
  readonly family: IpFamily;
  readonly first: bigint;
  readonly last: bigint;
}

/** Every local address: dual-stack where the host has IPv6. */
export const ANY_IPV6 = '::';
export const ANY_IPV4 = '0.0.0.0';

const IPV4_MAPPED = 0xffffn;

/** Parses an IPv4 or IPv6 literal without a zone; `undefined` when the text is none. */
export function parseIpAddress(text: string): IpAddress | undefined {
  if (!text.includes(':')) {
    const value = parseIpv4(text);
    return value === undefined ? undefined : { family: 4, text: formatIpv4(value), value };
  }
  const value = parseIpv6(text);
  if (value === undefined) return undefined;
  if (value >> 32n === IPV4_MAPPED) {
    const mapped = value & 0xffffffffn;
    return { family: 4, text: formatIpv4(mapped), value: mapped };
  }
  return { family: 6, text: formatIpv6(value), value };
}

/** Returns the canonical address for a number of the family's width. */
export function ipAddressOf(family: IpFamily, value: bigint): IpAddress {
  return { family, value, text: family === 4 ? formatIpv4(value) : formatIpv6(value) };
}

/** Parses `10.0.0.0/8`, `2001:db8::/32` or a single address; host bits are ignored; `undefined` when the text is none. */
export function parseIpNetwork(text: string): IpNetwork | undefined {
  const slash = text.indexOf('/');
  const address = parseIpAddress(slash < 0 ? text : text.slice(0, slash));
  if (address === undefined) return undefined;
  const width = address.family === 4 ? 32 : 128;
  const prefix = slash < 0 ? width : parsePrefix(text.slice(slash + 1), width);
  if (prefix === undefined) return undefined;
  const size = 1n << BigInt(width - prefix);
  const first = address.value - (address.value % size);
  return { family: address.family, first, last: first + size - 1n };
}

/** True when the address lies within the network. */
export function isWithin(address: IpAddress, network: IpNetwork): boolean {
  return address.family === network.family && address.value >= network.first && address.value <= network.last;
}

/** True for addresses that never leave the host: 127.0.0.0/8 and ::1. */
export function isLoopback(address: IpAddress): boolean {
  return address.family === 4 ? address.value >> 24n === 127n : address.value === 1n;
}

/** True for addresses that other networks can reach us by: neither loopback, link-local, multicast nor unspecified. */
export function isGlobal(address: IpAddress): boolean {
  if (address.value === 0n || isLoopback(address)) return false;
  if (address.family === 4) return address.value >> 16n !== 0xa9fen && address.value >> 28n !== 0xen;
  return address.value >> 118n !== 0x3fan && address.value >> 120n !== 0xffn;
}

/** Orders IPv4 before IPv6, then by number. */
export function compareIpAddresses(a: IpAddress, b: IpAddress): number {
  if (a.family !== b.family) return a.family - b.family;
  if (a.value === b.value) return 0;
  return a.value < b.value ? -1 : 1;
}

function parsePrefix(text: string, width: number): number | undefined {
  if (!/^\d{1,3}$/.test(text)) return undefined;
  const prefix = Number(text);
  return prefix <= width ? prefix : undefined;
}

function parseIpv4(text: string): bigint | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (match === null) return undefined;
  let value = 0n;
  for (const part of match.slice(1)) {
    const byte = Number(part);
    // A leading zero is octal to some programs and decimal to others, so it is nothing to us.
    if (byte > 255 || (part.length > 1 && part.startsWith('0'))) return undefined;
    value = (value << 8n) | BigInt(byte);
  }
  return value;
}

function parseIpv6(text: string): bigint | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = parseGroups(halves[0] ?? '');
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? '') : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...new Array<number>(missing).fill(0), ...tail];
  return groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n);
}

function parseGroups(text: string): number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    if (index === parts.length - 1 && part.includes('.')) {
      const embedded = parseIpv4(part);
      if (embedded === undefined) return undefined;
      groups.push(Number(embedded >> 16n), Number(embedded & 0xffffn));
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
      groups.push(Number.parseInt(part, 16));
    } else {
      return undefined;
    }
  }
  return groups;
}

function formatIpv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');
}

/** RFC 5952: lower case, no leading zeros, the longest run of at least two zero groups shortened, the first of equals. */
function formatIpv6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(112 - 16 * index)) & 0xffffn));
  let start = -1;
  let length = 1;
  for (let at = 0; at < 8; at += 1) {
    let end = at;
    while (end < 8 && groups[end] === 0) end += 1;
    if (end - at > length) {
      start = at;
      length = end - at;
    }
    at = end;
  }
  const words = groups.map((group) => group.toString(16));
  if (start < 0) return words.join(':');
  return `${words.slice(0, start).join(':')}::${words.slice(start + length).join(':')}`;
}
