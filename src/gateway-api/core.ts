/**
 * Kinds of Kubernetes itself as far as traffic needs them: Service, EndpointSlice, Namespace, Secret, ConfigMap.
 */
import {
  array,
  boolean,
  emptyAsAbsent,
  type Infer,
  integer,
  map,
  object,
  oneOf,
  optional,
  string,
  unchecked,
  union,
  withDefault,
} from './schema.js';

const portName = string('name of the port', { maxLength: 63, format: 'labelOrNone' });
const appProtocol = string('protocol above the transport, such as kubernetes.io/h2c', { format: 'qualifiedName' });
// Shapes of fields that nobody reads.
const word = string('word');
const number = integer('number');
const truth = boolean('true or false');

const transport = oneOf('transport', ['TCP', 'UDP', 'SCTP'], { open: true });

export const servicePort = object(
  'a port of the Service',
  {
    name: optional(portName),
    protocol: emptyAsAbsent(withDefault(transport, 'TCP')),
    appProtocol: optional(appProtocol),
    port: integer('port number that routes name', { min: 1, max: 65535 }),
    targetPort: emptyAsAbsent(
      optional(
        union('port of the endpoints: a number, or a name in the EndpointSlice', [
          integer('port number; 0 is that of the Service', { min: 0, max: 65535 }),
          string('port name', { minLength: 1, maxLength: 15, format: 'portName' }),
        ]),
      ),
    ),
    nodePort: unchecked('no meaning here', number),
  },
  { absentIsEmpty: true },
);
export type ServicePort = Infer<typeof servicePort>;

export const serviceSpec = object(
  'ports of a Service; its endpoints are in EndpointSlices',
  {
    ports: withDefault(array('ports', servicePort), []),
    type: emptyAsAbsent(
      withDefault(
        oneOf('kind of Service', ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'], { open: true }),
        'ClusterIP',
      ),
    ),
    clusterIP: optional(string('address inside of a cluster')),
    externalName: optional(string('host name with type ExternalName')),
    clusterIPs: optional(array('addresses inside of a cluster', string('address'))),
    selector: optional(
      map('labels of the pods', string('label value', { maxLength: 63, format: 'labelValue' }), {
        keyFormat: 'qualifiedName',
        emptyForNull: true,
      }),
    ),
    allocateLoadBalancerNodePorts: unchecked('no meaning here', truth),
    externalIPs: unchecked('no meaning here', array('words', word)),
    externalTrafficPolicy: unchecked('no meaning here', word),
    healthCheckNodePort: unchecked('no meaning here', number),
    internalTrafficPolicy: unchecked('no meaning here', word),
    ipFamilies: unchecked('no meaning here', array('words', word)),
    ipFamilyPolicy: unchecked('no meaning here', word),
    loadBalancerClass: unchecked('no meaning here', word),
    loadBalancerIP: unchecked('no meaning here', word),
    loadBalancerSourceRanges: unchecked('no meaning here', array('words', word)),
    publishNotReadyAddresses: unchecked('no meaning here', truth),
    sessionAffinity: unchecked('no meaning here', word),
    sessionAffinityConfig: unchecked('no meaning here', map('fields', unchecked('no meaning here'))),
    trafficDistribution: unchecked('no meaning here', word),
  },
  { absentIsEmpty: true },
);
export type ServiceSpec = Infer<typeof serviceSpec>;

export const endpoint = object(
  'one endpoint',
  {
    addresses: array('addresses; the first one counts', string('address', { minLength: 1 }), {
      minItems: 1,
      maxItems: 100,
    }),
    conditions: withDefault(
      object('state of the endpoint', {
        ready: optional(boolean('takes traffic; not given counts as true')),
        serving: optional(boolean('would take traffic if it were not ending')),
        terminating: optional(boolean('is ending')),
      }),
      {},
    ),
    hostname: unchecked('no meaning here', word),
    nodeName: unchecked('no meaning here', word),
    zone: unchecked('no meaning here', word),
    targetRef: unchecked('no meaning here', map('fields', unchecked('no meaning here'))),
    hints: unchecked('no meaning here', map('fields', unchecked('no meaning here'))),
    deprecatedTopology: unchecked('no meaning here', map('fields', unchecked('no meaning here'))),
  },
  { absentIsEmpty: true },
);
export type Endpoint = Infer<typeof endpoint>;

export const endpointPort = object(
  'a port of all endpoints of the slice',
  {
    name: withDefault(portName, ''),
    protocol: withDefault(transport, 'TCP'),
    appProtocol: optional(appProtocol),
    port: optional(integer('port number; one that no endpoint can have is left out', { min: -2_147_483_648 })),
  },
  { absentIsEmpty: true },
);
export type EndpointPort = Infer<typeof endpointPort>;

/** An EndpointSlice has no spec: its fields stand at the top of the object. */
export const endpointSliceFields = {
  addressType: oneOf('kind of the addresses', ['IPv4', 'IPv6', 'FQDN'], { open: true }),
  endpoints: withDefault(array('endpoints', endpoint, { maxItems: 1000 }), []),
  ports: withDefault(array('ports', endpointPort, { maxItems: 20_000 }), []),
};

export const namespaceSpec = object('a namespace', {
  finalizers: unchecked('used by an API server', array('words', word)),
});

/** A Secret has no spec: its fields stand at the top of the object. Values never show in a message. */
export const secretFields = {
  type: emptyAsAbsent(withDefault(string('kind of the content, such as kubernetes.io/tls'), 'Opaque')),
  data: withDefault(
    map('content in base64', string('base64 text', { format: 'base64', secret: true }), {
      keyFormat: 'dataKey',
      emptyForNull: true,
    }),
    {},
  ),
  stringData: optional(
    map('content as plain text; goes before data', string('text', { secret: true }), {
      keyFormat: 'dataKey',
      emptyForNull: true,
    }),
  ),
  immutable: optional(boolean('no meaning here')),
};

/** A ConfigMap has no spec either. */
export const configMapFields = {
  data: withDefault(map('text by key', string('text'), { keyFormat: 'dataKey', emptyForNull: true }), {}),
  binaryData: withDefault(
    map('other content by key, in base64', string('base64 text', { format: 'base64' }), {
      keyFormat: 'dataKey',
      emptyForNull: true,
    }),
    {},
  ),
  immutable: optional(boolean('no meaning here')),
};

/** The label of an EndpointSlice that names its Service. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
