/** The clock of heartbeats: CLOCK_MONOTONIC, the same in every process of the host. Serves `primary/`. */

/** Returns CLOCK_MONOTONIC in whole milliseconds. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
