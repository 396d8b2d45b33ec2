/**
 * Filters of HTTPRoute, some shared with other kinds. The data plane of a release may carry out fewer of them than the
 * schema knows: `resolve/` answers the rest with a condition, nothing is ignored silently.
 */
import { backendObjectReference, headerName, localObjectReference, portNumber, preciseHostname } from './references.js';
import {
  array,
  boolean,
  type Infer,
  integer,
  object,
  oneOf,
  oneOfNumbers,
  optional,
  string,
  withDefault,
} from './schema.js';

export const httpHeader = object('a header field', {
  name: headerName,
  value: string('value of the field', { minLength: 1, maxLength: 4096, format: 'headerValue' }),
});

export const headerModifier = object('changes header fields', {
  set: optional(array('fields to replace or add', httpHeader, { maxItems: 16, keys: ['name'] })),
  add: optional(array('fields to add after those that are there', httpHeader, { maxItems: 16, keys: ['name'] })),
  remove: optional(array('names of fields to remove', string('header name'), { maxItems: 16, set: true })),
});
export type HeaderModifier = Infer<typeof headerModifier>;

export const pathModifier = object('changes the path', {
  type: oneOf('replace the whole path or the matched prefix', ['ReplaceFullPath', 'ReplacePrefixMatch']),
  replaceFullPath: optional(string('new path', { maxLength: 1024 })),
  replacePrefixMatch: optional(string('new prefix', { maxLength: 1024 })),
});
export type PathModifier = Infer<typeof pathModifier>;

export const requestRedirect = object('answers with a redirect', {
  scheme: optional(oneOf('scheme of the new location', ['http', 'https'])),
  hostname: optional(preciseHostname),
  path: optional(pathModifier),
  port: optional(portNumber),
  statusCode: withDefault(oneOfNumbers('status of the answer', [301, 302, 303, 307, 308]), 302),
});
export type RequestRedirect = Infer<typeof requestRedirect>;

export const urlRewrite = object('changes host and path before forwarding', {
  hostname: optional(preciseHostname),
  path: optional(pathModifier),
});
export type UrlRewrite = Infer<typeof urlRewrite>;

export const requestMirror = object('sends a copy of the request elsewhere; the answer is ignored', {
  backendRef: backendObjectReference,
  percent: optional(integer('share of requests in percent', { min: 0, max: 100 })),
  fraction: optional(
    object('share of requests as a fraction', {
      numerator: integer('numerator', { min: 0 }),
      denominator: withDefault(integer('denominator', { min: 1 }), 100),
    }),
  ),
});
export type RequestMirror = Infer<typeof requestMirror>;

export const corsFilter = object('answers cross-origin checks of browsers', {
  allowOrigins: optional(
    array('origins; "*" alone for all', string('origin', { minLength: 1, maxLength: 253, format: 'corsOrigin' }), {
      maxItems: 64,
      set: true,
    }),
  ),
  allowCredentials: optional(boolean('let browsers send credentials')),
  allowMethods: optional(
    array(
      'methods; "*" alone for all',
      oneOf('method', ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', '*']),
      { maxItems: 9, set: true },
    ),
  ),
  allowHeaders: optional(array('request headers; "*" alone for all', headerName, { maxItems: 64, set: true })),
  exposeHeaders: optional(array('response headers that scripts may read', headerName, { maxItems: 64, set: true })),
  maxAge: withDefault(integer('seconds that a browser may keep the answer', { min: 1 }), 5),
});
export type CorsFilter = Infer<typeof corsFilter>;

const headerNames = array('header names', string('header name'), { maxItems: 64, set: true });

export const externalAuthFilter = object('asks another service whether a request may pass (experimental)', {
  protocol: oneOf('protocol of the question', ['HTTP', 'GRPC']),
  backendRef: backendObjectReference,
  grpc: optional(object('with protocol GRPC', { allowedHeaders: optional(headerNames) })),
  http: optional(
    object('with protocol HTTP', {
      path: optional(string('path of the question', { maxLength: 1024, format: 'pathCharacters' })),
      allowedHeaders: optional(headerNames),
      allowedResponseHeaders: optional(headerNames),
    }),
  ),
  forwardBody: optional(
    object('send the body too', { maxSize: optional(integer('bytes at most; 0: none', { min: 0 })) }),
  ),
});
export type ExternalAuthFilter = Infer<typeof externalAuthFilter>;

export const httpRouteFilter = object('one filter; the field of the same name as its type must be there', {
  type: oneOf('kind of the filter', [
    'RequestHeaderModifier',
    'ResponseHeaderModifier',
    'RequestMirror',
    'RequestRedirect',
    'URLRewrite',
    'CORS',
    'ExternalAuth',
    'ExtensionRef',
  ]),
  requestHeaderModifier: optional(headerModifier),
  responseHeaderModifier: optional(headerModifier),
  requestMirror: optional(requestMirror),
  requestRedirect: optional(requestRedirect),
  urlRewrite: optional(urlRewrite),
  cors: optional(corsFilter),
  externalAuth: optional(externalAuthFilter),
  extensionRef: optional(localObjectReference),
});
export type HTTPRouteFilter = Infer<typeof httpRouteFilter>;
