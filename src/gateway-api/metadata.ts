/**
 * Object metadata as far as Weirgate reads it; the rest is known, so that nobody is warned about it.
 */
import {
  type AnySchema,
  array,
  boolean,
  integer,
  map,
  object,
  optional,
  string,
  unchecked,
  withDefault,
} from './schema.js';

export const labels = map('labels', string('label value', { maxLength: 63, format: 'labelValue' }), {
  keyFormat: 'qualifiedName',
  emptyForNull: true,
});

const objectName = string('name of the object', { minLength: 1, maxLength: 253, format: 'subdomain' });

/** Names of Services and Namespaces become parts of host names. */
const shortName = string('name of the object', { minLength: 1, maxLength: 63, format: 'label' });

const text = string('text');
const word = string('text', { minLength: 1 });

const ownerReference = object('an object that this one goes with', {
  apiVersion: word,
  kind: word,
  name: word,
  uid: word,
  controller: optional(boolean('manages it')),
  blockOwnerDeletion: optional(boolean('is removed after it')),
});

const common = {
  labels: withDefault(labels, {}),
  annotations: withDefault(
    map('annotations', string('free text'), { keyFormat: 'annotationKey', emptyForNull: true }),
    {},
  ),
  creationTimestamp: optional(
    string('age of the object, which decides conflicts; without it the name decides', { format: 'timestamp' }),
  ),
  generation: withDefault(integer('generation of the spec', { min: 0, max: Number.MAX_SAFE_INTEGER }), 1),
  uid: unchecked('set by an API server', text),
  resourceVersion: unchecked('set by an API server', text),
  generateName: unchecked('used by an API server', text),
  deletionTimestamp: unchecked('set by an API server', string('time', { format: 'timestamp' })),
  deletionGracePeriodSeconds: unchecked('set by an API server', integer('seconds', { max: Number.MAX_SAFE_INTEGER })),
  finalizers: unchecked('used by an API server', array('names', text)),
  ownerReferences: unchecked('used by an API server', array('owners', ownerReference)),
  managedFields: unchecked('set by an API server'),
  selfLink: unchecked('set by an API server', text),
};

/** Returns the schema of the metadata of a kind. `short`: its names are single labels of up to 63 characters. */
export function metadataSchema(namespaced: boolean, short: boolean): AnySchema {
  const name = short ? shortName : objectName;
  if (!namespaced) {
    const fields = { name, ...common, namespace: unchecked('no meaning here', text) };
    return object('metadata of an object without a namespace', fields, { absentIsEmpty: true });
  }
  const namespace = withDefault(string('namespace of the object', { maxLength: 63, format: 'labelOrNone' }), 'default');
  return object('metadata of an object in a namespace', { name, ...common, namespace }, { absentIsEmpty: true });
}

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
