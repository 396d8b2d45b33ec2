/**
 * Near names: what somebody may have meant who named an object that is not there.
 */
import { nearestWord } from '../admit/index.js';

/** Names that a hint lists when none of them is near. */
const MAX_LISTED = 5;

/** Names of parts, such as the ports of a Service, that a hint lists. */
const MAX_PARTS = 16;

/** A set, or a map by name. */
interface Names<T> {
  readonly size: number;
  keys(): Iterable<T>;
}

/** Returns names for a hint: `a, b, c and 7 more`. A Service may have thousands of ports, and as many references to wrong ones. Cost: O(1). */
export function shortList<T extends string | number>(names: Names<T>, write: (name: T) => string = String): string {
  const shown: string[] = [];
  for (const name of names.keys()) {
    if (shown.length === MAX_PARTS) break;
    shown.push(write(name));
  }
  const more = names.size - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

/**
 * Most letters that are compared with letters over one resolution, about a second's work. A configuration in which everything is misspelt,
 * in names as long as they may be, must not cost minutes; the faults beyond are told without a suggestion.
 */
const MAX_WORK = 60_000_000;

/** Suggests names, as long as that is cheap. */
export class NearNames {
  #budget = MAX_WORK;
  /** Letters of all names of a list: lists of namespaces come again with every question. */
  readonly #letters = new WeakMap<readonly string[], number>();

  /**
   * Returns a hint about a name that is none of `names`: the nearest one, else what there is, where that fits into a line.
   * `what` completes "there is no …", such as `Service in namespace shop`.
   */
  hint(written: string, names: readonly string[], what: string): string {
    if (names.length === 0) return `there is no ${what}`;
    const near = this.nearest(written, names);
    if (near !== undefined) return `did you mean "${near}"?`;
    return names.length <= MAX_LISTED ? `every ${what}: ${names.join(', ')}` : '';
  }

  /** Returns the name that was meant; `undefined` when none is near, or when there was too much to compare already. */
  nearest(written: string, names: readonly string[]): string | undefined {
    const work = written.length * this.#lettersOf(names);
    if (work > this.#budget) return undefined;
    this.#budget -= work;
    return nearestWord(written, names);
  }

  #lettersOf(names: readonly string[]): number {
    let letters = this.#letters.get(names);
    if (letters === undefined) {
      letters = names.reduce((sum, { length }) => sum + length, 0);
      this.#letters.set(names, letters);
    }
    return letters;
  }
}
