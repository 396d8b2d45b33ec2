/**
 * What one lowering hands to the next: the virtual hosts and actions of routes that are the very same objects. Never changes a result.
 */
import type { IrAction, IrVirtualHost } from '../ir/ir.js';
import type { HttpAttachment, HttpRoute, HttpRule } from '../model/model.js';

/** A rule with the route that it stands in. */
export interface PlacedRule {
  readonly route: HttpRoute;
  readonly rule: HttpRule;
}

/** The virtual hosts of one listener. */
export interface LoweredHosts {
  readonly hosts: readonly IrVirtualHost[];
  /** The rules that got an action here, in this order, the first one at `base`; no other rule is named. */
  readonly rules: readonly PlacedRule[];
  readonly base: number;
}

/** The mutable memory of one caller of `lower`; it belongs to one thread. */
export class LowerMemo {
  /** By the list of attachments, which says everything about the virtual hosts but the indexes of their actions. */
  readonly hosts = new WeakMap<readonly HttpAttachment[], LoweredHosts>();
  #actions = new WeakMap<HttpRule, IrAction>();
  #clusters: readonly string[] = [];

  /** Returns the actions of the last time by rule, if the indexes of all clusters are as they were then; else nothing. */
  actionsFor(clusters: readonly string[]): WeakMap<HttpRule, IrAction> {
    const isSame =
      clusters.length === this.#clusters.length && clusters.every((key, index) => key === this.#clusters[index]);
    if (!isSame) this.#actions = new WeakMap();
    this.#clusters = clusters;
    return this.#actions;
  }
}
