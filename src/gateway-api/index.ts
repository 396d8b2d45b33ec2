/**
 * The one door of `gateway-api/`: the words of the spec as types and schemas.
 */
export type { BackendEndpoint, BackendSpec } from './backend.js';
export type { BackendPolicySpec, HealthCheck } from './backend-policy.js';
export { type Endpoint, type EndpointPort, SERVICE_NAME_LABEL, type ServicePort, type ServiceSpec } from './core.js';
export { durationMs } from './duration.js';
export { FORMATS, type Format, type FormatName } from './formats.js';
export type {
  AllowedRoutes,
  GatewayAddress,
  GatewaySpec,
  Listener,
  ListenerTls,
  RouteGroupKind,
} from './gateway.js';
export type { GatewayClassSpec, ParametersReference } from './gateway-class.js';
export type {
  HTTPBackendRef,
  HTTPHeaderMatch,
  HTTPPathMatch,
  HTTPQueryParamMatch,
  HTTPRouteMatch,
  HTTPRouteRule,
  HTTPRouteSpec,
} from './http-route.js';
export { apiVersionOf, CONTROLLER_NAME, KINDS, type KindDefinition, objectLabel, WEIRGATE_GROUP } from './kinds.js';
export type { ObjectMeta } from './metadata.js';
export { type Place, type Positioned, type Positions, PositionWriter, spanAt } from './positions.js';
export type { ReferenceGrantSpec } from './reference-grant.js';
export {
  type BackendObjectReference,
  type BackendRef,
  GATEWAY_GROUP,
  type LabelSelector,
  type LocalObjectReference,
  type ObjectReference,
  type ParentReference,
  type PolicyTargetReference,
  type SecretObjectReference,
} from './references.js';
export type {
  Backend,
  BackendPolicy,
  EndpointSlice,
  Gateway,
  GatewayClass,
  HTTPRoute,
  Namespace,
  ReferenceGrant,
  Resource,
  ResourceKind,
  ResourceOf,
  Service,
  TCPRoute,
  WeirgateConfig,
} from './resources.js';
export type {
  CorsFilter,
  ExternalAuthFilter,
  HeaderModifier,
  HTTPRouteFilter,
  PathModifier,
  RequestMirror,
  RequestRedirect,
  UrlRewrite,
} from './route-filters.js';
export type {
  AnySchema,
  ArrayNode,
  Infer,
  IntegerNode,
  MapNode,
  ObjectNode,
  Schema,
  SchemaNode,
  StringNode,
  UnionNode,
} from './schema.js';
export type { TCPRouteSpec } from './tcp-route.js';
export {
  DEFAULT_TIMEOUTS,
  type WeirgateConfigSpec,
  type WeirgateLimits,
  type WeirgateTimeouts,
} from './weirgate-config.js';
