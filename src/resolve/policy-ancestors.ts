/**
 * Ancestors of a policy: the Gateways through which it has an effect, or its targets where no Gateway leads to them.
 */
import { compareStrings, type DiagnosticCode } from '../base/index.js';
import { type BackendPolicy, GATEWAY_GROUP } from '../gateway-api/index.js';
import type * as model from '../model/model.js';
import type { PolicyAncestor } from '../model/model.js';
import { objectName } from '../model/object-ref.js';
import type { TargetVerdict } from './backend-policies.js';
import { CODES } from './codes.js';
import type { GatewayDraft } from './drafts.js';
import { type Findings, isFalse, refOf } from './findings.js';

/** Most entries that `status.ancestors` may have. */
const MAX_ANCESTORS = 16;

interface Fault {
  readonly code: DiagnosticCode;
  readonly reason: string;
  readonly message: string;
}

/** Returns the policy's part of the model; adds one finding for each ancestor that does not accept it. */
export function reportPolicy(
  policy: BackendPolicy,
  verdicts: readonly TargetVerdict[],
  usersOf: (key: string) => Iterable<GatewayDraft>,
  findings: Findings,
): model.Policy {
  const ancestors = new Map<string, PolicyAncestor>();
  for (const [index, verdict] of verdicts.entries()) {
    const users = 'key' in verdict ? [...usersOf(verdict.key)] : [];
    const entries = users.length > 0 ? users.map(gatewayAncestor) : [targetAncestor(policy, index)];
    const fault = faultOf(verdict, index);
    for (const [place, ancestor] of entries.entries()) {
      ancestors.set(ancestor.key, ancestor);
      if (fault === undefined) continue;
      findings.add(policy, {
        code: fault.code,
        severity: place === 0 ? 'error' : 'summary',
        subject: { kind: 'ancestor', key: ancestor.key },
        condition: isFalse('Accepted', fault.reason),
        path: `spec.targetRefs[${index}]`,
        message: fault.message,
      });
    }
  }
  const sorted = [...ancestors.values()].sort((a, b) => compareStrings(a.key, b.key));
  return {
    ref: refOf(policy),
    generation: policy.metadata.generation,
    ancestors: sorted.slice(0, MAX_ANCESTORS),
  };
}

function faultOf(verdict: TargetVerdict, index: number): Fault | undefined {
  switch (verdict.kind) {
    case 'attached':
      return undefined;
    case 'conflicted': {
      const winner = objectName(verdict.winner.metadata);
      const message = `targetRefs[${index}] is the target of BackendPolicy ${winner} as well, which is older or comes first by name`;
      return { code: CODES.policyConflicted, reason: 'Conflicted', message };
    }
    case 'notFound':
      return {
        code: CODES.policyTargetNotFound,
        reason: 'TargetNotFound',
        message: `targetRefs[${index}] ${verdict.message}`,
      };
    case 'invalid':
      return { code: CODES.policyInvalid, reason: 'Invalid', message: `targetRefs[${index}] ${verdict.message}` };
  }
}

function gatewayAncestor({ resource, name }: GatewayDraft): PolicyAncestor {
  const { namespace, name: gateway } = resource.metadata;
  return {
    key: `Gateway ${name}`,
    ancestorRef: { group: GATEWAY_GROUP, kind: 'Gateway', namespace, name: gateway },
  };
}

function targetAncestor(policy: BackendPolicy, index: number): PolicyAncestor {
  const { group = '', kind = '', name = '', sectionName } = policy.spec.targetRefs[index] ?? {};
  const { namespace } = policy.metadata;
  return {
    key: `target ${index}`,
    ancestorRef: { group, kind, namespace, name, ...(sectionName === undefined ? {} : { sectionName }) },
  };
}
