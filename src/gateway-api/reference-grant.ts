/**
 * ReferenceGrant (gateway.networking.k8s.io): lets objects of other namespaces refer to objects of its own.
 */
import { group, kindName, namespaceName, objectName } from './references.js';
import { array, described, type Infer, object, optional } from './schema.js';

export const referenceGrantSpec = object('who may refer to what', {
  from: array(
    'who may refer',
    object('a kind in another namespace', { group, kind: kindName, namespace: namespaceName }),
    { minItems: 1, maxItems: 16 },
  ),
  to: array(
    'what may be referred to',
    object('a kind in this namespace', {
      group,
      kind: kindName,
      name: optional(described(objectName, 'one object; without it all of the kind')),
    }),
    { minItems: 1, maxItems: 16 },
  ),
});
export type ReferenceGrantSpec = Infer<typeof referenceGrantSpec>;
