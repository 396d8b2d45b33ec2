/**
 * Names of certificates: which they are, and which hosts they are valid for. A certificate's wildcard stands for one label, where
 * that of a listener or route stands for one or more (`hostname.ts`). Source: RFC 9525 (which replaces RFC 6125), sections 6.3 and 7.
 */
import { compareStrings } from '../base/index.js';
import { isWildcard } from './hostname.js';

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const DNS_NAME = new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`);
/** One entry of the text that OpenSSL makes; a value with odd characters is a JSON string. */
const ENTRY = /(?:^|, )([A-Za-z][A-Za-z ]*):("(?:[^"\\]|\\.)*"|[^,"]*)/g;
const MAX_NAME = 253;

/**
 * Returns the DNS names of `X509Certificate.subjectAltName`, lower case, sorted, each once. What is no host name is left out: nobody
 * can ask for it. The common name does not count, because clients have stopped to look at it (RFC 9525 section 2).
 */
export function dnsNames(subjectAltName: string | undefined): string[] {
  const names = new Set<string>();
  for (const [, type, value = ''] of (subjectAltName ?? '').matchAll(ENTRY)) {
    if (type !== 'DNS' || value.startsWith('"')) continue;
    const name = value.toLowerCase().replace(/\.$/, '');
    if (name.length <= MAX_NAME && DNS_NAME.test(name)) names.add(name);
  }
  return [...names].sort(compareStrings);
}

/**
 * True when one of the names is valid for every host that can be meant by `hostname` without more labels than it has: `*.example.com`
 * needs the name `*.example.com`, though hosts with two labels before the suffix are not covered by it. Cost: O(1).
 */
export function isValidFor(names: ReadonlySet<string>, hostname: string): boolean {
  return names.has(hostname) || (!isWildcard(hostname) && names.has(wildcardAbove(hostname)));
}

/** Returns the certificate wildcard that covers a host: `*.example.com` for `www.example.com`; `''` for a host of one label. */
export function wildcardAbove(hostname: string): string {
  const dot = hostname.indexOf('.');
  return dot < 0 ? '' : `*${hostname.slice(dot)}`;
}
