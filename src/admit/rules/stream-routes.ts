/**
 * Rules of TLSRoute, TCPRoute and UDPRoute besides those of every route.
 */
import { isIP } from 'node:net';
import type { TCPRoute, TLSRoute, UDPRoute } from '../../gateway-api/index.js';
import { eachItem, type Rule, type Violate } from './rule.js';

function checkHostnames(route: TLSRoute, violate: Violate): void {
  eachItem(route.spec.hostnames, 'spec.hostnames', (hostname, path) => {
    if (isIP(hostname) === 0) return;
    violate(path, `"${hostname}" is an address`, 'clients send no address as server name; write a host name');
  });
}

function checkFurtherRules(route: TLSRoute | TCPRoute | UDPRoute, violate: Violate): void {
  if (route.spec.rules.length < 2) return;
  violate(
    'spec.rules[1]',
    'only the first rule counts',
    `${route.kind} v1 has one rule; join the backendRefs, by weight`,
  );
}

/** The rules of TLSRoute. */
export const TLS_ROUTE_RULES: readonly Rule<TLSRoute>[] = [
  { code: 'WG3321', says: 'a server name is no address', check: checkHostnames },
];

/** The rules of v1alpha2. */
export const ALPHA2_STREAM_RULES: readonly Rule<TLSRoute | TCPRoute | UDPRoute>[] = [
  {
    code: 'WG3322',
    severity: 'warning',
    says: 'of several rules, which v1alpha2 allows, the first counts',
    check: checkFurtherRules,
  },
];
