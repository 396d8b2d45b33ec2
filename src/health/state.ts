/**
 * When an endpoint counts as usable, from the outcomes of its checks. Pure. Serves `prober.ts`.
 *
 *              first outcome good                `unhealthyThreshold` failures in a row
 *   unknown ─────────────────────────▶ healthy ──────────────────────────────────────────▶ unhealthy
 *      │                                  ▲      `healthyThreshold` successes in a row          │ ▲
 *      │                                  └─────────────────────────────────────────────────────┘ │
 *      └──────────────────────────────────── first outcome bad ───────────────────────────────────┘
 *
 * The first outcome decides alone: a fresh start must not send traffic to dead endpoints for several intervals.
 */

/** What one check found. */
export interface CheckOutcome {
  readonly ok: boolean;
  /** `connected`, `status 200`, `ECONNREFUSED`, `timed out after 2 s`. */
  readonly detail: string;
  readonly durationMs: number;
}

export interface EndpointHealth {
  readonly verdict: 'unknown' | 'healthy' | 'unhealthy';
  /** Successes or failures in a row, whichever came last. */
  readonly streak: number;
  readonly last: CheckOutcome | undefined;
  readonly checks: number;
  readonly failures: number;
}

export interface Thresholds {
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
}

/** What an endpoint is before its first check: usable. */
export const UNKNOWN_HEALTH: EndpointHealth = {
  verdict: 'unknown',
  streak: 0,
  last: undefined,
  checks: 0,
  failures: 0,
};

/** True when traffic may go to it. */
export function isUsable(health: EndpointHealth): boolean {
  return health.verdict !== 'unhealthy';
}

/** Returns the health after one more outcome. */
export function recordOutcome(health: EndpointHealth, outcome: CheckOutcome, thresholds: Thresholds): EndpointHealth {
  const streak = health.last?.ok === outcome.ok ? health.streak + 1 : 1;
  const needed = outcome.ok ? thresholds.healthyThreshold : thresholds.unhealthyThreshold;
  const decided = health.verdict === 'unknown' || streak >= needed;
  const verdict = decided ? (outcome.ok ? 'healthy' : 'unhealthy') : health.verdict;
  return {
    verdict,
    streak,
    last: outcome,
    checks: health.checks + 1,
    failures: health.failures + (outcome.ok ? 0 : 1),
  };
}
