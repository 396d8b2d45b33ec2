/**
 * What systemd is told (sd_notify(3)). Serves `primary.ts`. Without NOTIFY_SOCKET the addon drops it.
 */

/** Hands one message to the service manager. */
export type Notify = (state: string) => void;

/** Extension of the stop timeout asked for at a time; asked again while draining goes on. */
const EXTEND_USEC = 5_000_000;

/** Messages in the order of a service's life. */
export class Notifier {
  readonly #notify: Notify;
  readonly #monotonicUsec: () => bigint;

  constructor(notify: Notify, monotonicUsec: () => bigint = () => process.hrtime.bigint() / 1000n) {
    this.#notify = notify;
    this.#monotonicUsec = monotonicUsec;
  }

  /** Everything serves; also ends a reload. */
  ready(status: string): void {
    this.#notify(`READY=1\nSTATUS=${status}`);
  }

  /** A reload begins. systemd 253 and later fail the reload without the timestamp. */
  reloading(): void {
    this.#notify(`RELOADING=1\nMONOTONIC_USEC=${this.#monotonicUsec()}`);
  }

  stopping(status: string): void {
    this.#notify(`STOPPING=1\nSTATUS=${status}`);
  }

  /** Draining goes on: the manager must not lose patience. */
  extend(): void {
    this.#notify(`EXTEND_TIMEOUT_USEC=${EXTEND_USEC}`);
  }

  watchdog(): void {
    this.#notify('WATCHDOG=1');
  }

  status(status: string): void {
    this.#notify(`STATUS=${status}`);
  }
}

/** Returns how often the watchdog is to be fed, in milliseconds: half of WATCHDOG_USEC; 0 when it does not watch us. */
export function watchdogIntervalMs(env: Readonly<Record<string, string | undefined>>, pid: number): number {
  const usec = Number(env.WATCHDOG_USEC);
  if (!Number.isFinite(usec) || usec <= 0) return 0;
  if (env.WATCHDOG_PID !== undefined && Number(env.WATCHDOG_PID) !== pid) return 0;
  return usec / 2000;
}
