/**
 * Resources as later stages see them: defaulted, structurally valid, plain data that can be cloned between threads.
 */
import type { BackendSpec } from './backend.js';
import type { BackendPolicySpec } from './backend-policy.js';
import type { endpointSliceFields, ServiceSpec } from './core.js';
import type { GatewaySpec } from './gateway.js';
import type { GatewayClassSpec } from './gateway-class.js';
import type { HTTPRouteSpec } from './http-route.js';
import type { ObjectMeta } from './metadata.js';
import type { Positions } from './positions.js';
import type { ReferenceGrantSpec } from './reference-grant.js';
import type { Infer } from './schema.js';
import type { TCPRouteSpec } from './tcp-route.js';
import type { WeirgateConfigSpec } from './weirgate-config.js';

interface ResourceBase<ApiVersion extends string, Kind extends string> {
  /** The version Weirgate works with, whichever served version the file says. */
  readonly apiVersion: ApiVersion;
  readonly kind: Kind;
  readonly metadata: ObjectMeta;
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
  | HTTPRoute
  | TCPRoute
  | ReferenceGrant
  | Service
  | Namespace
  | EndpointSlice
  | Backend
  | BackendPolicy
  | WeirgateConfig;

export type ResourceKind = Resource['kind'];

/** The resource type of one kind. */
export type ResourceOf<K extends ResourceKind> = Extract<Resource, { readonly kind: K }>;
