/**
 * Findings as diagnostics, for `check` and the log.
 */
import type { Diagnostic } from '../base/index.js';
import { objectLabel } from '../gateway-api/index.js';
import type { Finding } from './finding.js';

/** Returns the diagnostic of a finding; none for a summary, which would only repeat others. */
export function diagnosticsOf({ code, severity, object, path, message, hint, span }: Finding): Diagnostic[] {
  if (severity === 'summary') return [];
  return [
    { severity, code, object: objectLabel(object.kind, object.namespace, object.name), path, message, hint, span },
  ];
}
