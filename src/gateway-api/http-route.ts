/**
 * HTTPRoute (gateway.networking.k8s.io): host names, matches, filters and backends; standard and experimental fields.
 */
import { backendRefFields, commonRouteFields, duration, headerName, hostname, sectionName } from './references.js';
import { httpRouteFilter } from './route-filters.js';
import { array, described, type Infer, integer, object, oneOf, optional, string, withDefault } from './schema.js';

export const httpPathMatch = object('compares the path, case-sensitive', {
  type: withDefault(
    oneOf('PathPrefix compares element by element', ['Exact', 'PathPrefix', 'RegularExpression']),
    'PathPrefix',
  ),
  value: withDefault(string('the path', { maxLength: 1024 }), '/'),
});
export type HTTPPathMatch = Infer<typeof httpPathMatch>;

export const httpHeaderMatch = object('compares one header field', {
  type: withDefault(oneOf('how to compare', ['Exact', 'RegularExpression']), 'Exact'),
  name: headerName,
  value: string('value of the field', { minLength: 1, maxLength: 4096, format: 'headerValue' }),
});
export type HTTPHeaderMatch = Infer<typeof httpHeaderMatch>;

export const httpQueryParamMatch = object('compares one query parameter', {
  type: withDefault(oneOf('how to compare', ['Exact', 'RegularExpression']), 'Exact'),
  name: described(headerName, 'name of the parameter, case-sensitive'),
  value: string('value of the parameter', { minLength: 1, maxLength: 1024 }),
});
export type HTTPQueryParamMatch = Infer<typeof httpQueryParamMatch>;

const anyPath = { type: 'PathPrefix', value: '/' } as const;

export const httpRouteMatch = object('conditions that must all hold', {
  path: withDefault(httpPathMatch, anyPath),
  headers: optional(array('header fields, all must match', httpHeaderMatch, { maxItems: 16, keys: ['name'] })),
  queryParams: optional(
    array('query parameters, all must match', httpQueryParamMatch, { maxItems: 16, keys: ['name'] }),
  ),
  method: optional(oneOf('method', ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'])),
});
export type HTTPRouteMatch = Infer<typeof httpRouteMatch>;

export const httpBackendRef = object('a backend, its share of the traffic and its own filters', {
  ...backendRefFields,
  filters: optional(array('filters for this backend only', httpRouteFilter, { maxItems: 16 })),
});
export type HTTPBackendRef = Infer<typeof httpBackendRef>;

export const sessionPersistence = object(
  'keeps a client on one endpoint (experimental)',
  {
    absoluteTimeout: optional(duration),
    type: withDefault(oneOf('how the session is carried', ['Cookie', 'Header']), 'Cookie'),
    cookie: optional(
      object('with type Cookie', {
        name: optional(string('name of the cookie', { minLength: 1, maxLength: 256, format: 'headerName' })),
        path: withDefault(string('path of the cookie', { maxLength: 1024 }), '/'),
        lifetimeType: withDefault(oneOf('how long a browser keeps it', ['Session', 'Permanent']), 'Session'),
      }),
    ),
    header: optional(object('with type Header', { name: headerName })),
  },
  {
    former: {
      cookieConfig: 'since Gateway API 1.7 it is called cookie',
      sessionName: 'since Gateway API 1.7 the name stands in cookie.name or header.name',
      idleTimeout: 'the API has no idle timeout any more; absoluteTimeout ends a session',
    },
  },
);

export const httpRouteRule = object('matches and what happens to requests that match', {
  name: optional(described(sectionName, 'name of the rule, unique in the route')),
  matches: withDefault(array('one of them must match', httpRouteMatch, { maxItems: 64 }), [{ path: anyPath }]),
  filters: optional(array('what happens on the way', httpRouteFilter, { maxItems: 16 })),
  backendRefs: optional(array('where requests go, by weight', httpBackendRef, { maxItems: 16 })),
  timeouts: optional(
    object('limits in time', {
      request: optional(described(duration, 'whole request; 0s: none')),
      backendRequest: optional(described(duration, 'one try towards a backend; 0s: none')),
    }),
  ),
  retry: optional(
    object('when to try again', {
      codes: optional(
        array('statuses that are tried again', integer('status, 400 to 599', { min: 400, max: 599 }), { set: true }),
      ),
      attempts: withDefault(integer('further tries; 0: none', { min: 0, max: Number.MAX_SAFE_INTEGER }), 1),
      backoff: optional(described(duration, 'shortest wait between two tries')),
    }),
  ),
  sessionPersistence: optional(sessionPersistence),
});
export type HTTPRouteRule = Infer<typeof httpRouteRule>;

export const httpRouteSpec = object('host names and rules of an HTTPRoute', {
  ...commonRouteFields,
  hostnames: optional(array('host names; without them those of the listener', hostname, { maxItems: 16 })),
  rules: withDefault(array('rules of the route', httpRouteRule, { minItems: 1, maxItems: 16 }), [
    { matches: [{ path: anyPath }] },
  ]),
});
export type HTTPRouteSpec = Infer<typeof httpRouteSpec>;
