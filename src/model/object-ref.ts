/**
 * Which object something is about, and the one order in which objects are judged.
 */
import { compareStrings } from '../base/index.js';

/** Names an object; `namespace` is `''` for kinds that have none. */
export interface ObjectRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Age and name of an object: all that precedence between objects may look at. */
export interface Seniority {
  /** Milliseconds since 1970; `undefined` when the object does not say. */
  readonly createdAt: number | undefined;
  readonly namespace: string;
  readonly name: string;
}

/** Returns `default/web`, or `weirgate` for an object without a namespace. */
export function objectName(ref: { readonly namespace: string; readonly name: string }): string {
  return ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`;
}

/** Returns a key that is equal for equal references only. */
export function objectKey(ref: ObjectRef): string {
  return `${ref.apiVersion} ${ref.kind} ${ref.namespace}/${ref.name}`;
}

/**
 * Orders objects by seniority: the older first, then by namespace and name.
 * Objects without a creation time are equal in age among themselves and younger than any that has one, so that
 * writing the time down is a way to win a tie. Never file order. Source: route precedence of the Gateway API.
 */
export function compareSeniority(a: Seniority, b: Seniority): number {
  if (a.createdAt !== b.createdAt) {
    if (a.createdAt === undefined) return 1;
    if (b.createdAt === undefined) return -1;
    return a.createdAt - b.createdAt;
  }
  return compareStrings(a.namespace, b.namespace) || compareStrings(a.name, b.name);
}
