/**
 * Runs the active checks of all endpoints, each once on the whole host, and tells when one becomes usable or unusable.
 * Serves `primary/`: workers never probe. Results survive reloads as long as cluster, address and port stay.
 */
import type { IrHealthCheck } from '../ir/ir.js';
import { type CheckTarget, runCheck } from './check.js';
import { type CheckOutcome, type EndpointHealth, isUsable, recordOutcome, UNKNOWN_HEALTH } from './state.js';

/** One endpoint that is to be checked. */
export interface ProbeTarget extends CheckTarget {
  /** Stable over reloads: `Service/default/web:8080|127.0.0.1:9001`. */
  readonly key: string;
}

export interface ProberOptions {
  /** An endpoint became usable or unusable. */
  readonly onChange: (key: string, health: EndpointHealth) => void;
  readonly run?: (target: CheckTarget) => Promise<CheckOutcome>;
  /** 0 ≤ x < 1; spreads the checks. */
  readonly random?: () => number;
  /** Checks under way at once; each holds a descriptor. */
  readonly concurrency?: number;
}

interface Probe {
  target: ProbeTarget;
  health: EndpointHealth;
  timer: NodeJS.Timeout | undefined;
  running: boolean;
  removed: boolean;
}

const DEFAULT_CONCURRENCY = 64;
/** First checks start within this time, or within one interval if that is shorter. */
const FIRST_SPREAD_MS = 500;
/** Each interval varies by ± 10 %, so that checks that began together do not stay together. */
const JITTER = 0.1;

/** Owns one timer for each endpoint. Start it with `replace`, end it with `stop`. */
export class Prober {
  readonly #probes = new Map<string, Probe>();
  readonly #waiting: Probe[] = [];
  readonly #options: Required<ProberOptions>;
  #running = 0;

  constructor(options: ProberOptions) {
    this.#options = { run: runCheck, random: Math.random, concurrency: DEFAULT_CONCURRENCY, ...options };
  }

  /** Returns what is known of an endpoint; unknown when it is not checked. */
  health(key: string): EndpointHealth {
    return this.#probes.get(key)?.health ?? UNKNOWN_HEALTH;
  }

  /** Takes the new set of endpoints: keeps the results of those that stay, starts with new ones at once, forgets the rest. */
  replace(targets: readonly ProbeTarget[]): void {
    const wanted = new Map(targets.map((target) => [target.key, target]));
    for (const [key, probe] of this.#probes) {
      if (wanted.has(key)) continue;
      probe.removed = true;
      clearTimeout(probe.timer);
      this.#probes.delete(key);
    }
    for (const target of wanted.values()) {
      const probe = this.#probes.get(target.key);
      if (probe === undefined) this.#add(target);
      else if (!isSameCheck(probe.target.check, target.check)) {
        probe.target = target;
        this.#schedule(probe, this.#firstDelayMs(target));
      }
    }
  }

  /** Ends all checks; outcomes of those under way are dropped. */
  stop(): void {
    this.replace([]);
    this.#waiting.length = 0;
  }

  #add(target: ProbeTarget): void {
    const probe: Probe = { target, health: UNKNOWN_HEALTH, timer: undefined, running: false, removed: false };
    this.#probes.set(target.key, probe);
    this.#schedule(probe, this.#firstDelayMs(target));
  }

  #firstDelayMs(target: ProbeTarget): number {
    return this.#options.random() * Math.min(FIRST_SPREAD_MS, target.check.intervalMs);
  }

  #schedule(probe: Probe, delayMs: number): void {
    clearTimeout(probe.timer);
    probe.timer = setTimeout(() => this.#due(probe), delayMs);
    probe.timer.unref();
  }

  #due(probe: Probe): void {
    if (probe.running) return;
    if (this.#running >= this.#options.concurrency) this.#waiting.push(probe);
    else void this.#run(probe);
  }

  async #run(probe: Probe): Promise<void> {
    this.#running += 1;
    probe.running = true;
    const outcome = await this.#options.run(probe.target);
    probe.running = false;
    this.#running -= 1;
    if (!probe.removed) this.#record(probe, outcome);
    this.#startWaiting();
  }

  #record(probe: Probe, outcome: CheckOutcome): void {
    const before = probe.health;
    probe.health = recordOutcome(before, outcome, probe.target.check);
    const { intervalMs } = probe.target.check;
    this.#schedule(probe, intervalMs * (1 - JITTER + 2 * JITTER * this.#options.random()));
    if (isUsable(before) !== isUsable(probe.health)) this.#options.onChange(probe.target.key, probe.health);
  }

  #startWaiting(): void {
    while (this.#running < this.#options.concurrency) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      if (!next.removed && !next.running) void this.#run(next);
    }
  }
}

function isSameCheck(a: IrHealthCheck, b: IrHealthCheck): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
