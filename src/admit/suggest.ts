/**
 * "Did you mean": the known word that is nearest to what somebody wrote.
 */

/** A part of a word counts as meant for it from this length on: `Prefix` for `PathPrefix`. */
const MIN_PART = 4;

/**
 * Returns the nearest of the candidates, or undefined when none is near enough: a third of the letters may differ, or
 * exactly one candidate contains what was written. Case does not count. Cost: O(candidates × length²).
 */
export function nearestWord(written: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const allowed = Math.max(1, Math.floor(Math.max(written.length, candidate.length) / 3));
    if (Math.abs(written.length - candidate.length) > allowed) continue;
    const distance = editDistance(written.toLowerCase(), candidate.toLowerCase());
    if (distance <= allowed && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best ?? onlyContaining(written, candidates);
}

function onlyContaining(written: string, candidates: readonly string[]): string | undefined {
  if (written.length < MIN_PART) return undefined;
  const containing = candidates.filter((candidate) => candidate.toLowerCase().includes(written.toLowerCase()));
  return containing.length === 1 ? containing[0] : undefined;
}

/** Returns the Damerau-Levenshtein distance (adjacent letters swapped count once; optimal string alignment). */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let distance = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        distance = Math.min(distance, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(distance);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/** Returns a list for people: `a, b or c`, words in quotes. */
export function quotedList(words: readonly (string | number)[], conjunction = 'or'): string {
  const quoted = words.map((word) => (typeof word === 'number' ? String(word) : JSON.stringify(word)));
  if (quoted.length <= 1) return quoted.join('');
  return `${quoted.slice(0, -1).join(', ')} ${conjunction} ${quoted.at(-1)}`;
}
