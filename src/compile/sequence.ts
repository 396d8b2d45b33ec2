/**
 * Smooth interleaving of weights: the order in which consecutive tickets visit the members, every stretch near its share.
 */

/**
 * Returns for each step the index of a member, so that member i stands weights[i] / gcd times in it and evenly spread.
 *
 * Weights are integers ≥ 0; a member of weight 0 does not appear. When more than `most` steps would be needed, weights
 * are rounded to `max(most, members)` steps, each member at least one: a share is then off by less than one step in all.
 * Cost: O(steps × log steps).
 */
export function interleave(weights: readonly number[], most: number): Uint16Array {
  const counts = fitCounts(reduce(weights), most);
  const steps = counts.reduce((sum, count) => sum + count, 0);
  if (counts.every((count) => count <= 1)) {
    return Uint16Array.from(counts.flatMap((count, i) => (count === 0 ? [] : [i])));
  }
  // Member i wants the positions (k + ½) / count(i); ties go to the lower index. That is stride scheduling.
  const positions = new Float64Array(steps);
  const members = new Uint16Array(steps);
  let next = 0;
  counts.forEach((count, i) => {
    for (let k = 0; k < count; k++) {
      positions[next] = (k + 0.5) / count;
      members[next++] = i;
    }
  });
  const order = new Uint32Array(steps).map((_, i) => i);
  order.sort((a, b) => positions[a]! - positions[b]! || a - b);
  return Uint16Array.from(order, (i) => members[i]!);
}

/** Returns the weights divided by their greatest common divisor. */
export function reduce(weights: readonly number[]): number[] {
  const divisor = weights.reduce(gcd, 0);
  return divisor <= 1 ? [...weights] : weights.map((weight) => weight / divisor);
}

function gcd(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}

/** Scales counts down to at most `most` steps (or one for each member) by largest remainder. */
function fitCounts(counts: readonly number[], most: number): number[] {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total <= most) return [...counts];
  const members = counts.filter((count) => count > 0).length;
  const steps = Math.max(most, members);
  const exact = counts.map((count) => (count * steps) / total);
  const fitted = exact.map((share, i) => (counts[i] === 0 ? 0 : Math.max(1, Math.floor(share))));
  let spare = steps - fitted.reduce((sum, count) => sum + count, 0);
  const byRemainder = counts
    .map((_, i) => i)
    .sort((a, b) => exact[b]! - fitted[b]! - (exact[a]! - fitted[a]!) || a - b);
  for (const i of byRemainder) {
    if (spare <= 0) break;
    if (counts[i] === 0) continue;
    fitted[i]! += 1;
    spare -= 1;
  }
  // Members raised to one step may have taken more than there is: those above their share give back, largest excess first.
  for (const i of byRemainder.toReversed()) {
    if (spare >= 0) break;
    const taken = Math.min(fitted[i]! - 1, -spare);
    if (taken <= 0) continue;
    fitted[i]! -= taken;
    spare += taken;
  }
  return fitted;
}
