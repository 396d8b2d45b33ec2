/**
 * ReferenceGrants: whether an object may refer to one in another namespace.
 * Both sides must match inside one grant, which lives beside the target. Source: ReferenceGrant, GEP-709.
 */
import type { ReferenceGrant } from '../gateway-api/index.js';
import { CODES } from './codes.js';
import type { Findings } from './findings.js';
import type { Inventory } from './inventory.js';

/** Who refers. */
export interface Referrer {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
}

/** What is referred to. */
export interface Referent extends Referrer {
  readonly name: string;
}

/** Any name of a kind: stands where a grant gives no name. */
const ALL = '*';

/** What the grants for one kind of reference have in common: the reference, however many grants allow it. */
interface Permission {
  readonly grants: ReferenceGrant[];
  isUsed: boolean;
}

/** Answers in O(1) per question; remembers which grants were of use. */
export class ReferenceGrants {
  readonly #byKey = new Map<string, Permission>();
  readonly #all: readonly ReferenceGrant[];

  constructor(inventory: Inventory) {
    this.#all = [...inventory.all('ReferenceGrant')];
    for (const grant of this.#all) {
      for (const from of grant.spec.from) {
        for (const { group, kind, name = ALL } of grant.spec.to) {
          const key = keyOf(from, { group, kind, namespace: grant.metadata.namespace, name });
          const permission = this.#byKey.get(key);
          if (permission === undefined) this.#byKey.set(key, { grants: [grant], isUsed: false });
          else permission.grants.push(grant);
        }
      }
    }
  }

  /** True within one namespace, or when a grant allows the reference. Whether the referent exists does not matter. */
  permits(from: Referrer, to: Referent): boolean {
    if (from.namespace === to.namespace) return true;
    const named = this.#byKey.get(keyOf(from, to));
    const unnamed = this.#byKey.get(keyOf(from, { ...to, name: ALL }));
    if (named !== undefined) named.isUsed = true;
    if (unnamed !== undefined) unnamed.isUsed = true;
    return named !== undefined || unnamed !== undefined;
  }

  /** Says which grants allowed nothing; call it once all references are judged. */
  reportUnused(findings: Findings): void {
    const used = new Set<ReferenceGrant>();
    for (const { grants, isUsed } of this.#byKey.values()) {
      if (isUsed) for (const grant of grants) used.add(grant);
    }
    for (const grant of this.#all) {
      if (used.has(grant)) continue;
      findings.add(grant, {
        code: CODES.grantUnused,
        message: 'no reference needs this grant',
        hint: 'remove it, or compare its kinds, namespaces and names with the references that are refused',
      });
    }
  }
}

function keyOf(from: Referrer, to: Referent): string {
  return `${from.group} ${from.kind} ${from.namespace} > ${to.group} ${to.kind} ${to.namespace}/${to.name}`;
}
