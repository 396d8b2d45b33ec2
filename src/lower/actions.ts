/**
 * Actions and clusters: each rule and each cluster once, whatever the number of listeners that lead to it.
 */
import { assertDefined, compareStrings } from '../base/index.js';
import type { IrAction, IrBackend, IrCluster } from '../ir/ir.js';
import type { Cluster, HttpRoute, HttpRule, TcpRoute, WeightedBackend } from '../model/model.js';
import { objectName } from '../model/object-ref.js';

interface Draft {
  readonly name: string;
  readonly requestTimeoutMs: number;
  readonly backendRequestTimeoutMs: number;
  readonly backends: readonly WeightedBackend[];
}

/** Hands out action indexes in order of first use; clusters get theirs at the end, sorted by key. */
export class ActionBook {
  readonly #drafts: Draft[] = [];
  readonly #indexes = new Map<HttpRule | TcpRoute, number>();

  /** Returns the index of the action of a rule of an HTTPRoute. */
  httpAction(route: HttpRoute, rule: HttpRule): number {
    const known = this.#indexes.get(rule);
    if (known !== undefined) return known;
    const { requestTimeoutMs, backendRequestTimeoutMs, backends } = rule;
    const name = `HTTPRoute/${objectName(route.ref)}/${rule.index}`;
    return this.#add(rule, { name, requestTimeoutMs, backendRequestTimeoutMs, backends });
  }

  /** Returns the index of the action of the one rule that a TCPRoute has. */
  tcpAction(route: TcpRoute): number {
    const known = this.#indexes.get(route);
    if (known !== undefined) return known;
    const name = `TCPRoute/${objectName(route.ref)}/0`;
    return this.#add(route, { name, requestTimeoutMs: 0, backendRequestTimeoutMs: 0, backends: route.backends });
  }

  /** Returns all actions handed out so far and the clusters that they use. */
  finish(): { actions: IrAction[]; clusters: IrCluster[] } {
    const byKey = new Map<string, Cluster>();
    for (const { backends } of this.#drafts) {
      for (const { cluster } of backends) if (cluster !== undefined) byKey.set(cluster.key, cluster);
    }
    const clusters = [...byKey.values()].sort((a, b) => compareStrings(a.key, b.key));
    const indexes = new Map(clusters.map((cluster, index) => [cluster.key, index]));
    const actions = this.#drafts.map((draft) => ({
      ...draft,
      backends: draft.backends.map((backend) => lowerBackend(backend, indexes)),
    }));
    return { actions, clusters };
  }

  #add(key: HttpRule | TcpRoute, draft: Draft): number {
    const index = this.#drafts.push(draft) - 1;
    this.#indexes.set(key, index);
    return index;
  }
}

function lowerBackend({ weight, cluster }: WeightedBackend, indexes: ReadonlyMap<string, number>): IrBackend {
  if (cluster === undefined) return { kind: 'invalid', weight, status: 500 };
  return { kind: 'cluster', weight, cluster: assertDefined(indexes.get(cluster.key), 'every cluster was collected') };
}
