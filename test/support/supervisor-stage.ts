/**
 * Workers on a stage, for tests of the supervisor: they report, acknowledge, serve, drain and end as real ones do; time is
 * a number. Serves `unit/primary`.
 */
import { expect } from 'vitest';
import type { SupervisorCommand, SupervisorEvent, Vitals } from '../../src/primary/supervision.js';
import { Supervisor } from '../../src/primary/supervisor.js';

/** Workers that the supervisor has room for. */
export const COLUMNS = 64;

/** Workers as they should behave: they report, acknowledge, serve, drain, end; unless they are stopped or broken. */
export class Stage {
  readonly supervisor = new Supervisor(COLUMNS);
  readonly log: SupervisorCommand[] = [];
  readonly living = new Set<number>();
  readonly stopped = new Set<number>();
  readonly deaf = new Set<number>();
  /** True: processes that are started do not get to run, as on a machine under pressure. */
  slow = false;
  readonly members = new Map<string, number>();
  /** worker/socket → the members it reads. */
  readonly #reading = new Map<string, Set<number>>();
  readonly columns = new Map<number, number>();
  now = 1_000_000;
  generation = 0;
  /** What workers will say on the next turn. */
  #answers: SupervisorEvent[] = [];
  #heartbeats = new Map<number, number>();
  /** Ends of processes that were killed or told to end. */
  #ends: number[] = [];

  start(workers: number, sockets = 1): void {
    this.publish();
    this.give({ kind: 'resize', workers });
    this.settle();
    this.listen(sockets);
    this.settle();
  }

  publish(): void {
    this.generation += 1;
    this.give({ kind: 'published', generation: this.generation });
  }

  listen(sockets: number): void {
    this.give({ kind: 'sockets', sockets: Array.from({ length: sockets }, (_, id) => ({ id, shards: 16 })) });
  }

  /** Lets everybody answer until nobody has anything to say; what stopped workers have to say waits. */
  settle(): void {
    const isHeard = (answer: SupervisorEvent): boolean => !this.stopped.has((answer as { worker: number }).worker);
    while (this.#answers.some(isHeard) || this.#ends.length > 0) {
      for (const worker of this.#ends.splice(0)) this.die(worker, 'signal SIGKILL');
      const answers = this.#answers.filter(isHeard);
      this.#answers = this.#answers.filter((answer) => !isHeard(answer));
      for (const answer of answers) {
        const { worker } = answer as { worker: number };
        if (answer.kind === 'exited') this.die(worker, answer.how);
        else if (this.living.has(worker)) this.give(answer);
      }
    }
  }

  /** Time passes in ticks of 100 ms; workers that are not stopped write heartbeats and answer. */
  pass(ms: number): void {
    for (let left = ms; left > 0; left -= 100) {
      this.now += 100;
      const vitals = new Map<number, Vitals>();
      for (const worker of this.living) {
        if (!this.stopped.has(worker)) this.#heartbeats.set(worker, this.now);
        vitals.set(worker, { heartbeatMs: this.#heartbeats.get(worker) ?? 0, paused: false });
      }
      this.give({ kind: 'tick', vitals });
      this.settle();
    }
  }

  /** The process ends by itself, or by someone's hand. */
  die(worker: number, how = 'status 70'): void {
    if (!this.living.delete(worker)) return;
    this.stopped.delete(worker);
    for (const key of [...this.members.keys()]) if (key.startsWith(`${worker}/`)) this.members.delete(key);
    for (const key of [...this.#reading.keys()]) if (key.startsWith(`${worker}/`)) this.#reading.delete(key);
    this.give({ kind: 'exited', worker, how });
  }

  give(event: SupervisorEvent): SupervisorCommand[] {
    const commands = this.supervisor.handle(event, this.now);
    for (const command of commands) this.#obey(command);
    return commands;
  }

  serving(): number[] {
    return this.supervisor.view().flatMap(({ id, phase }) => (phase === 'serving' ? [id] : []));
  }

  spare(): number | undefined {
    return this.supervisor.view().find(({ phase }) => phase === 'spare')?.id;
  }

  kinds(): string[] {
    return this.log.splice(0).map((command) => command.kind);
  }

  total(socketId: number): number {
    return [...this.members].reduce((sum, [key, count]) => sum + (key.endsWith(`/${socketId}`) ? count : 0), 0);
  }

  /** Workers that run and read this member. */
  readers(socketId: number, member: number): number[] {
    return this.serving().filter(
      (worker) => !this.stopped.has(worker) && this.#reading.get(`${worker}/${socketId}`)?.has(member),
    );
  }

  #obey(command: SupervisorCommand): void {
    this.log.push(command);
    switch (command.kind) {
      case 'fork':
        this.living.add(command.worker);
        if (this.slow) this.stopped.add(command.worker);
        this.#answers.push({ kind: 'ready', worker: command.worker });
        return;
      case 'assign':
        expect([...this.columns].some(([w, column]) => column === command.column && this.living.has(w))).toBe(false);
        this.columns.set(command.worker, command.column);
        return;
      case 'zeroColumn':
        // Fence first, then recover: the process has ended.
        for (const [worker, column] of this.columns) {
          if (column === command.column) expect(this.living.has(worker)).toBe(false);
        }
        return;
      case 'sendTable':
        expect(this.columns.has(command.worker)).toBe(true);
        if (!this.deaf.has(command.worker)) {
          this.#answers.push({ kind: 'ack', worker: command.worker, generation: this.generation });
        }
        return;
      case 'deal':
      case 'undeal': {
        const { worker, socketId, members } = command;
        const key = `${worker}/${socketId}`;
        const reading = this.#reading.get(key) ?? new Set<number>();
        if (command.kind === 'deal') for (const member of members) reading.add(member);
        else for (const member of members.length === 0 ? [...reading] : members) reading.delete(member);
        this.#reading.set(key, reading);
        this.members.set(key, reading.size);
        this.#answers.push({ kind: 'listening', worker, socketId, members: reading.size });
        return;
      }
      case 'drain':
        this.#answers.push({ kind: 'drained', worker: command.worker });
        return;
      case 'end':
        // Who is stopped hears of it when it runs again.
        this.#answers.push({ kind: 'exited', worker: command.worker, how: 'status 0' });
        return;
      case 'kill':
        this.#ends.push(command.worker);
        return;
      default:
        return;
    }
  }
}
