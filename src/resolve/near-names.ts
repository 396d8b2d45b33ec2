/**
 * Near names: what somebody may have meant who named an object that is not there.
 */
import { nearestWord } from '../admit/index.js';

/** Names that a hint lists when none of them is near. */
const MAX_LISTED = 5;

/**
 * Most comparisons of two names over one resolution. A configuration in which everything is misspelt must not cost minutes; the faults
 * beyond are told without a suggestion.
 */
const MAX_COMPARISONS = 200_000;

/** Suggests names, as long as that is cheap. */
export class NearNames {
  #budget = MAX_COMPARISONS;

  /**
   * Returns a hint about a name that is none of `names`: the nearest one, else what there is, where that fits into a line.
   * `what` completes "there is no …", such as `Service in namespace shop`.
   */
  hint(written: string, names: readonly string[], what: string): string {
    if (names.length === 0) return `there is no ${what}`;
    const near = this.#nearest(written, names);
    if (near !== undefined) return `did you mean "${near}"?`;
    return names.length <= MAX_LISTED ? `every ${what}: ${names.join(', ')}` : '';
  }

  #nearest(written: string, names: readonly string[]): string | undefined {
    if (names.length > this.#budget) return undefined;
    this.#budget -= names.length;
    return nearestWord(written, names);
  }
}
