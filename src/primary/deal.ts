/**
 * Which worker serves which members of the listening sockets. Pure: the wanted state is computed from the workers' state,
 * compared with what was dealt before, and the difference returned as commands.
 * Serves `supervisor.ts`. Members are never opened or closed here: the primary keeps all of them (design: one group for life).
 */

/** A listener address: a SO_REUSEPORT group of `shards` members, numbered from 0. */
export interface DealtSocket {
  readonly id: number;
  readonly shards: number;
}

/** Who holds a place in the deal. `silent`: it may live, but does not accept now (stopped, stuck, or out of descriptors). */
export interface Holder {
  readonly worker: number;
  readonly silent: boolean;
}

/** One place for each wanted worker; `undefined` while nobody holds it, `lend` once its members should go to others. */
export type Place = Holder | { readonly worker: undefined; readonly lend: boolean };

export type DealCommand =
  | {
      readonly kind: 'deal';
      readonly worker: number;
      readonly socketId: number;
      readonly members: readonly number[];
      readonly lent: boolean;
    }
  | {
      readonly kind: 'undeal';
      readonly worker: number;
      readonly socketId: number;
      /** Empty: all of this socket. */
      readonly members: readonly number[];
      /** Take what is queued before letting go. */
      readonly drain: boolean;
    };

/** Fewest members of a group: enough that a later change of the worker count still deals evenly. */
const MIN_SHARDS = 16;

/** Returns the members a new group gets: the smallest multiple of the worker count that is at least 16. */
export function shardCount(workers: number): number {
  return Math.ceil(MIN_SHARDS / workers) * workers;
}

/** Returns the members of each place, in order: `placeMembers(16, 3)[0]` is 0, 3, 6, …; places beyond the members get none. */
export function placeMembers(shards: number, places: number): number[][] {
  const groups: number[][] = Array.from({ length: places }, () => []);
  for (let member = 0; member < shards; member++) groups[member % places]?.push(member);
  return groups;
}

/** True when the kernel's even choice among members is not an even choice among places. */
export function isUneven(shards: number, places: number): boolean {
  return places > 0 && shards % places !== 0;
}

type Held = Map<number, boolean>;

/** What has been dealt. Holds no more than that: every decision is made anew from the places. */
export class Deal {
  /** worker → socket → member → lent. */
  readonly #held = new Map<number, Map<number, Held>>();

  /**
   * Returns the commands that lead from what is dealt to what should be, and takes them as done. Deals come before
   * undeals, so that no member is without a reader in between. Cost: O(sockets × members).
   */
  plan(sockets: readonly DealtSocket[], places: readonly Place[]): DealCommand[] {
    const deals: DealCommand[] = [];
    const undeals: DealCommand[] = [];
    const wanted = new Set(sockets.map((socket) => socket.id));
    for (const socket of sockets) this.#planSocket(socket, places, deals, undeals);
    for (const [worker, bySocket] of this.#held) {
      for (const socketId of bySocket.keys()) {
        if (wanted.has(socketId)) continue;
        bySocket.delete(socketId);
        undeals.push({ kind: 'undeal', worker, socketId, members: [], drain: true });
      }
    }
    return [...deals, ...undeals];
  }

  /** Drops what a worker held; call it when its process has ended. */
  forget(worker: number): void {
    this.#held.delete(worker);
  }

  /** Returns how many members of a socket a worker holds. */
  heldBy(worker: number, socketId: number): number {
    return this.#held.get(worker)?.get(socketId)?.size ?? 0;
  }

  /** Calls back for each worker and socket with members dealt. */
  forEach(visit: (worker: number, socketId: number, members: number) => void): void {
    for (const [worker, bySocket] of this.#held) {
      for (const [socketId, held] of bySocket) visit(worker, socketId, held.size);
    }
  }

  #planSocket(socket: DealtSocket, places: readonly Place[], deals: DealCommand[], undeals: DealCommand[]): void {
    const wanted = new Map<number, Held>();
    const want = (worker: number, member: number, lent: boolean): void => {
      const held = wanted.get(worker) ?? new Map<number, boolean>();
      held.set(member, lent);
      wanted.set(worker, held);
    };
    const lenders = places.flatMap((place) => (place.worker !== undefined && !place.silent ? [place.worker] : []));
    for (let member = 0; member < socket.shards && places.length > 0; member++) {
      const place = places[member % places.length] as Place;
      if (place.worker !== undefined) want(place.worker, member, false);
      if (place.worker === undefined ? place.lend : place.silent) {
        const borrower = this.#borrower(socket.id, member, Math.floor(member / places.length), lenders);
        if (borrower !== undefined) want(borrower, member, true);
      }
    }
    const workers = new Set([...wanted.keys(), ...this.#held.keys()]);
    for (const worker of workers) {
      const before: Held = this.#held.get(worker)?.get(socket.id) ?? new Map<number, boolean>();
      const after: Held = wanted.get(worker) ?? new Map<number, boolean>();
      const own: number[] = [];
      const lent: number[] = [];
      for (const [member, isLent] of after) if (!before.has(member)) (isLent ? lent : own).push(member);
      const gone = [...before.keys()].filter((member) => !after.has(member));
      const socketId = socket.id;
      if (own.length > 0) deals.push({ kind: 'deal', worker, socketId, members: own, lent: false });
      if (lent.length > 0) deals.push({ kind: 'deal', worker, socketId, members: lent, lent: true });
      // The group lives on and others read these members: nothing has to be drained.
      if (gone.length > 0) undeals.push({ kind: 'undeal', worker, socketId, members: gone, drain: false });
      this.#record(worker, socketId, after);
    }
  }

  /** Returns who already borrows the member, else the next in turn: a tick must not pass members around. */
  #borrower(socketId: number, member: number, turn: number, lenders: readonly number[]): number | undefined {
    const holding = lenders.find((worker) => this.#held.get(worker)?.get(socketId)?.get(member) === true);
    return holding ?? lenders[turn % Math.max(1, lenders.length)];
  }

  #record(worker: number, socketId: number, held: Held): void {
    const bySocket = this.#held.get(worker) ?? new Map<number, Held>();
    if (held.size > 0) bySocket.set(socketId, held);
    else bySocket.delete(socketId);
    if (bySocket.size > 0) this.#held.set(worker, bySocket);
    else this.#held.delete(worker);
  }
}
