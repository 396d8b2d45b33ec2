/**
 * What a rule is: a plain function over a structurally valid object that names paths. Rules of one noun share a file.
 */
import type { DiagnosticCode, Severity } from '../../base/index.js';

/** A broken rule. */
export interface Violation {
  /** Path from the top of the object. */
  readonly path: string;
  readonly message: string;
  readonly hint: string;
}

/** Called once for each violation. */
export type Violate = (path: string, message: string, hint?: string) => void;

/** One rule for objects of type `R`. */
export interface Rule<R> {
  /** Stable code of the rule, `WG3…`. */
  readonly code: DiagnosticCode;
  /** The rule as a sentence, for documentation; code and sentence belong together. */
  readonly says: string;
  /** `error` unless given. */
  readonly severity?: Severity;
  readonly check: (resource: R, violate: Violate) => void;
}

/** Calls `visit` for each item with its path; an absent list has no items. */
export function eachItem<T>(
  items: readonly T[] | undefined,
  path: string,
  visit: (item: T, path: string) => void,
): void {
  if (items === undefined) return;
  for (let index = 0; index < items.length; index++) visit(items[index] as T, `${path}[${index}]`);
}

/**
 * One of several fields goes with the word that is chosen, such as the type of a filter. Calls `misplaced` for the field of that word if it
 * is missing, and for each other one that is there.
 */
export function eachMisplacedField<W extends string, F extends string>(
  item: { readonly [K in F]?: unknown },
  chosen: string,
  fields: readonly (readonly [word: W, field: F])[],
  misplaced: (word: W, field: F, isPresent: boolean) => void,
): void {
  for (const [word, field] of fields) {
    const isPresent = item[field] !== undefined;
    if (isPresent !== (chosen === word)) misplaced(word, field, isPresent);
  }
}

/** Calls `repeat` for each item whose key an earlier item has; `undefined` keys never repeat. */
export function eachRepeated<T>(
  items: readonly T[] | undefined,
  path: string,
  key: (item: T) => string | undefined,
  repeat: (item: T, path: string, firstPath: string) => void,
): void {
  const first = new Map<string, string>();
  eachItem(items, path, (item, itemPath) => {
    const text = key(item);
    if (text === undefined) return;
    const before = first.get(text);
    if (before === undefined) first.set(text, itemPath);
    else repeat(item, itemPath, before);
  });
}
