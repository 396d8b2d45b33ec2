/**
 * TCPRoute, TLSRoute and UDPRoute (gateway.networking.k8s.io): the backends of whole connections or flows.
 */
import { backendRef, commonRouteFields, hostname, sectionName } from './references.js';
import { array, described, type Infer, object, optional } from './schema.js';

const rules = array(
  'exactly one rule',
  object('where connections go', {
    name: optional(described(sectionName, 'name of the rule')),
    backendRefs: array('backends by weight', backendRef, { minItems: 1, maxItems: 16 }),
  }),
  { minItems: 1, maxItems: 1 },
);

export const tcpRouteSpec = object('backends of a TCPRoute', { ...commonRouteFields, rules });
export type TCPRouteSpec = Infer<typeof tcpRouteSpec>;

export const udpRouteSpec = object('backends of a UDPRoute', { ...commonRouteFields, rules });
export type UDPRouteSpec = Infer<typeof udpRouteSpec>;

export const tlsRouteSpec = object('server names and backends of a TLSRoute', {
  ...commonRouteFields,
  hostnames: array('server names of the TLS handshake', hostname, { minItems: 1, maxItems: 1024 }),
  rules,
});
export type TLSRouteSpec = Infer<typeof tlsRouteSpec>;
