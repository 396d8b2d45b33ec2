/**
 * The restart policy: how many workers there are, who takes over a dead one's members, and when a silent one is ended.
 * Pure: events and the time in, commands out; no process, no socket, no timer. Serves `primary.ts`, which executes.
 *
 *            ready                place free            resized away, or stopping
 *  starting ──────▶ spare ──────────────────▶ serving ───────────────────────────▶ leaving
 *      │              │                          │ 5 s silent, or 5 s without an ack    │
 *      │              │                          ▼                                       │
 *      │              │                        fenced (SIGKILL sent)                     │
 *      └──────────────┴──────────────────────────┴──── the process has ended ────────────┴─▶ gone
 *
 * Fence first, then recover: columns and members of a worker are touched only after its process has ended.
 */
import { Deal, type DealtSocket, isUneven, type Place, placeMembers } from './deal.js';
import { LIMITS, type SupervisorCommand, type SupervisorEvent, type Vitals } from './supervision.js';

type Phase = 'starting' | 'spare' | 'serving' | 'leaving' | 'fenced';

interface Worker {
  readonly id: number;
  phase: Phase;
  /** When the phase began. */
  since: number;
  column: number | undefined;
  acked: number;
  /** The table it has not acknowledged yet, and since when. */
  awaited: { readonly generation: number; since: number } | undefined;
  silentSince: number | undefined;
  pausedSince: number | undefined;
  goneSince: number | undefined;
  /** When it began to serve; before that, when it was started. */
  aliveSince: number;
  drainLimitMs: number;
  drainSent: boolean;
}

interface Seat {
  worker: number | undefined;
  /** When its last worker ended; long ago if others read its members by then. Stays while the next one has no table yet. */
  emptySince: number;
}

/** A worker as `status` and the metrics show it. */
export interface WorkerView {
  readonly id: number;
  readonly phase: Phase;
  readonly place: number | undefined;
  readonly column: number | undefined;
  readonly acked: number;
  readonly silent: boolean;
}

/** See the diagram above. All methods are total; unknown workers and late messages are ignored. */
export class Supervisor {
  readonly #workers = new Map<number, Worker>();
  readonly #deal = new Deal();
  readonly #columns: number;
  #seats: Seat[] = [];
  #sockets: readonly DealtSocket[] = [];
  readonly #steered = new Map<number, number>();
  /** Sockets to close once nobody reads them: id → deadline. */
  readonly #closing = new Map<number, number>();
  /** worker → socket → members it said it serves. */
  readonly #confirmed = new Map<number, Map<number, number>>();
  #generation = 0;
  #programmed = 0;
  #nextId = 1;
  #deaths = 0;
  #forkNotBefore = Number.NEGATIVE_INFINITY;
  #lastTick: number | undefined;
  #judgeFrom = Number.NEGATIVE_INFINITY;
  #restarts = 0;
  #stopping = false;
  #out: SupervisorCommand[] = [];

  /** `columns`: how many workers the shared memory has room for. */
  constructor(columns: number) {
    this.#columns = columns;
  }

  /** Workers replaced after an unexpected end. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Unexpected ends in a row, each after less than `stableMs` of service. */
  get deaths(): number {
    return this.#deaths;
  }

  /** True when every place is taken and every worker has confirmed all members that were dealt to it. */
  get settled(): boolean {
    if (this.#closing.size > 0) return false;
    let settled = this.#seats.every(({ worker: id }) => {
      const worker = id === undefined ? undefined : this.#workers.get(id);
      return worker !== undefined && worker.acked >= this.#programmed;
    });
    this.#deal.forEach((worker, socketId, members) => {
      if ((this.#confirmed.get(worker)?.get(socketId) ?? 0) !== members) settled = false;
    });
    return settled;
  }

  /** The workers in the order of their start. */
  view(): WorkerView[] {
    return [...this.#workers.values()].map(({ id, phase, column, acked, silentSince }) => {
      const place = this.#seats.findIndex((seat) => seat.worker === id);
      return { id, phase, column, acked, place: place < 0 ? undefined : place, silent: silentSince !== undefined };
    });
  }

  /** Takes one event at `now` (milliseconds, monotonic) and returns what is to be done, in order. */
  handle(event: SupervisorEvent, now: number): SupervisorCommand[] {
    this.#out = [];
    switch (event.kind) {
      case 'resize':
        this.#resize(event.workers, now);
        break;
      case 'published':
        this.#generation = event.generation;
        for (const worker of this.#workers.values()) if (worker.phase === 'serving') this.#sendTable(worker, now);
        break;
      case 'sockets':
        this.#replaceSockets(event.sockets, now);
        break;
      case 'stop':
        this.#stop(event.limitMs, now);
        break;
      case 'stopNow':
        this.#stopNow(now);
        break;
      case 'tick':
        this.#tick(event.vitals, now);
        break;
      default:
        this.#workerEvent(event, now);
    }
    this.#advance(now);
    return this.#out;
  }

  #workerEvent(event: Extract<SupervisorEvent, { readonly worker: number }>, now: number): void {
    const worker = this.#workers.get(event.worker);
    if (worker === undefined) return;
    switch (event.kind) {
      case 'ready':
        if (worker.phase === 'starting') this.#enter(worker, 'spare', now);
        break;
      case 'ack':
        worker.acked = Math.max(worker.acked, event.generation);
        if (worker.awaited !== undefined && worker.acked >= worker.awaited.generation) worker.awaited = undefined;
        break;
      case 'refused':
        this.#fence(worker, `it refused the table: ${event.text}`, now);
        break;
      case 'listening': {
        const bySocket = this.#confirmed.get(worker.id) ?? new Map<number, number>();
        bySocket.set(event.socketId, event.members);
        this.#confirmed.set(worker.id, bySocket);
        break;
      }
      case 'drained':
        if (worker.phase === 'leaving') this.#out.push({ kind: 'end', worker: worker.id });
        break;
      case 'gone':
        worker.goneSince ??= now;
        break;
      case 'exited':
        this.#bury(worker, event.how, now);
        break;
    }
  }

  #resize(count: number, now: number): void {
    if (this.#stopping) return;
    while (this.#seats.length < count) this.#seats.push({ worker: undefined, emptySince: now });
    for (const seat of this.#seats.splice(count)) {
      const worker = seat.worker === undefined ? undefined : this.#workers.get(seat.worker);
      if (worker?.phase === 'serving') this.#dismiss(worker, DISMISS_LIMIT_MS, now);
    }
  }

  /** Lets a worker finish what it has; its members go to others by the next plan. */
  #dismiss(worker: Worker, limitMs: number, now: number): void {
    this.#enter(worker, 'leaving', now);
    worker.drainLimitMs = limitMs;
    worker.awaited = undefined;
  }

  #replaceSockets(sockets: readonly DealtSocket[], now: number): void {
    const kept = new Set(sockets.map((socket) => socket.id));
    for (const { id } of this.#sockets) {
      if (kept.has(id)) continue;
      this.#closing.set(id, now + LIMITS.unbindMs);
    }
    // One that comes back before it was closed stays open.
    for (const id of kept) this.#closing.delete(id);
    this.#sockets = sockets;
  }

  #tick(vitals: ReadonlyMap<number, Vitals>, now: number): void {
    const gap = now - (this.#lastTick ?? now);
    this.#lastTick = now;
    if (gap > LIMITS.sleptMs) {
      // Acks that came meanwhile may not have been read, heartbeats not been written yet: everybody gets the time back.
      this.#judgeFrom = now + LIMITS.graceMs;
      for (const worker of this.#workers.values()) {
        if (worker.awaited !== undefined) worker.awaited.since += gap;
        if (worker.phase === 'starting') worker.since += gap;
      }
    }
    if (now < this.#judgeFrom) return;
    for (const worker of this.#workers.values()) this.#judge(worker, vitals.get(worker.id), now);
  }

  #judge(worker: Worker, vitals: Vitals | undefined, now: number): void {
    if (worker.phase === 'starting' && now - worker.since >= LIMITS.startMs) {
      this.#fence(worker, `it did not report within ${LIMITS.startMs / 1000} s`, now);
    }
    if (worker.phase === 'leaving' && now - worker.since >= worker.drainLimitMs + LIMITS.fenceAfterMs) {
      this.#fence(worker, 'it did not end after its drain limit', now);
    }
    if (worker.goneSince !== undefined && now - worker.goneSince >= LIMITS.goneMs) {
      this.#fence(worker, 'its channel is closed and it did not end', now);
    }
    if (worker.phase !== 'serving' || vitals === undefined) return;
    const heardAt = Math.max(vitals.heartbeatMs, worker.since);
    const silentMs = now - heardAt;
    if (silentMs >= LIMITS.fenceAfterMs) {
      this.#fence(worker, `no heartbeat for ${(silentMs / 1000).toFixed(1)} s`, now);
    } else if (worker.awaited !== undefined && now - worker.awaited.since >= LIMITS.fenceAfterMs) {
      this.#fence(
        worker,
        `table ${worker.awaited.generation} not acknowledged for ${LIMITS.fenceAfterMs / 1000} s`,
        now,
      );
    } else if (silentMs < LIMITS.lendAfterMs) {
      if (worker.silentSince !== undefined) this.#note('info', 'worker is back', { worker: worker.id });
      worker.silentSince = undefined;
    } else if (worker.silentSince === undefined) {
      worker.silentSince = heardAt;
      this.#note('warn', 'worker is silent, its listening sockets are lent', { worker: worker.id, silentMs });
    }
    if (!vitals.paused) worker.pausedSince = undefined;
    else worker.pausedSince ??= now;
  }

  #fence(worker: Worker, reason: string, now: number): void {
    if (worker.phase === 'fenced') return;
    this.#enter(worker, 'fenced', now);
    worker.awaited = undefined;
    this.#note('error', 'worker is killed', { worker: worker.id, reason });
    this.#out.push({ kind: 'kill', worker: worker.id });
  }

  #bury(worker: Worker, how: string, now: number): void {
    const expected = worker.phase === 'leaving';
    this.#workers.delete(worker.id);
    this.#deal.forget(worker.id);
    this.#confirmed.delete(worker.id);
    for (const seat of this.#seats) {
      if (seat.worker === worker.id) {
        seat.worker = undefined;
        // What others read already they keep: the wait before lending is for the spare, not for each stage of an end.
        seat.emptySince = this.#isSilent(worker, now) ? Number.NEGATIVE_INFINITY : now;
      }
    }
    if (worker.column !== undefined) this.#out.push({ kind: 'zeroColumn', column: worker.column });
    if (expected || this.#stopping) return;
    this.#restarts += 1;
    this.#deaths = now - worker.aliveSince >= LIMITS.stableMs ? 1 : this.#deaths + 1;
    const delayMs = backoffMs(this.#deaths);
    this.#forkNotBefore = now + delayMs;
    this.#note('error', 'worker ended', { worker: worker.id, phase: worker.phase, how, nextStartMs: delayMs });
  }

  #stop(limitMs: number, now: number): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#replaceSockets([], now);
    this.#seats = [];
    for (const worker of this.#workers.values()) {
      if (worker.phase === 'serving') this.#dismiss(worker, limitMs, now);
    }
  }

  #stopNow(now: number): void {
    this.#stopping = true;
    this.#seats = [];
    this.#sockets = [];
    for (const worker of this.#workers.values()) {
      if (worker.phase === 'fenced') continue;
      this.#enter(worker, 'fenced', now);
      this.#out.push({ kind: 'kill', worker: worker.id });
    }
  }

  /** What follows from the state as it is now, whatever event led to it. */
  #advance(now: number): void {
    this.#fillSeats(now);
    this.#forkMissing(now);
    this.#endSurplus(now);
    this.#dealMembers(now);
    this.#dismissLeaving(now);
    this.#closeSockets(now);
    this.#reportProgrammed();
    if (this.#stopping && this.#workers.size === 0) this.#out.push({ kind: 'stopped' });
  }

  #fillSeats(now: number): void {
    if (this.#generation === 0) return;
    for (const seat of this.#seats) {
      if (seat.worker !== undefined) continue;
      const spare = this.#find('spare');
      const column = this.#freeColumn();
      if (spare === undefined || column === undefined) return;
      seat.worker = spare.id;
      this.#enter(spare, 'serving', now);
      spare.aliveSince = now;
      spare.column = column;
      this.#out.push({ kind: 'assign', worker: spare.id, column });
      this.#sendTable(spare, now);
    }
  }

  #forkMissing(now: number): void {
    if (this.#stopping || this.#seats.length === 0 || now < this.#forkNotBefore) return;
    const idle = this.#count('starting') + this.#count('spare');
    const empty = this.#seats.filter((seat) => seat.worker === undefined).length;
    // The spare waits until all places are taken: it must not slow down those that are needed now.
    const spares = empty === 0 ? 1 : 0;
    for (let missing = empty + spares - idle; missing > 0; missing--) {
      const id = this.#nextId++;
      this.#workers.set(id, {
        id,
        phase: 'starting',
        since: now,
        column: undefined,
        acked: 0,
        awaited: undefined,
        silentSince: undefined,
        pausedSince: undefined,
        goneSince: undefined,
        aliveSince: now,
        drainLimitMs: 0,
        drainSent: false,
      });
      this.#out.push({ kind: 'fork', worker: id });
    }
  }

  /** Ends spares that nobody needs any more, as after fewer workers are wanted while some still start: newest first. */
  #endSurplus(now: number): void {
    if (this.#stopping) return;
    const idle = [...this.#workers.values()].filter(({ phase }) => phase === 'starting' || phase === 'spare');
    const empty = this.#seats.filter((seat) => seat.worker === undefined).length;
    // A worker that starts may need its time before it hears of it.
    for (const worker of idle.slice(empty + 1)) {
      this.#dismiss(worker, LIMITS.startMs, now);
      worker.drainSent = true;
      this.#out.push({ kind: 'end', worker: worker.id });
    }
  }

  #dealMembers(now: number): void {
    const places = this.#seats.map((seat): Place => {
      const worker = seat.worker === undefined ? undefined : this.#workers.get(seat.worker);
      // A table arrives, and is acknowledged, before the sockets that it describes: until then the place is an empty one.
      if (worker === undefined || (worker.phase !== 'fenced' && !this.#hasTable(worker))) {
        return { worker: undefined, lend: now - seat.emptySince >= LIMITS.orphanedMs };
      }
      return { worker: worker.id, silent: this.#isSilent(worker, now) };
    });
    for (const command of this.#deal.plan(this.#sockets, places)) {
      const worker = this.#workers.get(command.worker);
      if (worker?.phase !== 'fenced') this.#out.push(command);
    }
    for (const socket of this.#sockets) this.#steer(socket);
  }

  /** True when others should read its members as well. */
  #isSilent({ phase, silentSince, pausedSince }: Worker, now: number): boolean {
    const paused = pausedSince !== undefined && now - pausedSince >= LIMITS.pausedMs;
    return phase === 'fenced' || silentSince !== undefined || paused;
  }

  #hasTable(worker: Worker): boolean {
    return this.#programmed > 0 && worker.acked >= this.#programmed;
  }

  #steer(socket: DealtSocket): void {
    const places = this.#seats.length;
    const before = this.#steered.get(socket.id);
    if (before === places || places === 0) return;
    this.#steered.set(socket.id, places);
    // A group that was never steered and divides evenly is left to the kernel's hash.
    if (before === undefined && !isUneven(socket.shards, places)) return;
    const groups = placeMembers(socket.shards, places).filter((group) => group.length > 0);
    this.#out.push({ kind: 'steer', socketId: socket.id, groups });
  }

  /** Comes after the plan: a leaving worker drains once it has let go of its sockets. Who serves nothing just ends. */
  #dismissLeaving(now: number): void {
    for (const worker of this.#workers.values()) {
      if (worker.phase === 'leaving' && !worker.drainSent) {
        worker.drainSent = true;
        this.#out.push({ kind: 'drain', worker: worker.id, limitMs: worker.drainLimitMs });
      } else if (this.#stopping && (worker.phase === 'spare' || worker.phase === 'starting')) {
        this.#enter(worker, 'fenced', now);
        this.#out.push({ kind: 'kill', worker: worker.id });
      }
    }
  }

  #closeSockets(now: number): void {
    for (const [socketId, deadline] of this.#closing) {
      const read = [...this.#confirmed.values()].some((bySocket) => (bySocket.get(socketId) ?? 0) > 0);
      if (read && now < deadline) continue;
      this.#closing.delete(socketId);
      this.#steered.delete(socketId);
      for (const bySocket of this.#confirmed.values()) bySocket.delete(socketId);
      this.#out.push({ kind: 'unbind', socketId });
    }
  }

  #reportProgrammed(): void {
    if (this.#programmed >= this.#generation) return;
    const serving = [...this.#workers.values()].filter((worker) => worker.phase === 'serving');
    if (serving.length === 0 || serving.some((worker) => worker.acked < this.#generation)) return;
    this.#programmed = this.#generation;
    this.#out.push({ kind: 'programmed', generation: this.#generation });
  }

  #sendTable(worker: Worker, now: number): void {
    worker.awaited = { generation: this.#generation, since: now };
    this.#out.push({ kind: 'sendTable', worker: worker.id });
  }

  #enter(worker: Worker, phase: Phase, now: number): void {
    worker.phase = phase;
    worker.since = now;
  }

  #find(phase: Phase): Worker | undefined {
    return [...this.#workers.values()].find((worker) => worker.phase === phase);
  }

  #count(phase: Phase): number {
    return [...this.#workers.values()].filter((worker) => worker.phase === phase).length;
  }

  /** Lowest free one: a replacement gets its predecessor's, and the columns in use stay few. */
  #freeColumn(): number | undefined {
    const used = new Set([...this.#workers.values()].map((worker) => worker.column));
    for (let column = 0; column < this.#columns; column++) if (!used.has(column)) return column;
    return undefined;
  }

  #note(level: 'info' | 'warn' | 'error', message: string, fields: Readonly<Record<string, string | number>>): void {
    this.#out.push({ kind: 'note', level, message, fields });
  }
}

/** A worker that is no longer wanted may finish its connections for so long. */
const DISMISS_LIMIT_MS = 60_000;

/** Returns the wait before the next start after so many deaths in a row: none at first, then doubling up to 30 s. */
export function backoffMs(deaths: number): number {
  if (deaths <= 1) return 0;
  return Math.min(LIMITS.backoffMaxMs, LIMITS.backoffFirstMs * 2 ** Math.min(20, deaths - 2));
}
