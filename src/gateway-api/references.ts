/**
 * The pieces that many kinds share: names, ports, references and label selectors. Limits are those of Gateway API v1.7.
 */
import { array, type Infer, integer, map, object, oneOf, optional, string, withDefault } from './schema.js';

export const GATEWAY_GROUP = 'gateway.networking.k8s.io';

export const objectName = string('name of the object', { minLength: 1, maxLength: 253 });
export const namespaceName = string('name of a namespace', { minLength: 1, maxLength: 63, format: 'label' });
export const group = string('API group; "" is the core group', { maxLength: 253, format: 'group' });
export const kindName = string('kind of the object', { minLength: 1, maxLength: 63, format: 'kind' });
export const sectionName = string('name of a part of an object, such as a listener', {
  minLength: 1,
  maxLength: 253,
  format: 'subdomain',
});
export const portNumber = integer('port number, 1 to 65535', { min: 1, max: 65535 });
export const hostname = string('host name, with an optional leading "*."', {
  minLength: 1,
  maxLength: 253,
  format: 'hostname',
});
export const preciseHostname = string('host name without a wildcard', {
  minLength: 1,
  maxLength: 253,
  format: 'preciseHostname',
});
export const duration = string('duration such as 10s or 1m30s; 0s switches the limit off', { format: 'duration' });
export const headerName = string('header name; case does not matter', {
  minLength: 1,
  maxLength: 256,
  format: 'headerName',
});
export const annotationValue = string('free text, up to 4096 characters', { maxLength: 4096 });

export const parentReference = object('what a route attaches to', {
  group: withDefault(group, GATEWAY_GROUP),
  kind: withDefault(kindName, 'Gateway'),
  namespace: optional(namespaceName),
  name: objectName,
  sectionName: optional(sectionName),
  port: optional(portNumber),
});
export type ParentReference = Infer<typeof parentReference>;

const backendObjectFields = {
  group: withDefault(group, ''),
  kind: withDefault(kindName, 'Service'),
  name: objectName,
  namespace: optional(namespaceName),
  port: optional(portNumber),
};
export const backendObjectReference = object('a Service (with port) or a Backend', backendObjectFields);
export type BackendObjectReference = Infer<typeof backendObjectReference>;

export const backendRefFields = {
  ...backendObjectFields,
  weight: withDefault(
    integer('share of the traffic: weight / sum of the weights; 0 gets none', { min: 0, max: 1_000_000 }),
    1,
  ),
};
export const backendRef = object('a backend and its share of the traffic', backendRefFields);
export type BackendRef = Infer<typeof backendRef>;

export const localObjectReference = object('an object of the same namespace', {
  group,
  kind: kindName,
  name: objectName,
});
export type LocalObjectReference = Infer<typeof localObjectReference>;

export const objectReference = object('an object', {
  group,
  kind: kindName,
  name: objectName,
  namespace: optional(namespaceName),
});
export type ObjectReference = Infer<typeof objectReference>;

export const secretObjectReference = object('a Secret', {
  group: withDefault(group, ''),
  kind: withDefault(kindName, 'Secret'),
  name: objectName,
  namespace: optional(namespaceName),
});
export type SecretObjectReference = Infer<typeof secretObjectReference>;

export const policyTargetReference = object('an object of the same namespace, or one part of it', {
  group,
  kind: kindName,
  name: objectName,
  sectionName: optional(sectionName),
});
export type PolicyTargetReference = Infer<typeof policyTargetReference>;

export const labelSelector = object('selects objects by their labels; all requirements must hold', {
  matchLabels: optional(map('label values that must be equal', string('value of the label'))),
  matchExpressions: optional(
    array(
      'further requirements',
      object('one requirement', {
        key: string('label key'),
        operator: string('In, NotIn, Exists or DoesNotExist; another one selects nothing'),
        values: optional(array('values for In and NotIn', string('value'))),
      }),
    ),
  ),
});
export type LabelSelector = Infer<typeof labelSelector>;

export const commonRouteFields = {
  parentRefs: optional(array('what the route attaches to', parentReference, { maxItems: 32 })),
  useDefaultGateways: optional(oneOf('attach to the default Gateways (experimental)', ['All', 'None'])),
};
