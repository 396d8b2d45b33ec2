/**
 * TCPRoute (gateway.networking.k8s.io): the backends of a TCP listener.
 */
import { backendRef, commonRouteFields, sectionName } from './references.js';
import { array, described, type Infer, object, optional } from './schema.js';

export const tcpRouteSpec = object('backends of a TCPRoute', {
  ...commonRouteFields,
  rules: array(
    'exactly one rule',
    object('where connections go', {
      name: optional(described(sectionName, 'name of the rule')),
      backendRefs: array('backends by weight', backendRef, { minItems: 1, maxItems: 16 }),
    }),
    { minItems: 1, maxItems: 1 },
  ),
});
export type TCPRouteSpec = Infer<typeof tcpRouteSpec>;
