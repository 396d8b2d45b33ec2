/**
 * ResolvedRefs of a Gateway sums up those of its listeners. It says nothing about what is served. Source: GatewayConditionResolvedRefs.
 */
import { objectName } from '../model/object-ref.js';
import { CODES } from './codes.js';
import type { GatewayDraft } from './drafts.js';
import { type Findings, isFalse } from './findings.js';

/** Says which Gateways have listeners with references that do not resolve; call it once all listeners are judged. Cost: one pass over the findings. */
export function reportUnresolvedListeners(gateways: readonly GatewayDraft[], findings: Findings): void {
  const unresolved = new Map<string, Set<string>>();
  for (const { object, subject, condition } of findings.list) {
    if (object.kind !== 'Gateway' || subject.kind !== 'listener') continue;
    if (condition?.type !== 'ResolvedRefs' || condition.status !== 'False') continue;
    const names = unresolved.get(objectName(object));
    if (names === undefined) unresolved.set(objectName(object), new Set([subject.name]));
    else names.add(subject.name);
  }
  for (const { resource, name } of gateways) {
    const names = unresolved.get(name);
    if (names === undefined) continue;
    findings.add(resource, {
      code: CODES.listenersNotValid,
      severity: 'summary',
      condition: isFalse('ResolvedRefs', 'ListenersNotResolved'),
      message: `listeners with references that do not resolve: ${[...names].map((text) => `"${text}"`).join(', ')}`,
    });
  }
}
