/**
 * Attachment of policies: which policy of a kind holds for a Service or Backend, and through which Gateways it has an effect.
 * As GEP-713 says: same namespace, a named port before the whole Service, the most senior policy before others.
 */
import { compareStrings } from '../base/index.js';
import {
  type BackendPolicy,
  type BackendTLSPolicy,
  MAX_ANCESTORS,
  type Service,
  WEIRGATE_GROUP,
} from '../gateway-api/index.js';
import { objectName } from '../model/object-ref.js';
import type { GatewayDraft } from './drafts.js';
import type { Inventory } from './inventory.js';
import { shortList } from './near-names.js';

export type AnyPolicy = BackendPolicy | BackendTLSPolicy;

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
  | { readonly kind: 'conflicted'; readonly key: string; readonly winner: AnyPolicy }
  | { readonly kind: 'notFound'; readonly message: string; readonly hint: string }
  | { readonly kind: 'invalid'; readonly message: string; readonly hint: string };

/** The policies of one kind with their targets. Look-ups cost O(1). */
export class PolicyTargets<P extends AnyPolicy> {
  /** Each policy with the verdict on each of its targets, in order of seniority. */
  readonly verdicts: ReadonlyMap<P, readonly TargetVerdict[]>;
  readonly #inventory: Inventory;
  readonly #winners = new Map<string, P>();
  readonly #users = new Map<string, Set<GatewayDraft>>();
  readonly #sortedUsers = new Map<string, readonly GatewayDraft[]>();
  readonly #portNames = new Map<Service, ReadonlySet<string>>();

  /** `policies` come in order of seniority: the first one at a target has it. */
  constructor(policies: Iterable<P>, inventory: Inventory) {
    this.#inventory = inventory;
    this.verdicts = new Map(
      [...policies].map((policy) => [policy, policy.spec.targetRefs.map((_, index) => this.#attach(policy, index))]),
    );
  }

  /** Returns the policy that holds for a port of a Service, or for a Backend. */
  winner(target: PolicyTarget): P | undefined {
    return this.#winners.get(targetKey(target)) ?? this.#winners.get(targetKey({ ...target, section: '' }));
  }

  /** Notes that traffic of the Gateway reaches the target. */
  use(target: PolicyTarget, gateway: GatewayDraft): void {
    if (this.#winners.size === 0) return;
    for (const key of new Set([targetKey(target), targetKey({ ...target, section: '' })])) {
      if (!this.#winners.has(key)) continue;
      const users = this.#users.get(key);
      if (users === undefined) this.#users.set(key, new Set([gateway]));
      else users.add(gateway);
    }
  }

  /**
   * Returns the Gateways whose traffic reaches the target of a verdict, by name; call it once all uses are noted. Where another policy has
   * the target, these are as many as a status can have: crowds of policies may want what crowds of Gateways use.
   */
  usersOf(verdict: TargetVerdict): readonly GatewayDraft[] {
    if (!('key' in verdict)) return [];
    const { key, kind } = verdict;
    let users = this.#sortedUsers.get(key);
    if (users === undefined) {
      users = [...(this.#users.get(key) ?? [])].sort((a, b) => compareStrings(a.name, b.name));
      this.#sortedUsers.set(key, users);
    }
    return kind === 'attached' ? users : users.slice(0, MAX_ANCESTORS);
  }

  #attach(policy: P, index: number): TargetVerdict {
    const reference = policy.spec.targetRefs[index];
    const { namespace } = policy.metadata;
    if (reference === undefined) return { kind: 'invalid', message: 'is missing', hint: '' };
    const { group, kind, name, sectionName = '' } = reference;
    const isKnown = (group === '' && kind === 'Service') || (group === WEIRGATE_GROUP && kind === 'Backend');
    if (!isKnown) {
      return {
        kind: 'invalid',
        message: `names the kind ${kind} of group "${group}"`,
        hint: `a ${policy.kind} is for Services of group "" and Backends of group "${WEIRGATE_GROUP}"`,
      };
    }
    const target: PolicyTarget = { kind: kind as PolicyTarget['kind'], namespace, name, section: sectionName };
    const missing = this.#missing(target);
    if (missing !== undefined) return missing;
    const key = targetKey(target);
    const winner = this.#winners.get(key);
    if (winner !== undefined && winner !== policy) return { kind: 'conflicted', key, winner };
    this.#winners.set(key, policy);
    return { kind: 'attached', key };
  }

  #missing({ kind, namespace, name, section }: PolicyTarget): TargetVerdict | undefined {
    const object = `${kind} ${objectName({ namespace, name })}`;
    const found = this.#inventory.find(kind, namespace, name);
    if (found === undefined) {
      const message = `names ${object}, ${this.#inventory.absence(kind, namespace, name)}`;
      return { kind: 'notFound', message, hint: this.#inventory.suggestion(kind, namespace, name) };
    }
    if (section === '') return undefined;
    if (found.kind === 'Backend') {
      const message = `names "${section}" of ${object}, which has no named parts`;
      return { kind: 'notFound', message, hint: 'leave sectionName out' };
    }
    const ports = this.#portNamesOf(found);
    if (ports.has(section)) return undefined;
    const message = `names port "${section}" of ${object}, which it does not have`;
    const hint = ports.size === 0 ? 'its ports have no names' : `its ports: ${shortList(ports)}`;
    return { kind: 'notFound', message, hint };
  }

  #portNamesOf(service: Service): ReadonlySet<string> {
    let names = this.#portNames.get(service);
    if (names === undefined) {
      names = new Set(service.spec.ports.flatMap(({ name }) => name ?? []));
      this.#portNames.set(service, names);
    }
    return names;
  }
}

function targetKey({ kind, namespace, name, section }: PolicyTarget): string {
  return `${kind}/${namespace}/${name}#${section}`;
}
