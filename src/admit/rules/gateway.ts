/**
 * Rules of Gateway: addresses, and listeners by protocol. The same listener rules will serve ListenerSet.
 */
import { isIP } from 'node:net';
import { FORMATS, type Gateway, type Listener } from '../../gateway-api/index.js';
import { eachItem, eachRepeated, type Rule, type Violate } from './rule.js';

const WITHOUT_TLS: ReadonlySet<string> = new Set(['HTTP', 'TCP', 'UDP']);

function eachListener(gateway: Gateway, visit: (listener: Listener, path: string) => void): void {
  eachItem(gateway.spec.listeners, 'spec.listeners', visit);
}

function checkAddressValues(gateway: Gateway, violate: Violate): void {
  eachItem(gateway.spec.addresses, 'spec.addresses', ({ type, value }, path) => {
    if (value === undefined) return;
    if (type === 'IPAddress' && (isIP(value) === 0 || value.includes('%'))) {
      violate(
        `${path}.value`,
        `"${value}" is no IP address`,
        'write an IPv4 or IPv6 address, or leave value out to get one',
      );
    }
    if (type === 'Hostname' && value !== '' && !FORMATS.hostname.test(value)) {
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
    if (FORMATS.controllerName.test(routability) && !/^(?:[^/]*\.)?k8s\.io\//.test(routability)) return;
    violate(
      `${path}.routability`,
      `"${routability}" is not valid here`,
      'write "Cluster" or a domain-prefixed name of your own',
    );
  });
}

function checkTlsAbsent(gateway: Gateway, violate: Violate): void {
  eachListener(gateway, ({ name, protocol, tls }, path) => {
    if (tls === undefined || !WITHOUT_TLS.has(protocol)) return;
    const remedy = protocol === 'HTTP' ? 'use protocol: HTTPS, or remove tls' : 'use protocol: TLS, or remove tls';
    violate(
      `${path}.tls`,
      `listener "${name}" has protocol ${protocol}, which has no tls`,
      protocol === 'UDP' ? 'remove tls' : remedy,
    );
  });
}

function checkHttpsTerminates(gateway: Gateway, violate: Violate): void {
  eachListener(gateway, ({ name, protocol, tls }, path) => {
    if (protocol !== 'HTTPS' || tls === undefined || tls.mode === 'Terminate') return;
    violate(
      `${path}.tls.mode`,
      `HTTPS listener "${name}" cannot pass TLS through`,
      'use protocol: TLS for Passthrough, or mode: Terminate',
    );
  });
}

function checkTlsPresent(gateway: Gateway, violate: Violate): void {
  eachListener(gateway, ({ name, protocol, tls }, path) => {
    if (protocol !== 'TLS' || tls !== undefined) return;
    violate(
      `${path}.tls`,
      `TLS listener "${name}" has no tls`,
      'write tls: {mode: Passthrough}, or mode: Terminate with certificateRefs',
    );
  });
}

function checkCertificates(gateway: Gateway, violate: Violate): void {
  eachListener(gateway, ({ name, protocol, tls }, path) => {
    // Where tls has no business at all, one complaint is enough.
    if (tls === undefined || tls.mode !== 'Terminate' || WITHOUT_TLS.has(protocol)) return;
    if ((tls.certificateRefs ?? []).length > 0 || Object.keys(tls.options ?? {}).length > 0) return;
    violate(
      `${path}.tls`,
      `listener "${name}" ends TLS but names no certificate`,
      'add certificateRefs with the name of a Secret',
    );
  });
}

function checkHostnameAbsent(gateway: Gateway, violate: Violate): void {
  eachListener(gateway, ({ name, protocol, hostname }, path) => {
    if (hostname === undefined || (protocol !== 'TCP' && protocol !== 'UDP')) return;
    violate(
      `${path}.hostname`,
      `listener "${name}" has protocol ${protocol}, which knows no host names`,
      'remove hostname',
    );
  });
}

function checkListenersDistinct(gateway: Gateway, violate: Violate): void {
  const key = ({ port, protocol, hostname }: Listener): string => `${port} ${protocol} ${hostname ?? ''}`;
  eachRepeated(gateway.spec.listeners, 'spec.listeners', key, ({ name, port, protocol, hostname }, path, firstPath) => {
    const what =
      hostname === undefined
        ? `port ${port} and protocol ${protocol}`
        : `port ${port}, protocol ${protocol} and hostname "${hostname}"`;
    violate(
      path,
      `listener "${name}" has the same ${what} as ${firstPath}`,
      'change one of them, or merge the two listeners',
    );
  });
}

function checkListenerFilters(gateway: Gateway, violate: Violate): void {
  eachListener(gateway, ({ protocol, filters }, path) => {
    if (filters === undefined) return;
    if (protocol !== 'HTTP' && protocol !== 'HTTPS') {
      violate(
        `${path}.filters`,
        `protocol ${protocol} has no filters`,
        'remove filters, or use protocol HTTP or HTTPS',
      );
    }
    eachItem(filters.requests, `${path}.filters.requests`, (filter, filterPath) => {
      for (const [type, field] of [
        ['ExternalAuth', 'externalAuth'],
        ['ExtensionRef', 'extensionRef'],
      ] as const) {
        const present = filter[field] !== undefined;
        if (present === (filter.type === type)) continue;
        const message = present
          ? `${field} belongs to type ${type}, not ${filter.type}`
          : `type ${type} needs ${field}`;
        violate(`${filterPath}.${field}`, message, present ? `remove it, or write type: ${type}` : `add ${field}`);
      }
    });
  });
}

/** All rules of Gateway. */
export const GATEWAY_RULES: readonly Rule<Gateway>[] = [
  { code: 'WG3101', says: 'an address fits its type', check: checkAddressValues },
  { code: 'WG3102', says: 'no address is wanted twice', check: checkAddressesDistinct },
  { code: 'WG3103', says: 'routability is Cluster or domain-prefixed', check: checkRoutability },
  { code: 'WG3110', says: 'tls is not given for HTTP, TCP and UDP', check: checkTlsAbsent },
  { code: 'WG3111', says: 'HTTPS ends TLS', check: checkHttpsTerminates },
  { code: 'WG3112', says: 'protocol TLS has tls', check: checkTlsPresent },
  { code: 'WG3113', says: 'who ends TLS has a certificate', check: checkCertificates },
  { code: 'WG3114', says: 'hostname is not given for TCP and UDP', check: checkHostnameAbsent },
  { code: 'WG3115', says: 'port, protocol and hostname are unique together', check: checkListenersDistinct },
  { code: 'WG3116', says: 'filters fit protocol and type', check: checkListenerFilters },
];
