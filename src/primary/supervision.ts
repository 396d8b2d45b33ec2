/**
 * What the supervisor hears and what it orders, and the times it judges by. Types and numbers only.
 * Serves `supervisor.ts`, which decides, and `primary.ts`, which reports and executes.
 */
import type { DealCommand, DealtSocket } from './deal.js';

/** What the native loop of a worker last wrote into shared memory. */
export interface Vitals {
  /** CLOCK_MONOTONIC, milliseconds; 0: nothing yet. */
  readonly heartbeatMs: number;
  /** It has stopped accepting for want of descriptors. */
  readonly paused: boolean;
}

export type SupervisorEvent =
  /** So many workers are wanted from now on; the first one starts them. */
  | { readonly kind: 'resize'; readonly workers: number }
  /** A table has become the current one; all who serve are to get it. */
  | { readonly kind: 'published'; readonly generation: number }
  /** The listener addresses that the programmed table describes. */
  | { readonly kind: 'sockets'; readonly sockets: readonly DealtSocket[] }
  | { readonly kind: 'ready'; readonly worker: number }
  | { readonly kind: 'ack'; readonly worker: number; readonly generation: number }
  | { readonly kind: 'refused'; readonly worker: number; readonly text: string }
  | { readonly kind: 'listening'; readonly worker: number; readonly socketId: number; readonly members: number }
  | { readonly kind: 'drained'; readonly worker: number }
  /** Its channel is closed: the loop is no more, the process should end by itself. */
  | { readonly kind: 'gone'; readonly worker: number }
  /** The process has ended (or could not be started); nothing of it runs any more. */
  | { readonly kind: 'exited'; readonly worker: number; readonly how: string }
  | { readonly kind: 'tick'; readonly vitals: ReadonlyMap<number, Vitals> }
  | { readonly kind: 'stop'; readonly limitMs: number }
  | { readonly kind: 'stopNow' };

export type SupervisorCommand =
  | DealCommand
  | { readonly kind: 'fork'; readonly worker: number }
  | { readonly kind: 'assign'; readonly worker: number; readonly column: number }
  | { readonly kind: 'sendTable'; readonly worker: number }
  /** Spread connections evenly over places where the number of members is no multiple of theirs. */
  | { readonly kind: 'steer'; readonly socketId: number; readonly groups: readonly (readonly number[])[] }
  /** Nobody reads this socket any more: close it. */
  | { readonly kind: 'unbind'; readonly socketId: number }
  | { readonly kind: 'drain'; readonly worker: number; readonly limitMs: number }
  | { readonly kind: 'end'; readonly worker: number }
  | { readonly kind: 'kill'; readonly worker: number }
  | { readonly kind: 'zeroColumn'; readonly column: number }
  /** Every living worker that serves has acknowledged the table. */
  | { readonly kind: 'programmed'; readonly generation: number }
  | { readonly kind: 'stopped' }
  | {
      readonly kind: 'note';
      readonly level: 'info' | 'warn' | 'error';
      readonly message: string;
      readonly fields: Readonly<Record<string, string | number>>;
    };

/** Times in milliseconds. */
export const LIMITS = {
  /** Silence after which TCP members are lent. */
  lendAfterMs: 1_000,
  /** Silence, or a table without an ack, after which a worker is killed. */
  fenceAfterMs: 5_000,
  /** A worker without descriptors offers its members. */
  pausedMs: 100,
  /** A place without a worker: a spare takes over sooner than that. */
  orphanedMs: 100,
  /** A worker that starts and does not report. A Node start takes 0.25 s on a quiet machine. */
  startMs: 30_000,
  backoffFirstMs: 200,
  backoffMaxMs: 30_000,
  /** The death of a worker that served so long counts as the first again. */
  stableMs: 30_000,
  /** For what is queued on a socket that is to be closed. */
  unbindMs: 2_000,
  /** From closing the channel to the end of the process. */
  goneMs: 1_000,
  /** A gap between ticks from which on it is the primary (or the machine) that slept: nobody is judged for `graceMs`. */
  sleptMs: 900,
  graceMs: 1_000,
} as const;
