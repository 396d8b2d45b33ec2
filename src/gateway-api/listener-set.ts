/**
 * ListenerSet (gateway.networking.k8s.io): listeners that somebody else than the owner of a Gateway adds to it.
 */
import { listener } from './gateway.js';
import { GATEWAY_GROUP, group, kindName, namespaceName, objectName } from './references.js';
import { array, type Infer, object, optional, withDefault } from './schema.js';

export const parentGatewayReference = object('the Gateway that the listeners are added to', {
  group: withDefault(group, GATEWAY_GROUP),
  kind: withDefault(kindName, 'Gateway'),
  name: objectName,
  namespace: optional(namespaceName),
});
export type ParentGatewayReference = Infer<typeof parentGatewayReference>;

export const listenerSetSpec = object('listeners for a Gateway', {
  parentRef: parentGatewayReference,
  listeners: array('ports that the Gateway listens on as well', listener, {
    minItems: 1,
    maxItems: 64,
    keys: ['name'],
  }),
});
export type ListenerSetSpec = Infer<typeof listenerSetSpec>;
