/**
 * What the verdicts about listeners mean for the Gateway or ListenerSet in which they stand, and what those about it mean for them.
 */
import { CODES } from './codes.js';
import { endsTls, type GatewayDraft, isValid, type ListenerDraft, type ListenerSetDraft } from './drafts.js';
import { type FindingDraft, type Findings, isFalse } from './findings.js';

/** Sums up a Gateway whose listeners are judged; decides whether it serves. */
export function summariseGateway(gateway: GatewayDraft, findings: Findings): void {
  const { resource, listeners } = gateway;
  gateway.serves = gateway.accepted && listeners.some(isValid);
  const add = (summary: FindingDraft): void => findings.add(resource, { severity: 'summary', ...summary });
  if (!listeners.every(isValid)) {
    add({
      code: CODES.listenersNotValid,
      condition: { type: 'Accepted', status: gateway.serves ? 'True' : 'False', reason: 'ListenersNotValid' },
      message: notValidMessage(listeners),
    });
  }
  if (!gateway.serves) {
    gateway.programmed = false;
    add({
      code: CODES.gatewayNotProgrammed,
      condition: isFalse('Programmed', 'Invalid'),
      message: gateway.accepted ? 'no listener is valid' : 'the Gateway is not accepted',
    });
  }
  for (const listener of listeners) {
    if (listener.sockets.length > 0) continue;
    add({
      code: CODES.gatewayNotProgrammed,
      subject: { kind: 'listener', name: listener.spec.name },
      condition: isFalse('Programmed', 'Invalid'),
      message: whyIdle(listener),
    });
  }
}

/** Sums up a ListenerSet that its Gateway allows; decides whether it is attached. */
export function summariseSet(set: ListenerSetDraft, findings: Findings): void {
  const { resource, gateway, listeners } = set;
  const add = (summary: FindingDraft): void => findings.add(resource, { severity: 'summary', ...summary });
  if (!gateway.serves) {
    set.accepted = false;
    refuseForParent(set, findings);
  } else if (!listeners.every(isValid)) {
    set.accepted = listeners.some(isValid);
    add({
      code: CODES.listenersNotValid,
      condition: { type: 'Accepted', status: set.accepted ? 'True' : 'False', reason: 'ListenersNotValid' },
      message: notValidMessage(listeners),
    });
    if (!set.accepted) {
      const reason = listeners.every(({ portUnavailable }) => portUnavailable)
        ? 'PortUnavailable'
        : 'ListenersNotValid';
      add({
        code: CODES.gatewayNotProgrammed,
        condition: isFalse('Programmed', reason),
        message: 'no listener is valid',
      });
    }
  }
  if (set.accepted && !gateway.programmed) {
    add({
      code: CODES.setParentRefused,
      condition: isFalse('Programmed', 'ParentNotProgrammed'),
      message: `Gateway ${gateway.name} is not programmed`,
    });
  }
  for (const listener of listeners) {
    if (listener.sockets.length > 0) continue;
    // Entries have words of their own for what keeps them from being programmed. Source: ListenerEntryConditionProgrammed.
    const reason = listener.conflict ?? (listener.portUnavailable ? 'PortUnavailable' : 'Invalid');
    add({
      code: CODES.gatewayNotProgrammed,
      subject: { kind: 'listener', name: listener.spec.name },
      condition: isFalse('Programmed', reason),
      message: whyIdle(listener),
    });
  }
}

function refuseForParent({ resource, gateway }: ListenerSetDraft, findings: Findings): void {
  const reasons = { Accepted: 'ParentNotAccepted', Programmed: 'ParentNotProgrammed' } as const;
  for (const type of ['Accepted', 'Programmed'] as const) {
    findings.add(resource, {
      code: CODES.setParentRefused,
      severity: type === 'Accepted' ? 'error' : 'summary',
      path: 'spec.parentRef',
      condition: gateway.isPending ? { type, status: 'Unknown', reason: 'Pending' } : isFalse(type, reasons[type]),
      message: `Gateway ${gateway.name} is not accepted`,
      hint: 'its own finding says why',
    });
  }
}

function whyIdle(listener: ListenerDraft): string {
  const { gateway, accepted, termination } = listener;
  if (!accepted) return 'the listener is not accepted';
  if (!gateway.accepted) return 'the Gateway is not accepted';
  if (endsTls(listener) && termination === undefined) return 'TLS cannot be ended without a certificate';
  return gateway.serves ? 'the Gateway has no usable address' : 'the Gateway serves nothing';
}

function notValidMessage(listeners: readonly ListenerDraft[]): string {
  const groups: readonly (readonly [string, (listener: ListenerDraft) => boolean])[] = [
    ['conflicted', ({ conflict }) => conflict !== undefined],
    ['invalid', ({ accepted, conflict }) => !accepted && conflict === undefined],
    ['unresolved', (listener) => listener.accepted && !isValid(listener)],
    ['accepted', isValid],
  ];
  return groups
    .map(([word, belongs]) => [word, listeners.filter(belongs).map(({ spec }) => spec.name)] as const)
    .filter(([word, names]) => names.length > 0 || word === 'accepted')
    .map(([word, names]) => `${word} listeners: ${names.length === 0 ? 'none' : names.join(', ')}`)
    .join('; ');
}
