/**
 * Names of the Gateway API features that a data plane makes true, for `GatewayClass.status.supportedFeatures`.
 */
import type { Capabilities, Capability } from '../model/capabilities.js';

/**
 * Every feature name that is not about meshes, sorted as the API wants it, with the capabilities that it takes: all that the API calls
 * core for it, so that a name is claimed when its tests in the official suite can pass, and not before. A name without any is the work
 * of resolution alone. `null`: not there whatever the data plane can do.
 */
const FEATURES: Readonly<Record<string, readonly Capability[] | null>> = {
  BackendTLSPolicy: ['upstream/tls'],
  BackendTLSPolicySANValidation: ['upstream/tls'],
  ClusterTrustBundle: null,
  GRPCRoute: ['route/GRPCRoute'],
  GRPCRouteNamedRouteRule: ['route/GRPCRoute'],
  GRPCRouteRequestHeaderModifier: ['route/GRPCRoute', 'filter/RequestHeaderModifier'],
  Gateway: ['protocol/HTTP', 'protocol/HTTPS'],
  GatewayAddressEmpty: [],
  GatewayAddressRoutability: null,
  GatewayAddressRoutabilityCluster: null,
  GatewayBackendClientCertificate: ['upstream/tls', 'upstream/clientCertificate'],
  GatewayFrontendClientCertificateValidation: ['protocol/HTTPS', 'tls/clientValidation'],
  GatewayFrontendClientCertificateValidationInsecureFallback: ['protocol/HTTPS', 'tls/clientValidation'],
  GatewayHTTPListenerIsolation: ['protocol/HTTP'],
  GatewayHTTPSListenerDetectMisdirectedRequests: ['protocol/HTTPS'],
  GatewayInfrastructure: null,
  GatewayListenerFilters: null,
  GatewayPort8080: ['protocol/HTTP'],
  GatewayRouteHostnameIntersectionPrecedence: ['protocol/HTTP'],
  GatewayStaticAddresses: [],
  HTTPRoute: ['protocol/HTTP', 'protocol/HTTPS', 'filter/RequestHeaderModifier', 'filter/RequestRedirect'],
  HTTPRoute303RedirectStatusCode: ['filter/RequestRedirect'],
  HTTPRoute307RedirectStatusCode: ['filter/RequestRedirect'],
  HTTPRoute308RedirectStatusCode: ['filter/RequestRedirect'],
  HTTPRouteBackendProtocolH2C: ['upstream/http2'],
  HTTPRouteBackendProtocolWebSocket: ['protocol/HTTP'],
  HTTPRouteBackendRequestHeaderModification: ['filter/RequestHeaderModifier', 'filter/backendRefs'],
  HTTPRouteBackendTimeout: ['protocol/HTTP'],
  HTTPRouteBackendURLRewrite: ['filter/URLRewrite', 'filter/backendRefs'],
  HTTPRouteCORS: ['filter/CORS'],
  HTTPRouteDestinationPortMatching: ['protocol/HTTP'],
  HTTPRouteHostRewrite: ['filter/URLRewrite'],
  HTTPRouteMethodMatching: ['protocol/HTTP'],
  HTTPRouteNamedRouteRule: ['protocol/HTTP'],
  HTTPRouteParentRefPort: ['protocol/HTTP'],
  HTTPRoutePathRedirect: ['filter/RequestRedirect'],
  HTTPRoutePathRewrite: ['filter/URLRewrite'],
  HTTPRoutePortRedirect: ['filter/RequestRedirect'],
  HTTPRouteQueryParamMatching: ['match/queryParams'],
  HTTPRouteRequestMirror: ['filter/RequestMirror'],
  HTTPRouteRequestMultipleMirrors: ['filter/RequestMirror'],
  HTTPRouteRequestPercentageMirror: ['filter/RequestMirror'],
  HTTPRouteRequestTimeout: ['protocol/HTTP'],
  HTTPRouteResponseHeaderModification: ['filter/ResponseHeaderModifier'],
  HTTPRouteRetryCodes: ['rule/retry'],
  HTTPRouteRetryConnectionError: ['rule/retry'],
  HTTPRouteSchemeRedirect: ['filter/RequestRedirect'],
  ListenerSet: ['protocol/HTTP', 'protocol/HTTPS'],
  ReferenceGrant: ['protocol/HTTP', 'protocol/HTTPS'],
  TCPRoute: ['protocol/TCP'],
  TLSRoute: ['protocol/TLS', 'tls/passthrough'],
  TLSRouteModeMixed: ['protocol/TLS', 'tls/passthrough', 'tls/terminate'],
  TLSRouteModeTerminate: ['protocol/TLS', 'tls/terminate'],
  UDPRoute: ['protocol/UDP'],
};

/** Returns the names, sorted, that hold with the given capabilities. */
export function supportedFeatures(capabilities: Capabilities): string[] {
  return Object.entries(FEATURES).flatMap(([name, needs]) =>
    needs?.every((need) => capabilities.has(need)) === true ? [name] : [],
  );
}

/** Every feature name of the specification that is not about meshes, sorted. */
export const FEATURE_NAMES: readonly string[] = Object.keys(FEATURES);
