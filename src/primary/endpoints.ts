/**
 * The endpoint sets as they are in shared memory: writes a set's block when its endpoints or their health change.
 * Serves `primary.ts`. Routes are not touched by it: endpoint churn and routing tables are two things.
 */
import { type CompiledEndpointSet, encodeEndpointSet } from '../compile/compile.js';
import { formatAddress } from '../compile/endpoint-address.js';
import { Prober, type ProberOptions, type ProbeTarget } from '../health/prober.js';
import { type EndpointHealth, isUsable } from '../health/state.js';
import type { OverviewEndpoints } from '../ipc/admin-protocol.js';
import type { Host } from '../native/addon.js';

/** One endpoint as metrics and `status` show it. */
export interface EndpointView {
  readonly cluster: string;
  /** `127.0.0.1:9001`, `[::1]:9001`. */
  readonly address: string;
  readonly slot: number;
  /** Undefined: not checked. */
  readonly health: EndpointHealth | undefined;
}

/** What of the addon is used here. */
export type EndpointHost = Pick<Host, 'setEndpointSet' | 'dropEndpointSet'>;

/** Owns the sets and their checks. */
export class Endpoints {
  readonly #host: EndpointHost;
  readonly #prober: Prober;
  readonly #sets = new Map<number, CompiledEndpointSet>();
  /** Probe key → set. */
  readonly #setOf = new Map<string, number>();

  /** `onChange` is told of each endpoint that becomes usable or unusable, after the block is written. */
  constructor(
    host: EndpointHost,
    onChange: (endpoint: EndpointView) => void,
    probing: Omit<ProberOptions, 'onChange'> = {},
  ) {
    this.#host = host;
    this.#prober = new Prober({
      ...probing,
      onChange: (key) => {
        const set = this.#sets.get(this.#setOf.get(key) ?? -1);
        if (set === undefined) return;
        this.#write(set);
        const changed = this.#views(set).find((view) => probeKey(view.cluster, view.address) === key);
        if (changed !== undefined) onChange(changed);
      },
    });
  }

  /** Writes new and changed sets. Results of checks stay with endpoints that stay. */
  apply(changed: readonly CompiledEndpointSet[]): void {
    for (const set of changed) this.#sets.set(set.id, set);
    this.#probe();
    for (const set of changed) this.#write(set);
  }

  /** Removes sets that no table names any more. */
  drop(ids: readonly number[]): void {
    for (const id of ids) {
      if (this.#sets.delete(id)) this.#host.dropEndpointSet(id);
    }
    this.#probe();
  }

  /** Returns all endpoints in the order of their sets. */
  *views(): Generator<EndpointView> {
    for (const set of this.#sets.values()) yield* this.#views(set);
  }

  /** Returns what the overview says: at most `most` of those that get no traffic. */
  overview(most: number): OverviewEndpoints {
    let total = 0;
    const unusable = [];
    for (const { cluster, address, health } of this.views()) {
      total += 1;
      if (health === undefined || isUsable(health) || unusable.length >= most) continue;
      unusable.push({ cluster, address, detail: health.last?.detail ?? '' });
    }
    return { total, unusable };
  }

  /** Ends all checks. */
  stop(): void {
    this.#prober.stop();
  }

  #probe(): void {
    this.#setOf.clear();
    const targets: ProbeTarget[] = [];
    for (const { id, key: cluster, endpoints, healthCheck: check } of this.#sets.values()) {
      if (check === undefined) continue;
      for (const { ip, port } of endpoints) {
        const key = probeKey(cluster, formatAddress(ip, port));
        this.#setOf.set(key, id);
        targets.push({ key, ip, port, check });
      }
    }
    this.#prober.replace(targets);
  }

  #write(set: CompiledEndpointSet): void {
    const usable = set.endpoints.map(({ ip, port }) =>
      isUsable(this.#prober.health(probeKey(set.key, formatAddress(ip, port)))),
    );
    this.#host.setEndpointSet(
      set.id,
      encodeEndpointSet(set, (index) => usable[index] ?? true),
    );
  }

  #views({ key: cluster, endpoints, healthCheck }: CompiledEndpointSet): EndpointView[] {
    return endpoints.map(({ ip, port, slot }) => {
      const address = formatAddress(ip, port);
      const health = healthCheck === undefined ? undefined : this.#prober.health(probeKey(cluster, address));
      return { cluster, address, slot, health };
    });
  }
}

function probeKey(cluster: string, address: string): string {
  return `${cluster}|${address}`;
}
