/**
 * Ancestors of a policy: the Gateways through which it has an effect, or its targets where no Gateway leads to them.
 * Source: PolicyStatus, PolicyAncestorStatus, GEP-713.
 */
import { compareStrings, type DiagnosticCode } from '../base/index.js';
import { GATEWAY_GROUP, objectLabel, roomForAncestors } from '../gateway-api/index.js';
import type { FindingCondition } from '../model/finding.js';
import type * as model from '../model/model.js';
import type { PolicyAncestor } from '../model/model.js';
import { objectName } from '../model/object-ref.js';
import { CODES } from './codes.js';
import type { GatewayDraft } from './drafts.js';
import { type FindingDraft, type Findings, isFalse, refOf } from './findings.js';
import type { AnyPolicy, PolicyTargets, TargetVerdict } from './policy-targets.js';

/** What is wrong with a policy, whatever its targets. */
export interface PolicyFault {
  readonly code: DiagnosticCode;
  /** `summary` when other findings have told it. */
  readonly severity: 'error' | 'summary';
  readonly condition: FindingCondition;
  readonly path: string;
  readonly message: string;
  readonly hint: string;
}

interface Ancestor extends PolicyAncestor {
  readonly gateway: GatewayDraft | undefined;
  /** False: other policies hold for all of the targets that lead here. */
  holds: boolean;
  /** What is wrong with the targets that lead here. */
  readonly faults: FindingDraft[];
}

/** Returns the policies of a kind as parts of the model; adds what each ancestor has to say about them. */
export function reportPolicies<P extends AnyPolicy>(
  targets: PolicyTargets<P>,
  faultsOf: (policy: P) => readonly PolicyFault[],
  findings: Findings,
): model.Policy[] {
  return [...targets.verdicts].map(([policy, verdicts]) => {
    const ancestors = ancestorsOf(policy, verdicts, targets);
    const room = roomForAncestors(policy.status);
    const shown = ancestors.slice(0, room);
    for (const { gateway, holds } of ancestors.slice(room)) {
      if (gateway !== undefined && holds) reportNoRoom(policy, gateway, findings);
    }
    report(policy, shown, faultsOf(policy), findings);
    return {
      ref: refOf(policy),
      generation: policy.metadata.generation,
      ancestors: shown.map(({ key, ancestorRef }) => ({ key, ancestorRef })),
    };
  });
}

/** Sorted by key, each once, so that the same ancestors find room in every generation. */
function ancestorsOf<P extends AnyPolicy>(
  policy: P,
  verdicts: readonly TargetVerdict[],
  targets: PolicyTargets<P>,
): Ancestor[] {
  const ancestors = new Map<string, Ancestor>();
  for (const [index, verdict] of verdicts.entries()) {
    const users = targets.usersOf(verdict);
    const fault = faultOf(policy, verdict, index);
    for (const ancestor of users.length > 0 ? users.map(gatewayAncestor) : [targetAncestor(policy, index)]) {
      const known = ancestors.get(ancestor.key) ?? ancestor;
      ancestors.set(known.key, known);
      if (verdict.kind === 'attached') known.holds = true;
      if (fault !== undefined) known.faults.push(fault);
    }
  }
  return [...ancestors.values()].sort((a, b) => compareStrings(a.key, b.key));
}

/** Each fault is an error once; the other ancestors repeat it in their conditions. */
function report(
  policy: AnyPolicy,
  ancestors: readonly Ancestor[],
  ofPolicy: readonly PolicyFault[],
  findings: Findings,
): void {
  const told = new Set<FindingDraft>();
  for (const { key, faults } of ancestors) {
    for (const fault of [...faults, ...ofPolicy]) {
      const severity = told.has(fault) ? 'summary' : (fault.severity ?? 'error');
      told.add(fault);
      findings.add(policy, { ...fault, severity, subject: { kind: 'ancestor', key } });
    }
  }
}

/**
 * A full list takes no further entry, and the ancestor has to say so. The policy holds for its traffic all the same: to leave it out
 * would be clear text, or errors that nobody asked for.
 */
function reportNoRoom(policy: AnyPolicy, { resource }: GatewayDraft, findings: Findings): void {
  const { kind, metadata } = policy;
  findings.add(resource, {
    code: CODES.policyAncestorsFull,
    message: `${objectLabel(kind, metadata.namespace, metadata.name)} holds for backends of this Gateway, and its status has no room to say so`,
    hint: 'a policy names at most 16 ancestors: write one for fewer Services',
  });
}

function faultOf(policy: AnyPolicy, verdict: TargetVerdict, index: number): FindingDraft | undefined {
  const path = `spec.targetRefs[${index}]`;
  const refusal = (code: DiagnosticCode, reason: string, message: string, hint: string): FindingDraft => ({
    code,
    condition: isFalse('Accepted', reason),
    path,
    message: `targetRefs[${index}] ${message}`,
    hint,
  });
  switch (verdict.kind) {
    case 'attached':
      return undefined;
    case 'conflicted': {
      const winner = `${policy.kind} ${objectName(verdict.winner.metadata)}`;
      const message = `is the target of ${winner} as well, which is older or comes first by name`;
      return refusal(
        CODES.policyConflicted,
        'Conflicted',
        message,
        'name a port of the Service in sectionName, or remove one',
      );
    }
    case 'notFound':
      return refusal(CODES.policyTargetNotFound, 'TargetNotFound', verdict.message, verdict.hint);
    case 'invalid':
      return refusal(CODES.policyInvalid, 'Invalid', verdict.message, verdict.hint);
  }
}

function gatewayAncestor(gateway: GatewayDraft): Ancestor {
  const { namespace, name } = gateway.resource.metadata;
  const ancestorRef = { group: GATEWAY_GROUP, kind: 'Gateway', namespace, name };
  return { key: `Gateway ${gateway.name}`, ancestorRef, gateway, holds: false, faults: [] };
}

function targetAncestor(policy: AnyPolicy, index: number): Ancestor {
  const { group = '', kind = '', name = '', sectionName } = policy.spec.targetRefs[index] ?? {};
  const { namespace } = policy.metadata;
  const ancestorRef = { group, kind, namespace, name, ...(sectionName === undefined ? {} : { sectionName }) };
  return { key: `target ${index}`, ancestorRef, gateway: undefined, holds: false, faults: [] };
}
