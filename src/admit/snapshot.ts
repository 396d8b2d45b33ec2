/**
 * What admission hands on: the objects that are fit to be resolved, and what is wrong with the others.
 */
import type { Diagnostic } from '../base/index.js';
import type { Place, Resource } from '../gateway-api/index.js';

/** The admitted objects of one file. Depends on the file's text alone, so it can be kept while the text does not change. */
export interface AdmittedFile {
  readonly file: string;
  /** In the order of the file. */
  readonly resources: readonly Resource[];
  readonly diagnostics: readonly Diagnostic[];
  /** Objects that were refused but have a name, so that a second one of that name is still seen. */
  readonly refused: readonly RefusedObject[];
}

/** An object with an error: known by name and place, not admitted. */
export interface RefusedObject extends Place {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** The objects of all files together. */
export interface Snapshot {
  /** Sorted by kind, namespace and name. */
  readonly resources: readonly Resource[];
  /** Objects that the files have and that are not among the resources, named as by `objectLabel`. */
  readonly refused: ReadonlySet<string>;
  /** Sorted by place. */
  readonly diagnostics: readonly Diagnostic[];
}
