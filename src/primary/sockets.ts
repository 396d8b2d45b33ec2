/**
 * The listening sockets that the primary holds: opened before a generation is published, closed once nobody reads them.
 * Serves `loader.ts` and `primary.ts`. The members themselves live in the addon.
 */
import type { OverviewSocket } from '../ipc/admin-protocol.js';
import type { Host } from '../native/addon.js';
import type { BindFailure } from '../resolve/facts.js';
import type { BuiltSocket } from './build-state.js';
import { type DealtSocket, shardCount } from './deal.js';

export type SocketHost = Pick<Host, 'bind' | 'unbind'>;

interface Bound {
  readonly key: string;
  readonly shards: number;
}

/** All listening sockets by their id. */
export class Sockets {
  readonly #host: SocketHost;
  readonly #bound = new Map<number, Bound>();

  constructor(host: SocketHost) {
    this.#host = host;
  }

  /**
   * Opens those that are not open yet, each with the number of members that suits so many workers, and returns what
   * could not be opened and why. Connections queue from then on.
   */
  bind(sockets: readonly BuiltSocket[], workers: number): BindFailure[] {
    const failures: BindFailure[] = [];
    for (const { id, key, ip, port } of sockets) {
      const known = this.#bound.get(id);
      if (known?.key === key) continue;
      // An id that has changed hands: its former socket has no reader any more.
      if (known !== undefined) this.unbind(id);
      const shards = shardCount(workers);
      const outcome = this.#host.bind({ socketId: id, ip, port, shards });
      if (outcome.ok) this.#bound.set(id, { key, shards });
      else failures.push({ key, reason: outcome.code, message: outcome.message });
    }
    return failures;
  }

  unbind(id: number): void {
    if (this.#bound.delete(id)) this.#host.unbind(id);
  }

  /** Closes what was opened for a generation that does not serve. */
  keepOnly(ids: ReadonlySet<number>): void {
    for (const id of [...this.#bound.keys()]) if (!ids.has(id)) this.unbind(id);
  }

  /** Returns the open ones among those given, as the supervisor deals them. */
  dealt(sockets: readonly BuiltSocket[]): DealtSocket[] {
    return sockets.flatMap(({ id, key }) => {
      const bound = this.#bound.get(id);
      return bound?.key === key ? [{ id, shards: bound.shards }] : [];
    });
  }

  /** Returns all open ones for the overview, sorted by key. */
  overview(): OverviewSocket[] {
    const list = [...this.#bound.values()].map(({ key, shards }) => ({ key, members: shards }));
    return list.sort((a, b) => (a.key < b.key ? -1 : 1));
  }
}
