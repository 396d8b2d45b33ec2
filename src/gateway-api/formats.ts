/**
 * Text formats of fields: a test and the words that tell a person what is wanted.
 * Written from the facts of the API's field descriptions; formats say nothing about length, schemas do.
 */
import { isIP, isIPv4, isIPv6 } from 'node:net';

/** A named text format. */
export interface Format {
  readonly test: (text: string) => boolean;
  /** Completes the sentence "must be …". */
  readonly wants: string;
}

const LABEL = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(?:\\.${LABEL})*`;
const QUALIFIED_NAME = '[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?';
const PATH_CHARACTERS = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

const ADDRESS_TYPE = new RegExp(`${SUBDOMAIN}/${PATH_CHARACTERS}$`);

function matches(source: string): (text: string) => boolean {
  const pattern = new RegExp(`^(?:${source})$`);
  return (text) => pattern.test(text);
}

const isLabel = matches(LABEL);
const isSubdomain = matches(SUBDOMAIN);
const isQualifiedName = matches(`(?:${SUBDOMAIN}/)?${QUALIFIED_NAME}`);

/** Name and prefix are limited each for itself. */
function isQualifiedKey(text: string): boolean {
  const name = text.slice(text.lastIndexOf('/') + 1);
  return isQualifiedName(text) && name.length <= 63 && text.length - name.length <= 254;
}

/** As the rules of Gateway.spec.infrastructure have it, which leave a prefix one character less than Kubernetes does. */
function isInfrastructureKey(text: string): boolean {
  return isQualifiedKey(text) && (text.split('/')[0] ?? '').length < 253;
}

function isCidr(text: string): boolean {
  const [address = '', prefix = '', ...rest] = text.split('/');
  if (rest.length > 0 || !/^\d{1,3}$/.test(prefix)) return false;
  if (isIPv4(address)) return Number(prefix) <= 32;
  return isIPv6(address) && !address.includes('%') && Number(prefix) <= 128;
}

function isTimestamp(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** Line breaks count as nothing. No group is repeated: texts may have megabytes, and each repetition would take from the stack. */
function isBase64(text: string): boolean {
  const plain = text.replace(/[\r\n]/g, '');
  return plain.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(plain);
}

/** All formats by name. */
export const FORMATS = {
  hostname: {
    test: matches(`(?:\\*\\.)?${SUBDOMAIN}`),
    wants: 'a lower-case host name such as "api.example.com" or "*.example.com"',
  },
  preciseHostname: { test: isSubdomain, wants: 'a lower-case host name without a wildcard, such as "api.example.com"' },
  subdomain: {
    test: isSubdomain,
    wants: 'lower-case letters, digits, "-" and ".", beginning and ending with a letter or digit',
  },
  label: {
    test: isLabel,
    wants: 'lower-case letters, digits and "-", beginning and ending with a letter or digit',
  },
  labelOrNone: {
    test: (text) => text === '' || isLabel(text),
    wants: 'lower-case letters, digits and "-", beginning and ending with a letter or digit',
  },
  portName: {
    test: (text) => /^[a-z0-9](?:-?[a-z0-9])*$/.test(text) && /[a-z]/.test(text),
    wants: 'lower-case letters, at least one, digits and single "-" between them',
  },
  group: {
    test: (text) => text === '' || isSubdomain(text),
    wants: 'an API group such as "gateway.networking.k8s.io", or "" for the core group',
  },
  kind: { test: matches('[a-zA-Z](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?'), wants: 'a kind such as "Service"' },
  controllerName: {
    test: matches(`${SUBDOMAIN}/${PATH_CHARACTERS}`),
    wants: 'a domain and a path such as "weirgate.dev/gateway-controller"',
  },
  duration: {
    test: matches('(?:[0-9]{1,5}(?:h|m|s|ms)){1,4}'),
    wants: 'a duration such as "10s", "1m30s" or "250ms" (units h, m, s, ms)',
  },
  headerName: {
    test: matches("[A-Za-z0-9!#$%&'*+\\-.^_|~`]+"),
    wants: 'a header name: letters, digits and "-", without spaces or ":"',
  },
  protocol: {
    // The pattern of the API is anchored in its parts only; so is this one.
    test: (text) => /^[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?$|[a-z0-9]\/[A-Za-z0-9]+$/.test(text),
    wants: 'HTTP, HTTPS, TLS, TCP, UDP, or a domain-prefixed name such as "example.com/bar"',
  },
  addressType: {
    // As the API has it, which anchors the first and the last alternative only.
    test: (text) => /^Hostname|IPAddress|NamedAddress/.test(text) || ADDRESS_TYPE.test(text),
    wants: 'IPAddress, Hostname, or a domain-prefixed name such as "example.com/kind"',
  },
  qualifiedName: {
    test: isQualifiedKey,
    wants: 'a name of up to 63 letters, digits, "-", "_" and ".", with an optional domain and "/" before it',
  },
  labelValue: {
    test: matches(`(?:${QUALIFIED_NAME})?`),
    wants: 'letters, digits, "-", "_" and ".", beginning and ending with a letter or digit',
  },
  annotationKey: {
    // Kubernetes forgives capitals in the prefix of an annotation, not in that of a label.
    test: (text) => isQualifiedKey(text.toLowerCase()),
    wants: 'a name of up to 63 letters, digits, "-", "_" and ".", with an optional domain and "/" before it',
  },
  infrastructureKey: {
    test: isInfrastructureKey,
    wants: 'a name of up to 63 letters, digits, "-", "_" and ".", with an optional domain and "/" before it',
  },
  uri: {
    test: matches('[^:/?#]+://[^/?#]*[^?#]*(?:\\?[^#]*)?(?:#.*)?'),
    wants: 'a URI with scheme and authority, such as "spiffe://example.com/ns/shop"',
  },
  wellKnownCa: {
    test: matches(`System|${SUBDOMAIN}/(?:[A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]`),
    wants: 'System, or a domain-prefixed name',
  },
  base64: {
    test: isBase64,
    wants: 'base64 (RFC 4648); plain text belongs in stringData',
  },
  dataKey: {
    test: (text) => /^[-._a-zA-Z0-9]{1,253}$/.test(text) && text !== '.' && !text.startsWith('..'),
    wants: 'up to 253 letters, digits, "-", "_" and "."',
  },
  ip: {
    test: (text) => isIP(text) !== 0 && !text.includes('%'),
    wants: 'an IP address such as "192.0.2.10" or "2001:db8::1"',
  },
  cidr: { test: isCidr, wants: 'a network such as "10.0.0.0/8" or "2001:db8::/32"' },
  timestamp: { test: isTimestamp, wants: 'a time such as "2026-11-30T12:00:00Z"' },
  logTarget: {
    test: (text) => text === 'stderr' || (text.startsWith('/') && !text.endsWith('/') && !text.includes('\0')),
    wants: '"stderr" or an absolute file path such as "/var/log/weirgate/access.log"',
  },
  headerValue: {
    // Visible ASCII, single blanks or tabs between: a value can neither end the field nor fold (RFC 9110 §5.5).
    test: matches('[!-~](?:[\\t ]?[!-~])*'),
    wants: 'visible ASCII characters with single blanks between them',
  },
  pathCharacters: {
    test: matches("(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9a-fA-F]{2})+"),
    wants: 'characters that a path may have; others percent-encoded',
  },
  requestTarget: {
    test: matches("/(?:[-A-Za-z0-9/._~!$&'()*+,;=:@?]|%[0-9a-fA-F]{2})*"),
    wants: 'a path such as "/healthz", with a query if need be',
  },
  authority: {
    test: matches('(?:[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?|\\[[0-9a-fA-F:.]+\\])(?::[0-9]{1,5})?'),
    wants: 'a host name or address, with ":" and a port if need be',
  },
  corsOrigin: {
    test: matches('\\*|https?://(?:\\*|(?:\\*\\.)?(?:[a-zA-Z0-9-]+\\.)*[a-zA-Z0-9-]+)(?::[0-9]{1,5})?'),
    wants: '"*" or an origin such as "https://*.example.com:8443"',
  },
} as const satisfies Readonly<Record<string, Format>>;

export type FormatName = keyof typeof FORMATS;
