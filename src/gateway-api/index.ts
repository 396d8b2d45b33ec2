/**
 * The one door of `gateway-api/`: the words of the spec as types and schemas.
 */
export type { BackendEndpoint, BackendSpec } from './backend.js';
export type { BackendPolicySpec, HealthCheck } from './backend-policy.js';
export type { BackendTLSPolicySpec, SubjectAltName } from './backend-tls-policy.js';
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
  GRPCBackendRef,
  GRPCMethodMatch,
  GRPCRouteFilter,
  GRPCRouteMatch,
  GRPCRouteRule,
  GRPCRouteSpec,
} from './grpc-route.js';
export type {
  HTTPBackendRef,
  HTTPHeaderMatch,
  HTTPPathMatch,
  HTTPQueryParamMatch,
  HTTPRouteMatch,
  HTTPRouteRule,
  HTTPRouteSpec,
} from './http-route.js';
export {
  apiVersionOf,
  CONTROLLER_NAME,
  KINDS,
  type KindDefinition,
  objectLabel,
  schemaOf,
  WEIRGATE_GROUP,
} from './kinds.js';
export type { ListenerSetSpec, ParentGatewayReference } from './listener-set.js';
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
  BackendTLSPolicy,
  ConfigMap,
  EndpointSlice,
  Gateway,
  GatewayClass,
  GRPCRoute,
  HTTPRoute,
  ListenerSet,
  Namespace,
  ReferenceGrant,
  Resource,
  ResourceKind,
  ResourceOf,
  Secret,
  Service,
  TCPRoute,
  TLSRoute,
  UDPRoute,
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
export {
  isOwnCondition,
  isOwnEntry,
  MAX_ANCESTORS,
  MAX_CONDITIONS,
  MAX_PARENTS,
  OWN_CONDITIONS,
  roomForAncestors,
  statusOfOthers,
} from './status.js';
export type { TCPRouteSpec, TLSRouteSpec, UDPRouteSpec } from './stream-routes.js';
export {
  DEFAULT_TIMEOUTS,
  type WeirgateConfigSpec,
  type WeirgateLimits,
  type WeirgateTimeouts,
} from './weirgate-config.js';
