/**
 * The workers as the primary handles them: feeds the supervisor with what they say and with the time, and carries out its
 * commands by the addon and by processes. Decides nothing. Serves `primary.ts`.
 */
import { assertNever } from '../base/index.js';
import type { Host, HostEvent } from '../native/addon.js';
import { MAX_WORKERS } from '../native/layout.gen.js';
import type { Log } from '../observe/log.js';
import { monotonicMs } from './clock.js';
import type { DealtSocket } from './deal.js';
import type { SupervisorCommand, SupervisorEvent, Vitals } from './supervision.js';
import { Supervisor, type WorkerView } from './supervisor.js';
import { type ChannelHost, WorkerProcesses } from './worker-processes.js';

/** How often heartbeats are looked at. */
const TICK_MS = 100;

export type CrewHost = ChannelHost &
  Pick<
    Host,
    | 'assignColumn'
    | 'sendTable'
    | 'deal'
    | 'undeal'
    | 'setReuseportWorkers'
    | 'drain'
    | 'stop'
    | 'zeroColumn'
    | 'readControl'
  >;

export interface CrewOptions {
  readonly host: CrewHost;
  readonly log: Log;
  /** A worker is about to count into this column. */
  readonly onColumn: (column: number) => void;
  /** Nobody reads this socket any more. */
  readonly onUnbind: (socketId: number) => void;
  /** The last worker has ended after `stop`. */
  readonly onStopped: () => void;
  readonly now?: () => number;
}

/** Owns the worker processes and one timer. */
export class Crew {
  readonly #options: CrewOptions;
  readonly #now: () => number;
  readonly #supervisor = new Supervisor(MAX_WORKERS);
  readonly #processes: WorkerProcesses;
  /** Look again after every step; see `until`. */
  readonly #watchers = new Set<() => void>();
  #ticking: NodeJS.Timeout | undefined;
  #programmed = 0;

  constructor(options: CrewOptions) {
    this.#options = options;
    this.#now = options.now ?? monotonicMs;
    this.#processes = new WorkerProcesses(options.host, (worker, how) => this.#step({ kind: 'exited', worker, how }));
  }

  /** The newest generation that every living worker serves; 0: none. */
  get programmed(): number {
    return this.#programmed;
  }

  /** True when every place is taken and every worker serves what was dealt to it. */
  get settled(): boolean {
    return this.#supervisor.settled;
  }

  get restarts(): number {
    return this.#supervisor.restarts;
  }

  /** Unexpected ends in a row. */
  get deaths(): number {
    return this.#supervisor.deaths;
  }

  /** True unless a serving worker gives no sign of life. */
  get isLive(): boolean {
    return this.view().every(({ phase, silent }) => phase !== 'serving' || !silent);
  }

  view(): WorkerView[] {
    return this.#supervisor.view();
  }

  pid(worker: number): number | undefined {
    return this.#processes.pid(worker);
  }

  /** Hands the table that the addon holds to everybody, and sees to it that there are so many workers. */
  publish(generation: number, workers: number): void {
    this.#step({ kind: 'published', generation });
    this.#step({ kind: 'resize', workers });
    this.#ticking ??= setInterval(() => this.#tick(), TICK_MS);
  }

  /** Deals these sockets, and has those closed that are no longer among them. */
  serve(sockets: readonly DealtSocket[]): void {
    this.#step({ kind: 'sockets', sockets });
  }

  /** Takes nothing new; connections may go on within the limit. */
  stop(limitMs: number): void {
    this.#step({ kind: 'stop', limitMs });
  }

  /** Ends all workers at once. */
  stopNow(): void {
    this.#step({ kind: 'stopNow' });
  }

  /** Ends the timer; the processes have ended before. */
  close(): void {
    clearInterval(this.#ticking);
  }

  /** Takes what a worker said. */
  hear(event: HostEvent): void {
    const { worker } = event;
    switch (event.kind) {
      case 'panic':
        this.#options.log.error({ worker, reason: event.text }, 'worker panicked');
        return;
      case 'gone':
        if (event.text !== '') this.#options.log.error({ worker, reason: event.text }, 'worker spoke nonsense');
        this.#step(event);
        return;
      case 'fenced':
        // Processes are ended through node:cluster, which tells when they have been reaped.
        return;
      default:
        this.#step(event);
    }
  }

  /** Resolves true once `holds` does; false when `fails` does first, or when the time is over. Looks after every step. */
  until(holds: () => boolean, fails: () => boolean, limitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (held: boolean): void => {
        clearTimeout(timer);
        this.#watchers.delete(look);
        resolve(held);
      };
      const look = (): void => {
        if (holds()) finish(true);
        else if (fails()) finish(false);
      };
      const timer = setTimeout(() => finish(holds()), limitMs);
      this.#watchers.add(look);
      look();
    });
  }

  #step(event: SupervisorEvent): void {
    for (const command of this.#supervisor.handle(event, this.#now())) this.#execute(command);
    for (const look of [...this.#watchers]) look();
  }

  #tick(): void {
    const vitals = new Map<number, Vitals>();
    for (const { id, column } of this.view()) {
      if (column !== undefined) vitals.set(id, this.#options.host.readControl(column));
    }
    this.#step({ kind: 'tick', vitals });
  }

  #execute(command: SupervisorCommand): void {
    const { host, log } = this.#options;
    switch (command.kind) {
      case 'fork':
        this.#processes.fork(command.worker);
        return;
      case 'kill':
        this.#processes.kill(command.worker);
        return;
      case 'assign':
        this.#options.onColumn(command.column);
        host.assignColumn(command.worker, command.column);
        return;
      case 'sendTable':
        host.sendTable(command.worker);
        return;
      case 'deal':
        host.deal(command.worker, command.socketId, command.members, command.lent);
        return;
      case 'undeal':
        host.undeal(command.worker, command.socketId, command.members, command.drain);
        return;
      case 'steer':
        host.setReuseportWorkers(command.socketId, command.groups);
        return;
      case 'unbind':
        this.#options.onUnbind(command.socketId);
        return;
      case 'drain':
        host.drain(command.worker, command.limitMs);
        return;
      case 'end':
        host.stop(command.worker);
        return;
      case 'zeroColumn':
        host.zeroColumn(command.column);
        return;
      case 'programmed':
        this.#programmed = command.generation;
        return;
      case 'note':
        log[command.level](command.fields, command.message);
        return;
      case 'stopped':
        this.#options.onStopped();
        return;
      default:
        assertNever(command);
    }
  }
}
