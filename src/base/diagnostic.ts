/**
 * What is wrong with the configuration, for a person to read and a tool to sort.
 * Admission makes them (WG1…WG3), resolution adds its findings (WG4); `check` and the log print them.
 */
import { compareStrings, firstDifference } from './order.js';
import { compareSpans, type SourceSpan } from './source-span.js';

export type Severity = 'error' | 'warning';

/**
 * Stable, searchable code; a code is never given a second meaning. By the first digit:
 * 1 reading (files, YAML, limits), 2 structure (kinds, fields, types), 3 rules of the kinds, 4 references and findings.
 */
export type DiagnosticCode = `WG${1 | 2 | 3 | 4}${number}`;

/** One fault, or one doubt. Texts are lower case and without a full stop. */
export interface Diagnostic {
  /** An object with an error is not admitted; one with warnings is. */
  readonly severity: Severity;
  readonly code: DiagnosticCode;
  /** `HTTPRoute default/web`, `GatewayClass weirgate`; `''` when the fault is outside of any object. */
  readonly object: string;
  /** Field path such as `spec.rules[0].backendRefs[1].port`; `''` for the object or file as a whole. */
  readonly path: string;
  /** What is wrong. */
  readonly message: string;
  /** What would be right; `''` when there is nothing to add. */
  readonly hint: string;
  readonly span: SourceSpan;
}

/** Orders diagnostics by place, then code, then path and message, so that equal input prints equal reports. */
export function compareDiagnostics(a: Diagnostic, b: Diagnostic): number {
  return firstDifference(
    compareSpans(a.span, b.span),
    compareStrings(a.code, b.code),
    compareStrings(a.path, b.path),
    compareStrings(a.message, b.message),
  );
}

/** True when at least one of them is an error. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error');
}
