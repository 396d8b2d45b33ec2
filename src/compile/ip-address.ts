/**
 * IP literals as bytes, for endpoint addresses and trusted networks. Admission has checked them; a fault here is a bug.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { CompileError } from './compile-error.js';

/** An address in network byte order; 4 bytes for family 4, 16 for family 6. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly bytes: Uint8Array;
}

/**
 * Returns the bytes of an IP literal; IPv4-mapped IPv6 addresses become IPv4.
 * Throws `CompileError` (bug) when `text` is none.
 */
export function parseIpAddress(text: string): IpAddress {
  if (isIPv4(text)) return { family: 4, bytes: Uint8Array.from(text.split('.'), Number) };
  if (!isIPv6(text) || text.includes('%')) throw new CompileError('bug', `"${text}" is no IP address`);
  const bytes = parseIpv6(text);
  const isMapped = bytes.every((byte, i) => i >= 12 || byte === (i < 10 ? 0 : 0xff));
  return isMapped ? { family: 4, bytes: bytes.subarray(12) } : { family: 6, bytes };
}

/** Expects what `isIPv6` accepts. */
function parseIpv6(text: string): Uint8Array {
  const lastColon = text.lastIndexOf(':');
  const tail = text.slice(lastColon + 1);
  const hex = tail.includes('.') ? text.slice(0, lastColon + 1) + groupsOfIpv4(tail) : text;
  const [head = '', rest] = hex.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = rest === undefined || rest === '' ? [] : rest.split(':');
  const groups = [...left, ...new Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return Uint8Array.from(
    groups.flatMap((group) => {
      const value = Number.parseInt(group, 16);
      return [value >> 8, value & 0xff];
    }),
  );
}

function groupsOfIpv4(text: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}
