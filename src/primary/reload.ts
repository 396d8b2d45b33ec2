/**
 * The reload machine: which load runs when, and who is told the outcome. Pure: events in, commands out; no clock, no I/O.
 * Serves `primary.ts`, which executes the commands. A storm of requests becomes the running load plus exactly one more.
 *
 *            requested             built: changed, updated          programmed
 *   idle ───────────────▶ loading ─────────────────────▶ programming ──────────▶ idle
 *    ▲                      │  built: unchanged, refused      │ failed           │ a request came meanwhile:
 *    └──────────────────────┴─────────────────────────────────┴──────────────────┴─▶ loading
 */
import type { Diagnostic } from '../base/index.js';

/** One object whose status or content differs between two generations. */
export interface ObjectChange {
  /** `HTTPRoute default/web`. */
  readonly object: string;
  readonly change: 'added' | 'changed' | 'removed';
}

/** What a reload came to; `weirgate reload --wait` prints it. */
export interface ReloadResult {
  /** `unchanged`: equal to what is served, nobody was woken. `refused`: the old configuration keeps serving. */
  readonly outcome: 'programmed' | 'unchanged' | 'refused';
  /** The generation that serves after it. */
  readonly generation: number;
  readonly changes: readonly ObjectChange[];
  /** All faults and warnings of the files read; the reasons when refused. */
  readonly diagnostics: readonly Diagnostic[];
  /** Reasons outside of the files, e.g. that a table was not accepted; `''` when there is none. */
  readonly message: string;
}

/**
 * What building the new configuration came to. `changed`: there is a new table, hence a new generation. `updated`: the
 * table that serves stays, but endpoints or settings of the primary differ.
 */
export type BuildOutcome = Omit<ReloadResult, 'outcome' | 'generation'> & {
  readonly outcome: 'changed' | 'updated' | 'unchanged' | 'refused';
};

export type ReloadEvent =
  /** `ticket`: someone who waits for the outcome; signals have none. */
  | { readonly kind: 'requested'; readonly ticket?: number }
  | { readonly kind: 'built'; readonly outcome: BuildOutcome }
  /** `message`: what could not be done all the same, such as a port that is taken. */
  | { readonly kind: 'programmed'; readonly message: string }
  /** The new table could not be programmed; the old one serves. */
  | { readonly kind: 'failed'; readonly message: string };

export type ReloadCommand =
  | { readonly kind: 'load'; readonly generation: number }
  | { readonly kind: 'program'; readonly generation: number }
  /** Tell everyone: the tickets that wait, the log, the metrics. */
  | { readonly kind: 'settle'; readonly tickets: readonly number[]; readonly result: ReloadResult };

type Phase =
  | { readonly name: 'idle' }
  | { readonly name: 'loading' }
  | { readonly name: 'programming'; readonly built: BuildOutcome };

/** See the diagram above. Generations count up from 1; the number of a load that was never published is used again. */
export class ReloadMachine {
  #phase: Phase = { name: 'idle' };
  #served = 0;
  /** Highest number that workers may have seen. */
  #published = 0;
  /** Waiting for the load that runs. */
  #tickets: number[] = [];
  /** Came too late for it, for its files may have been read already: they get the next one. */
  #late: { readonly tickets: number[] } | undefined;

  /** The generation that serves; 0 before the first one does. */
  get generation(): number {
    return this.#served;
  }

  get phase(): Phase['name'] {
    return this.#phase.name;
  }

  /** Takes one event and returns what is to be done, in order. An event that does not fit the phase is a bug and throws. */
  handle(event: ReloadEvent): ReloadCommand[] {
    if (event.kind === 'requested') return this.#request(event.ticket);
    switch (this.#phase.name) {
      case 'loading':
        if (event.kind === 'built') return this.#built(event.outcome);
        break;
      case 'programming': {
        const { built } = this.#phase;
        if (event.kind === 'programmed') {
          this.#served = this.#published;
          return this.#settle('programmed', { ...built, message: event.message });
        }
        if (event.kind === 'failed') return this.#settle('refused', { ...built, changes: [], message: event.message });
        break;
      }
      case 'idle':
        break;
    }
    throw new Error(`WEIRGATE_BUG reload event ${event.kind} while ${this.#phase.name}`);
  }

  #request(ticket: number | undefined): ReloadCommand[] {
    const tickets = ticket === undefined ? [] : [ticket];
    if (this.#phase.name === 'idle') {
      this.#tickets = tickets;
      return [this.#load()];
    }
    if (this.#late === undefined) this.#late = { tickets };
    else this.#late.tickets.push(...tickets);
    return [];
  }

  #load(): ReloadCommand {
    this.#phase = { name: 'loading' };
    return { kind: 'load', generation: this.#published + 1 };
  }

  #built(outcome: BuildOutcome): ReloadCommand[] {
    if (outcome.outcome === 'changed' || outcome.outcome === 'updated') {
      if (outcome.outcome === 'changed') this.#published += 1;
      this.#phase = { name: 'programming', built: outcome };
      return [{ kind: 'program', generation: this.#published }];
    }
    return this.#settle(outcome.outcome, outcome);
  }

  #settle(outcome: ReloadResult['outcome'], built: BuildOutcome): ReloadCommand[] {
    const { changes, diagnostics, message } = built;
    const result: ReloadResult = { outcome, generation: this.#served, changes, diagnostics, message };
    const commands: ReloadCommand[] = [{ kind: 'settle', tickets: this.#tickets, result }];
    const late = this.#late;
    this.#late = undefined;
    this.#tickets = late?.tickets ?? [];
    this.#phase = { name: 'idle' };
    if (late !== undefined) commands.push(this.#load());
    return commands;
  }
}
