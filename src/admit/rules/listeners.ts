/**
 * Rules of listeners, of a Gateway and of a ListenerSet alike: what goes with which protocol.
 */
import type { Gateway, Listener, ListenerSet } from '../../gateway-api/index.js';
import { checkExternalAuth } from './external-auth.js';
import { checkBackendPort } from './route.js';
import { eachItem, eachMisplacedField, eachRepeated, type Rule, type Violate } from './rule.js';

type ListenerOwner = Gateway | ListenerSet;

const WITHOUT_TLS: ReadonlySet<string> = new Set(['HTTP', 'TCP', 'UDP']);

function eachListener(owner: ListenerOwner, visit: (listener: Listener, path: string) => void): void {
  eachItem(owner.spec.listeners, 'spec.listeners', visit);
}

function checkTlsAbsent(owner: ListenerOwner, violate: Violate): void {
  eachListener(owner, ({ name, protocol, tls }, path) => {
    if (tls === undefined || !WITHOUT_TLS.has(protocol)) return;
    const remedy = protocol === 'HTTP' ? 'use protocol: HTTPS, or remove tls' : 'use protocol: TLS, or remove tls';
    violate(
      `${path}.tls`,
      `listener "${name}" has protocol ${protocol}, which has no tls`,
      protocol === 'UDP' ? 'remove tls' : remedy,
    );
  });
}

function checkHttpsTerminates(owner: ListenerOwner, violate: Violate): void {
  eachListener(owner, ({ name, protocol, tls }, path) => {
    if (protocol !== 'HTTPS' || tls === undefined || tls.mode === 'Terminate') return;
    violate(
      `${path}.tls.mode`,
      `HTTPS listener "${name}" cannot pass TLS through`,
      'use protocol: TLS for Passthrough, or mode: Terminate',
    );
  });
}

function checkTlsPresent(owner: ListenerOwner, violate: Violate): void {
  eachListener(owner, ({ name, protocol, tls }, path) => {
    if (protocol !== 'TLS' || tls !== undefined) return;
    violate(
      `${path}.tls`,
      `TLS listener "${name}" has no tls`,
      'write tls: {mode: Passthrough}, or mode: Terminate with certificateRefs',
    );
  });
}

function checkCertificates(owner: ListenerOwner, violate: Violate): void {
  eachListener(owner, ({ name, protocol, tls }, path) => {
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

function checkHostnameAbsent(owner: ListenerOwner, violate: Violate): void {
  eachListener(owner, ({ name, protocol, hostname }, path) => {
    if (hostname === undefined || (protocol !== 'TCP' && protocol !== 'UDP')) return;
    violate(
      `${path}.hostname`,
      `listener "${name}" has protocol ${protocol}, which knows no host names`,
      'remove hostname',
    );
  });
}

function checkListenersDistinct(owner: ListenerOwner, violate: Violate): void {
  const key = ({ port, protocol, hostname }: Listener): string => `${port} ${protocol} ${hostname ?? ''}`;
  eachRepeated(owner.spec.listeners, 'spec.listeners', key, ({ name, port, protocol, hostname }, path, firstPath) => {
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

const FILTER_FIELDS = [
  ['ExternalAuth', 'externalAuth'],
  ['ExtensionRef', 'extensionRef'],
] as const;

function checkListenerFilters(owner: ListenerOwner, violate: Violate): void {
  eachListener(owner, ({ protocol, filters }, path) => {
    if (filters === undefined) return;
    // The API has this rule for Gateways only; a listener of a set is told by its status.
    if (owner.kind === 'Gateway' && protocol !== 'HTTP' && protocol !== 'HTTPS') {
      violate(
        `${path}.filters`,
        `protocol ${protocol} has no filters`,
        'remove filters, or use protocol HTTP or HTTPS',
      );
    }
    eachItem(filters.requests, `${path}.filters.requests`, (filter, filterPath) => {
      eachMisplacedField(filter, filter.type, FILTER_FIELDS, (type, field, isPresent) => {
        const at = `${filterPath}.${field}`;
        if (isPresent)
          violate(at, `${field} belongs to type ${type}, not ${filter.type}`, `remove it, or write type: ${type}`);
        else violate(at, `type ${type} needs ${field}`, `add ${field}`);
      });
      const { externalAuth } = filter;
      if (externalAuth === undefined) return;
      checkExternalAuth(externalAuth, `${filterPath}.externalAuth`, violate);
      checkBackendPort(externalAuth.backendRef, `${filterPath}.externalAuth.backendRef`, violate);
    });
  });
}

/** The rules of listeners. */
export const LISTENER_RULES: readonly Rule<ListenerOwner>[] = [
  { code: 'WG3110', says: 'tls is not given for HTTP, TCP and UDP', check: checkTlsAbsent },
  { code: 'WG3111', says: 'HTTPS ends TLS', check: checkHttpsTerminates },
  { code: 'WG3112', says: 'protocol TLS has tls', check: checkTlsPresent },
  { code: 'WG3113', says: 'who ends TLS has a certificate', check: checkCertificates },
  { code: 'WG3114', says: 'hostname is not given for TCP and UDP', check: checkHostnameAbsent },
  { code: 'WG3115', says: 'port, protocol and hostname are unique together', check: checkListenersDistinct },
  { code: 'WG3116', says: 'filters fit protocol and type, and ask a backend with a port', check: checkListenerFilters },
];
