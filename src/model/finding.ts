/**
 * A finding: what resolution has to say about an object, and the one currency in which it says it.
 * `status/` turns findings into conditions, the pipeline into diagnostics; neither decides anything of its own.
 */
import type { DiagnosticCode, Severity, SourceSpan } from '../base/index.js';
import type { ObjectRef } from './object-ref.js';

/** Which list of conditions of the object a finding belongs to. */
export type FindingSubject =
  | { readonly kind: 'object' }
  | { readonly kind: 'listener'; readonly name: string }
  /** The entry of one parentRef, by its index in `spec.parentRefs`. */
  | { readonly kind: 'parent'; readonly index: number }
  /** The entries of all parentRefs. */
  | { readonly kind: 'parents' }
  /** The entry of one policy ancestor; see `PolicyAncestor.key`. */
  | { readonly kind: 'ancestor'; readonly key: string };

/** The condition that a finding sets. */
export interface FindingCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** A reason of the Gateway API, CamelCase. */
  readonly reason: string;
}

export interface Finding {
  readonly code: DiagnosticCode;
  /** `summary` repeats what other findings say and is shown in the status only. */
  readonly severity: Severity | 'summary';
  readonly object: ObjectRef;
  readonly subject: FindingSubject;
  /** `undefined`: worth a line in `check`, but no condition. */
  readonly condition: FindingCondition | undefined;
  /** Lower case, no full stop. */
  readonly message: string;
  readonly hint: string;
  /** Field path within the object. */
  readonly path: string;
  readonly span: SourceSpan;
}
