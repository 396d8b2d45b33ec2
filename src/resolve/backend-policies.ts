/**
 * BackendPolicies: which one holds for a Service or Backend, and through which Gateways it has an effect.
 * Attachment as GEP-713 says: same namespace, a named port before the whole Service, the most senior policy before others.
 */
import { type BackendPolicy, durationMs, type HealthCheck, WEIRGATE_GROUP } from '../gateway-api/index.js';
import type { IrHealthCheck } from '../ir/ir.js';
import type * as model from '../model/model.js';
import { objectName } from '../model/object-ref.js';
import type { GatewayDraft } from './drafts.js';
import type { Findings } from './findings.js';
import type { Inventory } from './inventory.js';
import { reportPolicy } from './policy-ancestors.js';

/** What a policy can be attached to: an object, or one named port of a Service. */
export interface PolicyTarget {
  readonly kind: 'Service' | 'Backend';
  readonly namespace: string;
  readonly name: string;
  /** `''`: the whole object. */
  readonly section: string;
}

/** One entry of `targetRefs` with its verdict. */
export type TargetVerdict =
  | { readonly kind: 'attached'; readonly key: string }
  | { readonly kind: 'conflicted'; readonly key: string; readonly winner: BackendPolicy }
  | { readonly kind: 'notFound'; readonly message: string }
  | { readonly kind: 'invalid'; readonly message: string };

/** All policies of a snapshot. */
export class BackendPolicies {
  readonly #inventory: Inventory;
  readonly #verdicts = new Map<BackendPolicy, readonly TargetVerdict[]>();
  readonly #winners = new Map<string, BackendPolicy>();
  readonly #users = new Map<string, Set<GatewayDraft>>();

  constructor(inventory: Inventory) {
    this.#inventory = inventory;
    for (const policy of inventory.all('BackendPolicy')) {
      this.#verdicts.set(
        policy,
        policy.spec.targetRefs.map((_, index) => this.#attach(policy, index)),
      );
    }
  }

  /** Returns the check that holds for a port of a Service, or for a Backend. */
  healthCheck(target: PolicyTarget): IrHealthCheck | undefined {
    const winner = this.#winners.get(targetKey(target)) ?? this.#winners.get(targetKey({ ...target, section: '' }));
    return winner?.spec.healthCheck && lowerHealthCheck(winner.spec.healthCheck);
  }

  /** Notes that traffic of the Gateway reaches the target. */
  use(target: PolicyTarget, gateway: GatewayDraft): void {
    for (const key of new Set([targetKey(target), targetKey({ ...target, section: '' })])) {
      if (!this.#winners.has(key)) continue;
      const users = this.#users.get(key);
      if (users === undefined) this.#users.set(key, new Set([gateway]));
      else users.add(gateway);
    }
  }

  /** Returns the policies with their ancestors and says what is wrong with them; call it once all routes are attached. */
  report(findings: Findings): model.Policy[] {
    const usersOf = (key: string): Iterable<GatewayDraft> => this.#users.get(key) ?? [];
    return [...this.#verdicts].map(([policy, verdicts]) => reportPolicy(policy, verdicts, usersOf, findings));
  }

  #attach(policy: BackendPolicy, index: number): TargetVerdict {
    const reference = policy.spec.targetRefs[index];
    const { namespace } = policy.metadata;
    if (reference === undefined) return { kind: 'invalid', message: 'is missing' };
    const { group, kind, name, sectionName = '' } = reference;
    const isKnown = (group === '' && kind === 'Service') || (group === WEIRGATE_GROUP && kind === 'Backend');
    if (!isKnown) {
      return {
        kind: 'invalid',
        message: `names the kind ${kind} of group "${group}"; a BackendPolicy is for Services and Backends`,
      };
    }
    const target: PolicyTarget = { kind: kind as PolicyTarget['kind'], namespace, name, section: sectionName };
    const missing = this.#missing(target);
    if (missing !== undefined) return { kind: 'notFound', message: missing };
    const key = targetKey(target);
    const winner = this.#winners.get(key);
    if (winner !== undefined && winner !== policy) return { kind: 'conflicted', key, winner };
    this.#winners.set(key, policy);
    return { kind: 'attached', key };
  }

  #missing({ kind, namespace, name, section }: PolicyTarget): string | undefined {
    const object = `${kind} ${objectName({ namespace, name })}`;
    const absence = `names ${object}, ${this.#inventory.absence(kind, namespace, name)}`;
    if (kind === 'Backend') {
      if (this.#inventory.find('Backend', namespace, name) === undefined) return absence;
      return section === '' ? undefined : `names "${section}" of ${object}, which has no named parts`;
    }
    const service = this.#inventory.find('Service', namespace, name);
    if (service === undefined) return absence;
    if (section === '' || service.spec.ports.some((port) => port.name === section)) return undefined;
    return `names port "${section}" of ${object}, which it does not have`;
  }
}

function targetKey({ kind, namespace, name, section }: PolicyTarget): string {
  return `${kind}/${namespace}/${name}#${section}`;
}

function lowerHealthCheck({ type, interval, timeout, ...thresholds }: HealthCheck): IrHealthCheck {
  const { healthyThreshold, unhealthyThreshold, http } = thresholds;
  return {
    type: type === 'HTTP' ? 'http' : 'tcp',
    intervalMs: durationMs(interval),
    timeoutMs: durationMs(timeout),
    healthyThreshold,
    unhealthyThreshold,
    path: http?.path ?? '/',
    host: http?.host ?? '',
    expectedStatuses: http?.expectedStatuses ?? DEFAULT_STATUSES,
  };
}

/** Of a check of type HTTP without details: the schema's default for `http.expectedStatuses`. */
const DEFAULT_STATUSES = [{ from: 200, to: 399 }] as const;
