/**
 * The one door of `base/`: values and types that every layer may use.
 */
export { assertDefined, assertNever } from './assert.js';
export { compareDiagnostics, type Diagnostic, type DiagnosticCode, hasErrors, type Severity } from './diagnostic.js';
export { childPath, type PathSegment, parseFieldPath } from './field-path.js';
export { compareStrings, firstDifference } from './order.js';
export { err, ok, type Result } from './result.js';
export { compareSpans, formatSpan, type SourceSpan, wholeFile } from './source-span.js';
