/**
 * Rules of TLSRoute besides those of every route.
 */
import { isIP } from 'node:net';
import type { TLSRoute } from '../../gateway-api/index.js';
import { eachItem, type Rule, type Violate } from './rule.js';

function checkHostnames(route: TLSRoute, violate: Violate): void {
  eachItem(route.spec.hostnames, 'spec.hostnames', (hostname, path) => {
    if (isIP(hostname) === 0) return;
    violate(path, `"${hostname}" is an address`, 'clients send no address as server name; write a host name');
  });
}

/** The rules of TLSRoute. */
export const TLS_ROUTE_RULES: readonly Rule<TLSRoute>[] = [
  { code: 'WG3321', says: 'a server name is no address', check: checkHostnames },
];
