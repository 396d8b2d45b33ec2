/**
 * Rules of Gateway besides its listeners: addresses, client validation.
 */
import { isIP } from 'node:net';
import { FORMATS, type Gateway } from '../../gateway-api/index.js';
import { eachItem, eachRepeated, type Rule, type Violate } from './rule.js';

/** As an API server reads addresses here: zeros may lead a part, so 192.0.2.01 passes (and turns out unusable later). */
function isAddress(text: string): boolean {
  return isIP(text.replace(/(^|[:.])0+(?=[0-9a-fA-F])/g, '$1')) !== 0 && !text.includes('%');
}

function checkAddressValues(gateway: Gateway, violate: Violate): void {
  eachItem(gateway.spec.addresses, 'spec.addresses', ({ type, value }, path) => {
    if (value === undefined) return;
    if (type === 'IPAddress' && !isAddress(value)) {
      violate(
        `${path}.value`,
        `"${value}" is no IP address`,
        'write an IPv4 or IPv6 address, or leave value out to get one',
      );
    }
    if (type === 'Hostname' && !FORMATS.hostname.test(value)) {
      violate(`${path}.value`, `"${value}" is no host name`, `must be ${FORMATS.hostname.wants}`);
    }
  });
}

function checkAddressesDistinct(gateway: Gateway, violate: Violate): void {
  const key = ({ type, value }: { type: string; value?: string }): string | undefined =>
    value !== undefined && (type === 'IPAddress' || type === 'Hostname') ? `${type} ${value}` : undefined;
  eachRepeated(gateway.spec.addresses, 'spec.addresses', key, ({ value }, path, firstPath) => {
    violate(path, `address "${value}" is there twice`, `${firstPath} has it already; remove one of them`);
  });
}

function checkRoutability(gateway: Gateway, violate: Violate): void {
  eachItem(gateway.spec.addresses, 'spec.addresses', ({ routability }, path) => {
    if (routability === undefined || routability === '' || routability === 'Cluster') return;
    const [, domain = ''] = /^([^/]*)\/.+$/.exec(routability) ?? [];
    if (FORMATS.subdomain.test(domain) && domain !== 'k8s.io' && !domain.endsWith('.k8s.io')) return;
    violate(
      `${path}.routability`,
      `"${routability}" is not valid here`,
      'write "Cluster" or a domain-prefixed name of your own',
    );
  });
}

function checkTrustBundles(gateway: Gateway, violate: Violate): void {
  const { frontend } = gateway.spec.tls ?? {};
  if (frontend === undefined) return;
  const lists = [
    [frontend.default, 'spec.tls.frontend.default'] as const,
    ...(frontend.perPort ?? []).map(({ tls }, index) => [tls, `spec.tls.frontend.perPort[${index}].tls`] as const),
  ];
  for (const [{ validation }, path] of lists) {
    eachItem(validation?.caCertificateRefs, `${path}.validation.caCertificateRefs`, (reference, at) => {
      const { group, kind, namespace } = reference;
      if (group !== 'certificates.k8s.io' || kind !== 'ClusterTrustBundle' || namespace === undefined) return;
      violate(`${at}.namespace`, 'a ClusterTrustBundle has no namespace', 'remove namespace');
    });
  }
}

/** The rules of Gateway without those of listeners. */
export const GATEWAY_RULES: readonly Rule<Gateway>[] = [
  { code: 'WG3101', says: 'an address fits its type', check: checkAddressValues },
  { code: 'WG3102', says: 'no address is wanted twice', check: checkAddressesDistinct },
  { code: 'WG3103', says: 'routability is Cluster or domain-prefixed', check: checkRoutability },
  { code: 'WG3104', says: 'a ClusterTrustBundle is named without namespace', check: checkTrustBundles },
];
