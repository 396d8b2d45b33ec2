/**
 * Names of the Gateway API features that this version carries out, for `GatewayClass.status.supportedFeatures`.
 */

/** Sorted by name, as the API wants it. A name belongs here once resolution and data plane both do what it says. */
export const SUPPORTED_FEATURES: readonly string[] = [
  'Gateway',
  'GatewayAddressEmpty',
  'GatewayHTTPListenerIsolation',
  'GatewayPort8080',
  'GatewayRouteHostnameIntersectionPrecedence',
  'GatewayStaticAddresses',
  'HTTPRoute',
  'HTTPRouteBackendProtocolWebSocket',
  'HTTPRouteBackendTimeout',
  'HTTPRouteDestinationPortMatching',
  'HTTPRouteMethodMatching',
  'HTTPRouteNamedRouteRule',
  'HTTPRouteParentRefPort',
  'HTTPRouteRequestTimeout',
  'ReferenceGrant',
  'TCPRoute',
];
