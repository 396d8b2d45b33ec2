/**
 * The kinds that Weirgate reads: group, versions, scope and schema of each. A new kind is a schema file and an entry here.
 */
import { backendSpec } from './backend.js';
import { backendPolicySpec } from './backend-policy.js';
import { backendTlsPolicySpec } from './backend-tls-policy.js';
import { configMapFields, endpointSliceFields, namespaceSpec, secretFields, serviceSpec } from './core.js';
import { gatewaySpec } from './gateway.js';
import { gatewayClassSpec } from './gateway-class.js';
import { grpcRouteSpec } from './grpc-route.js';
import { httpRouteSpec } from './http-route.js';
import { listenerSetSpec } from './listener-set.js';
import { clusterMetadata, namespacedMetadata } from './metadata.js';
import { referenceGrantSpec } from './reference-grant.js';
import { GATEWAY_GROUP } from './references.js';
import type { ResourceKind } from './resources.js';
import { type AnySchema, object, optional, string, unchecked } from './schema.js';
import { tcpRouteSpec, tlsRouteSpec, udpRouteSpec } from './stream-routes.js';
import { weirgateConfigSpec } from './weirgate-config.js';

export const WEIRGATE_GROUP = 'weirgate.dev';
export const CONTROLLER_NAME = 'weirgate.dev/gateway-controller';

/** One kind. */
export interface KindDefinition {
  readonly group: string;
  readonly kind: ResourceKind;
  /** Plural, lower case: `httproutes`. */
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  /** Version that resources have after admission. */
  readonly version: string;
  /** Other versions that are read as if they were `version`. */
  readonly otherVersions: readonly string[];
  /** Of those, the ones that a user should leave. */
  readonly deprecatedVersions: readonly string[];
  /** Schema of the whole object. */
  readonly schema: AnySchema;
}

interface KindOptions {
  readonly plural?: string;
  readonly shortNames?: readonly string[];
  readonly namespaced?: boolean;
  readonly version?: string;
  readonly otherVersions?: readonly string[];
  readonly deprecatedVersions?: readonly string[];
}

function defineKind(
  group: string,
  kind: ResourceKind,
  fields: Readonly<Record<string, AnySchema>>,
  options: KindOptions = {},
): KindDefinition {
  const namespaced = options.namespaced ?? true;
  return {
    group,
    kind,
    plural: options.plural ?? `${kind.toLowerCase()}s`,
    shortNames: options.shortNames ?? [],
    namespaced,
    version: options.version ?? 'v1',
    otherVersions: options.otherVersions ?? [],
    deprecatedVersions: options.deprecatedVersions ?? [],
    schema: object(`a ${kind}`, {
      apiVersion: string('group and version of the kind'),
      kind: string('kind of the object'),
      metadata: namespaced ? namespacedMetadata : clusterMetadata,
      ...fields,
      status: unchecked('written by Weirgate'),
    }),
  };
}

function deprecated(...versions: readonly string[]): Pick<KindOptions, 'otherVersions' | 'deprecatedVersions'> {
  return { otherVersions: versions, deprecatedVersions: versions };
}

const ours = { version: 'v1alpha1' };

/** All kinds, in the order in which they are documented. */
export const KINDS: readonly KindDefinition[] = [
  defineKind(
    GATEWAY_GROUP,
    'GatewayClass',
    { spec: gatewayClassSpec },
    {
      plural: 'gatewayclasses',
      shortNames: ['gc'],
      namespaced: false,
      otherVersions: ['v1beta1'],
    },
  ),
  defineKind(GATEWAY_GROUP, 'Gateway', { spec: gatewaySpec }, { shortNames: ['gtw'], otherVersions: ['v1beta1'] }),
  defineKind(GATEWAY_GROUP, 'ListenerSet', { spec: listenerSetSpec }, { shortNames: ['lset'] }),
  defineKind(GATEWAY_GROUP, 'HTTPRoute', { spec: httpRouteSpec }, { otherVersions: ['v1beta1'] }),
  defineKind(GATEWAY_GROUP, 'GRPCRoute', { spec: grpcRouteSpec }),
  defineKind(GATEWAY_GROUP, 'TLSRoute', { spec: tlsRouteSpec }, deprecated('v1alpha2', 'v1alpha3')),
  defineKind(GATEWAY_GROUP, 'TCPRoute', { spec: tcpRouteSpec }, deprecated('v1alpha2')),
  defineKind(GATEWAY_GROUP, 'UDPRoute', { spec: udpRouteSpec }, deprecated('v1alpha2')),
  defineKind(
    GATEWAY_GROUP,
    'ReferenceGrant',
    { spec: referenceGrantSpec },
    {
      shortNames: ['refgrant'],
      otherVersions: ['v1beta1'],
    },
  ),
  defineKind(
    GATEWAY_GROUP,
    'BackendTLSPolicy',
    { spec: backendTlsPolicySpec },
    { ...deprecated('v1alpha3'), plural: 'backendtlspolicies', shortNames: ['btlspolicy'] },
  ),
  defineKind('', 'Service', { spec: serviceSpec }, { shortNames: ['svc'] }),
  defineKind('', 'Namespace', { spec: optional(namespaceSpec) }, { shortNames: ['ns'], namespaced: false }),
  defineKind('', 'Secret', secretFields),
  defineKind('', 'ConfigMap', configMapFields, { shortNames: ['cm'] }),
  defineKind('discovery.k8s.io', 'EndpointSlice', endpointSliceFields),
  defineKind(WEIRGATE_GROUP, 'Backend', { spec: backendSpec }, ours),
  defineKind(WEIRGATE_GROUP, 'BackendPolicy', { spec: backendPolicySpec }, { ...ours, plural: 'backendpolicies' }),
  defineKind(WEIRGATE_GROUP, 'WeirgateConfig', { spec: weirgateConfigSpec }, ours),
];

/** Returns `group/version`, or the version alone for the core group. */
export function apiVersionOf(definition: KindDefinition): string {
  return definition.group === '' ? definition.version : `${definition.group}/${definition.version}`;
}

/** Returns how messages name an object: `HTTPRoute default/web`, `GatewayClass weirgate`. */
export function objectLabel(kind: string, namespace: string, name: string): string {
  return namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}
