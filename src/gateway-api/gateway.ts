/**
 * Gateway (gateway.networking.k8s.io): addresses and listeners, standard and experimental fields.
 */
import {
  annotationValue,
  GATEWAY_GROUP,
  group,
  hostname,
  kindName,
  labelSelector,
  localObjectReference,
  objectName,
  objectReference,
  portNumber,
  secretObjectReference,
  sectionName,
} from './references.js';
import { externalAuthFilter } from './route-filters.js';
import { array, described, type Infer, map, object, oneOf, optional, string, withDefault } from './schema.js';

export const routeGroupKind = object('a kind of route', {
  group: withDefault(group, GATEWAY_GROUP),
  kind: kindName,
});
export type RouteGroupKind = Infer<typeof routeGroupKind>;

const sameNamespace = { from: 'Same' } as const;

export const allowedRoutes = object('which routes may attach', {
  namespaces: withDefault(
    object('namespaces whose routes may attach', {
      from: withDefault(oneOf('Same is the namespace of the Gateway', ['All', 'Selector', 'Same']), 'Same'),
      selector: optional(described(labelSelector, 'labels of the namespaces, with from: Selector')),
    }),
    sameNamespace,
  ),
  kinds: optional(array('kinds of routes; without it those that fit the protocol', routeGroupKind, { maxItems: 8 })),
});
export type AllowedRoutes = Infer<typeof allowedRoutes>;

export const listenerTls = object('TLS of a listener', {
  mode: withDefault(
    oneOf('end TLS here, or pass it through by server name', ['Terminate', 'Passthrough']),
    'Terminate',
  ),
  certificateRefs: optional(array('Secrets with certificate and key', secretObjectReference, { maxItems: 64 })),
  options: optional(map('domain-prefixed options such as the lowest TLS version', annotationValue, { maxItems: 16 })),
});
export type ListenerTls = Infer<typeof listenerTls>;

const listenerFilters = object('what happens before a route is chosen (experimental)', {
  requests: optional(
    array(
      'filters in their order',
      object('one filter', {
        type: oneOf('kind of the filter', ['ExternalAuth', 'ExtensionRef']),
        externalAuth: optional(externalAuthFilter),
        extensionRef: optional(localObjectReference),
      }),
      { maxItems: 16 },
    ),
  ),
});

export const listener = object('a port that the Gateway listens on', {
  name: described(sectionName, 'name of the listener, unique in the Gateway'),
  hostname: optional(described(hostname, 'host name that the listener serves; without it all')),
  port: portNumber,
  protocol: string('HTTP, HTTPS, TLS, TCP or UDP', { minLength: 1, maxLength: 255, format: 'protocol' }),
  tls: optional(listenerTls),
  allowedRoutes: withDefault(allowedRoutes, { namespaces: sameNamespace }),
  filters: optional(listenerFilters),
});
export type Listener = Infer<typeof listener>;

export const gatewayAddress = object('an address that is wanted for the Gateway', {
  type: withDefault(
    string('IPAddress, Hostname or a domain-prefixed name', { minLength: 1, maxLength: 253, format: 'addressType' }),
    'IPAddress',
  ),
  value: optional(string('the address; without it one is assigned', { maxLength: 253 })),
  routability: optional(string('from where it can be reached (experimental)', { maxLength: 253 })),
});
export type GatewayAddress = Infer<typeof gatewayAddress>;

const clientValidation = object('how clients prove who they are', {
  validation: optional(
    object('client certificates', {
      caCertificateRefs: array('who signs client certificates', objectReference, { minItems: 1, maxItems: 16 }),
      mode: withDefault(
        oneOf('refuse, or let pass, clients without a valid certificate', ['AllowValidOnly', 'AllowInsecureFallback']),
        'AllowValidOnly',
      ),
    }),
  ),
});

export const gatewaySpec = object('addresses and listeners of a Gateway', {
  gatewayClassName: described(objectName, 'name of the GatewayClass'),
  listeners: array('ports that the Gateway listens on', listener, { minItems: 1, maxItems: 64, keys: ['name'] }),
  addresses: optional(
    array('addresses that are wanted; without them every local address', gatewayAddress, { maxItems: 16 }),
  ),
  infrastructure: optional(
    object('what belongs to the Gateway besides its listeners', {
      labels: optional(
        map('labels for what is made for the Gateway', string('label value', { maxLength: 63, format: 'labelValue' }), {
          keyFormat: 'infrastructureKey',
          maxItems: 8,
        }),
      ),
      annotations: optional(
        map('annotations for what is made for the Gateway', annotationValue, {
          keyFormat: 'infrastructureKey',
          maxItems: 16,
        }),
      ),
      parametersRef: optional(
        object('a WeirgateConfig of the same namespace, for timeouts and trustedProxies of this Gateway', {
          group,
          kind: kindName,
          name: string('name of the object', { minLength: 1, maxLength: 253 }),
        }),
      ),
    }),
  ),
  allowedListeners: optional(
    object('which ListenerSets may attach', {
      namespaces: withDefault(
        object('namespaces whose ListenerSets may attach', {
          from: withDefault(oneOf('where they may live', ['All', 'Selector', 'Same', 'None']), 'None'),
          selector: optional(labelSelector),
        }),
        { from: 'None' },
      ),
    }),
  ),
  tls: optional(
    object('TLS that holds for the whole Gateway', {
      backend: optional(object('towards backends', { clientCertificateRef: optional(secretObjectReference) })),
      frontend: optional(
        object('towards clients', {
          default: described(clientValidation, 'for all HTTPS listeners'),
          perPort: optional(
            array(
              'for single ports, in place of the default',
              object('one port', { port: portNumber, tls: clientValidation }),
              {
                maxItems: 64,
                keys: ['port'],
              },
            ),
          ),
        }),
      ),
    }),
  ),
  defaultScope: optional(oneOf('serve routes that use default Gateways (experimental)', ['All', 'None'])),
});
export type GatewaySpec = Infer<typeof gatewaySpec>;
