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
import { metadataSchema } from './metadata.js';
import { referenceGrantSpec } from './reference-grant.js';
import { GATEWAY_GROUP } from './references.js';
import type { ResourceKind } from './resources.js';
import { type AnySchema, object, optional, string, unchecked } from './schema.js';
import { alpha2TcpRouteSpec, alpha2TlsRouteSpec, tcpRouteSpec, tlsRouteSpec, udpRouteSpec } from './stream-routes.js';
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
  /** Schemas of those other versions whose limits differ from it. */
  readonly otherSchemas: ReadonlyMap<string, AnySchema>;
}

interface KindOptions {
  readonly plural?: string;
  readonly shortNames?: readonly string[];
  readonly namespaced?: boolean;
  readonly version?: string;
  readonly otherVersions?: readonly string[];
  readonly deprecatedVersions?: readonly string[];
  /** Names are single labels. */
  readonly shortName?: boolean;
  /** Fields of v1alpha2, where they differ. */
  readonly alpha2Fields?: Fields;
}

type Fields = Readonly<Record<string, AnySchema>>;

function defineKind(group: string, kind: ResourceKind, fields: Fields, options: KindOptions = {}): KindDefinition {
  const { namespaced = true, shortName = false, deprecatedVersions = [], alpha2Fields } = options;
  const schemaWith = (own: Fields): AnySchema =>
    object(`a ${kind}`, {
      apiVersion: string('group and version of the kind'),
      kind: string('kind of the object'),
      metadata: metadataSchema(namespaced, shortName),
      ...own,
      status: unchecked('written by Weirgate'),
    });
  return {
    group,
    kind,
    plural: options.plural ?? `${kind.toLowerCase()}s`,
    shortNames: options.shortNames ?? [],
    namespaced,
    version: options.version ?? 'v1',
    otherVersions: options.otherVersions ?? [],
    deprecatedVersions,
    schema: schemaWith(fields),
    otherSchemas: new Map(alpha2Fields === undefined ? [] : [['v1alpha2', schemaWith(alpha2Fields)]]),
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
  defineKind(
    GATEWAY_GROUP,
    'TLSRoute',
    { spec: tlsRouteSpec },
    {
      ...deprecated('v1alpha2', 'v1alpha3'),
      alpha2Fields: { spec: alpha2TlsRouteSpec },
    },
  ),
  defineKind(
    GATEWAY_GROUP,
    'TCPRoute',
    { spec: tcpRouteSpec },
    {
      ...deprecated('v1alpha2'),
      alpha2Fields: { spec: alpha2TcpRouteSpec },
    },
  ),
  defineKind(
    GATEWAY_GROUP,
    'UDPRoute',
    { spec: udpRouteSpec },
    {
      ...deprecated('v1alpha2'),
      alpha2Fields: { spec: alpha2TcpRouteSpec },
    },
  ),
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
  defineKind('', 'Service', { spec: serviceSpec }, { shortNames: ['svc'], shortName: true }),
  defineKind(
    '',
    'Namespace',
    { spec: optional(namespaceSpec) },
    { shortNames: ['ns'], namespaced: false, shortName: true },
  ),
  defineKind('', 'Secret', secretFields),
  defineKind('', 'ConfigMap', configMapFields, { shortNames: ['cm'] }),
  defineKind('discovery.k8s.io', 'EndpointSlice', endpointSliceFields),
  defineKind(WEIRGATE_GROUP, 'Backend', { spec: backendSpec }, ours),
  defineKind(WEIRGATE_GROUP, 'BackendPolicy', { spec: backendPolicySpec }, { ...ours, plural: 'backendpolicies' }),
  defineKind(WEIRGATE_GROUP, 'WeirgateConfig', { spec: weirgateConfigSpec }, ours),
];

/** Returns the schema by which an object of that version is judged. */
export function schemaOf(definition: KindDefinition, version: string): AnySchema {
  return definition.otherSchemas.get(version) ?? definition.schema;
}

/** Returns `group/version`, or the version alone for the core group. */
export function apiVersionOf(definition: KindDefinition): string {
  return definition.group === '' ? definition.version : `${definition.group}/${definition.version}`;
}

/** Returns how messages name an object: `HTTPRoute default/web`, `GatewayClass weirgate`. */
export function objectLabel(kind: string, namespace: string, name: string): string {
  return namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}
