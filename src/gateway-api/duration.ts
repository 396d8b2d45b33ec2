/**
 * Durations of the Gateway API (GEP-2257): up to four numbers with a unit, such as `1h30m` or `250ms`.
 */
const PART = /([0-9]{1,5})(h|ms|m|s)/g;

const UNIT_MS = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;

/** Returns the milliseconds of a duration that has passed the format check; at most 99,999 h × 4. */
export function durationMs(text: string): number {
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART)) total += Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
  return total;
}
