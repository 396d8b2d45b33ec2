/**
 * Collects findings while resolution goes on: no fault stops it.
 */
import type { DiagnosticCode } from '../base/index.js';
import { type Resource, spanAt } from '../gateway-api/index.js';
import type { Finding, FindingCondition, FindingSubject } from '../model/finding.js';
import type { ObjectRef } from '../model/object-ref.js';

/** A finding about a resource; what is left out is the usual. */
export interface FindingDraft {
  readonly code: DiagnosticCode;
  /** Usually `error` with a condition, `warning` without. */
  readonly severity?: Finding['severity'];
  /** Usually the object itself. */
  readonly subject?: FindingSubject;
  readonly condition?: FindingCondition;
  readonly message: string;
  readonly hint?: string;
  readonly path?: string;
}

const OBJECT: FindingSubject = { kind: 'object' };

/** The findings so far, in the order in which they were made. */
export class Findings {
  readonly list: Finding[] = [];

  /** Adds a finding about a resource; its place is that of the path, or of the nearest parent that the file has. */
  add(resource: Resource, draft: FindingDraft): void {
    const { code, subject = OBJECT, condition, message, hint = '', path = '' } = draft;
    const severity = draft.severity ?? (condition === undefined ? 'warning' : 'error');
    const span = spanAt(resource, path);
    this.list.push({ code, severity, object: refOf(resource), subject, condition, message, hint, path, span });
  }
}

/** Returns the reference that names a resource. */
export function refOf({ apiVersion, kind, metadata }: Resource): ObjectRef {
  return { apiVersion, kind, namespace: metadata.namespace, name: metadata.name };
}

/** Returns the condition that says what is not the case, and why. */
export function isFalse(type: string, reason: string): FindingCondition {
  return { type, status: 'False', reason };
}

/** Returns the condition that says what is the case, and why. */
export function isTrue(type: string, reason: string): FindingCondition {
  return { type, status: 'True', reason };
}
