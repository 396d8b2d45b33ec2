/**
 * TCPRoute, TLSRoute and UDPRoute (gateway.networking.k8s.io): the backends of whole connections or flows.
 */
import { backendRef, commonRouteFields, hostname, sectionName } from './references.js';
import { array, described, type Infer, object, optional, withDefault } from './schema.js';

const rule = object('where connections go', {
  name: optional(described(sectionName, 'name of the rule')),
  backendRefs: array('backends by weight', backendRef, { minItems: 1, maxItems: 16 }),
});

const rules = array('exactly one rule', rule, { minItems: 1, maxItems: 1 });

/** v1alpha2 allowed more, though the first alone ever counted. */
const alpha2Rules = array('rules; the first one counts', rule, { minItems: 1, maxItems: 16 });

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

/** Of TCPRoute and UDPRoute v1alpha2. */
export const alpha2TcpRouteSpec = object('backends of the route', { ...commonRouteFields, rules: alpha2Rules });

/** Of TLSRoute v1alpha2, when no hostname was every hostname of the listener. */
export const alpha2TlsRouteSpec = object('server names and backends of the route', {
  ...commonRouteFields,
  hostnames: withDefault(array('server names of the TLS handshake', hostname, { maxItems: 1024 }), []),
  rules: alpha2Rules,
});
