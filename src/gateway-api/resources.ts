/**
 * Resources as later stages see them: defaulted, structurally valid, plain data that can be cloned between threads.
 */
import type { BackendSpec } from './backend.js';
import type { BackendPolicySpec } from './backend-policy.js';
import type { BackendTLSPolicySpec } from './backend-tls-policy.js';
import type { configMapFields, endpointSliceFields, ServiceSpec, secretFields } from './core.js';
import type { GatewaySpec } from './gateway.js';
import type { GatewayClassSpec } from './gateway-class.js';
import type { GRPCRouteSpec } from './grpc-route.js';
import type { HTTPRouteSpec } from './http-route.js';
import type { ListenerSetSpec } from './listener-set.js';
import type { ObjectMeta } from './metadata.js';
import type { Positions } from './positions.js';
import type { ReferenceGrantSpec } from './reference-grant.js';
import type { Infer } from './schema.js';
import type { TCPRouteSpec, TLSRouteSpec, UDPRouteSpec } from './stream-routes.js';
import type { WeirgateConfigSpec } from './weirgate-config.js';

interface ResourceBase<ApiVersion extends string, Kind extends string> {
  /** The version Weirgate works with, whichever served version the file says. */
  readonly apiVersion: ApiVersion;
  readonly kind: Kind;
  readonly metadata: ObjectMeta;
  /** As the file has it, of any shape: others may have written there. Read it with the functions of `status.ts`. */
  readonly status?: unknown;
  /** The file the object comes from. */
  readonly file: string;
  /** Read them with `spanAt`. */
  readonly positions: Positions;
}

type GatewayApi = 'gateway.networking.k8s.io/v1';
type Weirgate = 'weirgate.dev/v1alpha1';

export interface GatewayClass extends ResourceBase<GatewayApi, 'GatewayClass'> {
  readonly spec: GatewayClassSpec;
}

export interface Gateway extends ResourceBase<GatewayApi, 'Gateway'> {
  readonly spec: GatewaySpec;
}

export interface HTTPRoute extends ResourceBase<GatewayApi, 'HTTPRoute'> {
  readonly spec: HTTPRouteSpec;
}

export interface ListenerSet extends ResourceBase<GatewayApi, 'ListenerSet'> {
  readonly spec: ListenerSetSpec;
}

export interface GRPCRoute extends ResourceBase<GatewayApi, 'GRPCRoute'> {
  readonly spec: GRPCRouteSpec;
}

export interface TLSRoute extends ResourceBase<GatewayApi, 'TLSRoute'> {
  readonly spec: TLSRouteSpec;
}

export interface UDPRoute extends ResourceBase<GatewayApi, 'UDPRoute'> {
  readonly spec: UDPRouteSpec;
}

export interface BackendTLSPolicy extends ResourceBase<GatewayApi, 'BackendTLSPolicy'> {
  readonly spec: BackendTLSPolicySpec;
}

export interface Secret extends ResourceBase<'v1', 'Secret'> {
  readonly type: Infer<(typeof secretFields)['type']>;
  /** Base64; admission has put `stringData` over it. */
  readonly data: Infer<(typeof secretFields)['data']>;
  /** Plain text; in the file only. */
  readonly stringData?: Infer<(typeof secretFields)['stringData']>;
}

export interface ConfigMap extends ResourceBase<'v1', 'ConfigMap'> {
  readonly data: Infer<(typeof configMapFields)['data']>;
  /** Base64. */
  readonly binaryData: Infer<(typeof configMapFields)['binaryData']>;
}

export interface TCPRoute extends ResourceBase<GatewayApi, 'TCPRoute'> {
  readonly spec: TCPRouteSpec;
}

export interface ReferenceGrant extends ResourceBase<GatewayApi, 'ReferenceGrant'> {
  readonly spec: ReferenceGrantSpec;
}

export interface Service extends ResourceBase<'v1', 'Service'> {
  readonly spec: ServiceSpec;
}

export interface Namespace extends ResourceBase<'v1', 'Namespace'> {}

export interface EndpointSlice extends ResourceBase<'discovery.k8s.io/v1', 'EndpointSlice'> {
  readonly addressType: Infer<(typeof endpointSliceFields)['addressType']>;
  readonly endpoints: Infer<(typeof endpointSliceFields)['endpoints']>;
  readonly ports: Infer<(typeof endpointSliceFields)['ports']>;
}

export interface Backend extends ResourceBase<Weirgate, 'Backend'> {
  readonly spec: BackendSpec;
}

export interface BackendPolicy extends ResourceBase<Weirgate, 'BackendPolicy'> {
  readonly spec: BackendPolicySpec;
}

export interface WeirgateConfig extends ResourceBase<Weirgate, 'WeirgateConfig'> {
  readonly spec: WeirgateConfigSpec;
}

/** Every kind that Weirgate reads; `kind` tells them apart. */
export type Resource =
  | GatewayClass
  | Gateway
  | ListenerSet
  | HTTPRoute
  | GRPCRoute
  | TLSRoute
  | TCPRoute
  | UDPRoute
  | ReferenceGrant
  | BackendTLSPolicy
  | Service
  | Namespace
  | EndpointSlice
  | Secret
  | ConfigMap
  | Backend
  | BackendPolicy
  | WeirgateConfig;

export type ResourceKind = Resource['kind'];

/** The resource type of one kind. */
export type ResourceOf<K extends ResourceKind> = Extract<Resource, { readonly kind: K }>;
