/**
 * Capabilities: what a data plane can carry out, as far as it may lack it. Resolution reads the whole specification and answers what is
 * not among the capabilities with the condition that the specification has for it. A capability is added to `compile/capabilities.ts`
 * when the table can say it and the engine does it.
 */

/** All there are, by area. */
export const ALL_CAPABILITIES = [
  // Protocols of listeners.
  'protocol/HTTP',
  'protocol/HTTPS',
  'protocol/TLS',
  'protocol/TCP',
  'protocol/UDP',
  // TLS listeners: both modes, and client certificates on HTTPS.
  'tls/passthrough',
  'tls/terminate',
  'tls/clientValidation',
  // Kinds of routes beside those that are inseparable from their protocol.
  'route/GRPCRoute',
  // Matches.
  'match/queryParams',
  'match/regularExpression',
  // Filters of rules, by type; filters of single backends.
  'filter/RequestHeaderModifier',
  'filter/ResponseHeaderModifier',
  'filter/RequestRedirect',
  'filter/URLRewrite',
  'filter/RequestMirror',
  'filter/CORS',
  'filter/ExternalAuth',
  'filter/backendRefs',
  // Rules.
  'rule/retry',
  'rule/sessionPersistence',
  // Towards endpoints.
  'upstream/http2',
  'upstream/tls',
  'upstream/clientCertificate',
] as const;

export type Capability = (typeof ALL_CAPABILITIES)[number];

/** Those that a data plane has. */
export type Capabilities = ReadonlySet<Capability>;
