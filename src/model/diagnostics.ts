/**
 * Findings as diagnostics, for `check` and the log.
 */
import type { Diagnostic } from '../base/index.js';
import { objectLabel } from '../gateway-api/index.js';
import type { Finding } from './finding.js';

/** Returns the diagnostic of a finding; none for a summary, which would only repeat others. */
export function diagnosticsOf(finding: Finding): Diagnostic[] {
  const { code, severity, object, subject, path, hint, span } = finding;
  if (severity === 'summary') return [];
  // Conditions stand under their listener; a line of a report has to name it.
  const message = subject.kind === 'listener' ? `listener "${subject.name}": ${finding.message}` : finding.message;
  return [
    { severity, code, object: objectLabel(object.kind, object.namespace, object.name), path, message, hint, span },
  ];
}
