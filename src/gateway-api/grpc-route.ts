/**
 * GRPCRoute (gateway.networking.k8s.io): host names, services and methods, filters and backends; standard and experimental fields.
 */
import { sessionPersistence } from './http-route.js';
import {
  backendRefFields,
  commonRouteFields,
  headerName,
  hostname,
  localObjectReference,
  sectionName,
} from './references.js';
import { headerModifier, requestMirror } from './route-filters.js';
import { array, described, type Infer, object, oneOf, optional, string, withDefault } from './schema.js';

export const grpcMethodMatch = object('compares service and method; at least one of them', {
  type: withDefault(oneOf('how to compare', ['Exact', 'RegularExpression']), 'Exact'),
  service: optional(string('full name of the service, such as shop.v1.Cart', { maxLength: 1024 })),
  method: optional(string('name of the method', { maxLength: 1024 })),
});
export type GRPCMethodMatch = Infer<typeof grpcMethodMatch>;

export const grpcHeaderMatch = object('compares one header field', {
  type: withDefault(oneOf('how to compare', ['Exact', 'RegularExpression']), 'Exact'),
  name: headerName,
  value: string('value of the field', { minLength: 1, maxLength: 4096 }),
});

export const grpcRouteMatch = object('conditions that must all hold', {
  method: optional(grpcMethodMatch),
  headers: optional(array('header fields, all must match', grpcHeaderMatch, { maxItems: 16, keys: ['name'] })),
});
export type GRPCRouteMatch = Infer<typeof grpcRouteMatch>;

export const grpcRouteFilter = object('one filter; the field of the same name as its type must be there', {
  type: oneOf('kind of the filter', [
    'ResponseHeaderModifier',
    'RequestHeaderModifier',
    'RequestMirror',
    'ExtensionRef',
  ]),
  requestHeaderModifier: optional(headerModifier),
  responseHeaderModifier: optional(headerModifier),
  requestMirror: optional(requestMirror),
  extensionRef: optional(localObjectReference),
});
export type GRPCRouteFilter = Infer<typeof grpcRouteFilter>;

export const grpcBackendRef = object('a backend, its share of the calls and its own filters', {
  ...backendRefFields,
  filters: optional(array('filters for this backend only', grpcRouteFilter, { maxItems: 16 })),
});
export type GRPCBackendRef = Infer<typeof grpcBackendRef>;

export const grpcRouteRule = object('matches and what happens to calls that match', {
  name: optional(described(sectionName, 'name of the rule, unique in the route')),
  matches: optional(array('one of them must match; none: every call', grpcRouteMatch, { maxItems: 64 })),
  filters: optional(array('what happens on the way', grpcRouteFilter, { maxItems: 16 })),
  backendRefs: optional(array('where calls go, by weight', grpcBackendRef, { maxItems: 16 })),
  sessionPersistence: optional(sessionPersistence),
});
export type GRPCRouteRule = Infer<typeof grpcRouteRule>;

export const grpcRouteSpec = object('host names and rules of a GRPCRoute', {
  ...commonRouteFields,
  hostnames: optional(array('host names; without them those of the listener', hostname, { maxItems: 16 })),
  rules: optional(array('rules of the route; without them nothing is served', grpcRouteRule, { maxItems: 16 })),
});
export type GRPCRouteSpec = Infer<typeof grpcRouteSpec>;
