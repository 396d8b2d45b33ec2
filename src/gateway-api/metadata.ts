/**
 * Object metadata as far as Weirgate reads it; the rest is known, so that nobody is warned about it.
 */
import { type Infer, integer, map, object, optional, string, unchecked, withDefault } from './schema.js';

export const labels = map('labels', string('label value', { maxLength: 63, format: 'labelValue' }), {
  keyFormat: 'qualifiedName',
});

const common = {
  name: string('name of the object', { minLength: 1, maxLength: 253, format: 'subdomain' }),
  labels: withDefault(labels, {}),
  annotations: withDefault(map('annotations', string('free text'), { keyFormat: 'qualifiedName' }), {}),
  creationTimestamp: optional(
    string('age of the object, which decides conflicts; without it the name decides', { format: 'timestamp' }),
  ),
  generation: withDefault(integer('generation of the spec', { min: 0 }), 1),
  uid: unchecked('set by an API server'),
  resourceVersion: unchecked('set by an API server'),
  generateName: unchecked('used by an API server'),
  deletionTimestamp: unchecked('set by an API server'),
  deletionGracePeriodSeconds: unchecked('set by an API server'),
  finalizers: unchecked('used by an API server'),
  ownerReferences: unchecked('used by an API server'),
  managedFields: unchecked('set by an API server'),
  selfLink: unchecked('set by an API server'),
};

export const clusterMetadata = object('metadata of an object without a namespace', {
  ...common,
  namespace: unchecked('no meaning here'),
});

export const namespacedMetadata = object('metadata of an object in a namespace', {
  ...common,
  namespace: withDefault(
    string('namespace of the object', { minLength: 1, maxLength: 63, format: 'label' }),
    'default',
  ),
});

/** Metadata after defaults. `namespace` is `''` for kinds without one. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** RFC 3339; absent in most files: then equal in age, and namespace/name decides. */
  readonly creationTimestamp?: string;
  readonly generation: number;
}

export type NamespacedMetadata = Infer<typeof namespacedMetadata>;
