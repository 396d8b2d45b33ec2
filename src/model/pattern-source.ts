/**
 * Pieces of regular expressions of Rust's `regex` crate in the words of JavaScript's, with flag v. Serves `patterns.ts`.
 * Everything that the two mean differently is spelt out: what a word, a digit or a line is, and which letters are equal but for case.
 */

const WORD = '[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]';

/** Classes with a letter of their own, in lower case. */
export const PERL_CLASSES: Readonly<Record<string, string>> = { d: '\\p{Nd}', s: '\\p{White_Space}', w: WORD };

/** `[:alpha:]` and its like: ASCII only. */
export const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: '[0-9A-Za-z]',
  alpha: '[A-Za-z]',
  ascii: '[\\x00-\\x7f]',
  blank: '[\\t\\x20]',
  cntrl: '[\\x00-\\x1f\\x7f]',
  digit: '[0-9]',
  graph: '[\\x21-\\x7e]',
  lower: '[a-z]',
  print: '[\\x20-\\x7e]',
  punct: '[\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e]',
  space: '[\\t\\n\\v\\f\\r\\x20]',
  upper: '[A-Z]',
  word: '[0-9A-Za-z_]',
  xdigit: '[0-9A-Fa-f]',
};

const START = '(?<![^])';
const END = '(?![^])';
const WORD_START = `(?<!${WORD})(?=${WORD})`;
const WORD_END = `(?<=${WORD})(?!${WORD})`;

/** Places by how they are written behind the backslash. */
export const PLACES: Readonly<Record<string, string>> = {
  A: START,
  z: END,
  b: `(?:${WORD_START}|${WORD_END})`,
  B: `(?:(?<=${WORD})(?=${WORD})|(?<!${WORD})(?!${WORD}))`,
  '<': WORD_START,
  '>': WORD_END,
  'b{start}': WORD_START,
  'b{end}': WORD_END,
  'b{start-half}': `(?<!${WORD})`,
  'b{end-half}': `(?!${WORD})`,
};

/** Flags in force: i, m, s, R and x count here. */
export type Flags = ReadonlySet<string>;

/** Returns `^` or `$`, of the text or of a line. */
export function anchorSource(character: string, flags: Flags): string {
  const isStart = character === '^';
  if (!flags.has('m')) return isStart ? START : END;
  if (!flags.has('R')) return isStart ? '(?<![^\\n])' : '(?![^\\n])';
  // The place between \r and \n is neither the end nor the beginning of a line.
  return isStart ? '(?:(?<![^\\r\\n])(?<!\\r(?=\\n)))' : '(?:(?![^\\r\\n])(?!(?<=\\r)\\n))';
}

/** Returns `.`: any character, or any but those that end a line. */
export function anySource(flags: Flags): string {
  if (flags.has('s')) return '[^]';
  return flags.has('R') ? '[^\\r\\n]' : '[^\\n]';
}

/** Returns one character, or a range of them, for use inside of a class. */
export function rangeSource(from: number, to = from): string {
  const written = (codePoint: number): string => `\\u{${codePoint.toString(16)}}`;
  return from === to ? written(from) : `${written(from)}-${written(to)}`;
}

/** Returns a character, with flag i all that are equal to it but for case. */
export function characterSource(codePoint: number, flags: Flags): string {
  const group = flags.has('i') ? caseGroups().get(codePoint) : undefined;
  return group === undefined ? rangeSource(codePoint) : `[${group.map((one) => rangeSource(one)).join('')}]`;
}

/** Returns a class of what stands in it, with flag i of all that is equal to it but for case. */
export function classSource(content: string, flags: Flags): string {
  if (!flags.has('i')) return `[${content}]`;
  const isIn = new RegExp(`^[${content}]$`, 'v');
  const others: string[] = [];
  for (const [codePoint, group] of caseGroups()) {
    if (isIn.test(String.fromCodePoint(codePoint))) others.push(...group.map((one) => rangeSource(one)));
  }
  return `[${content}${others.join('')}]`;
}

/** Above, no letter has case. */
const LAST_CASED = 0x1ffff;

let known: ReadonlyMap<number, readonly number[]> | undefined;

/** Letters that are equal but for case, by each of them; made when first asked for, some 50 ms. Source: Unicode's simple folding. */
function caseGroups(): ReadonlyMap<number, readonly number[]> {
  if (known !== undefined) return known;
  const byKey = new Map<string, number[]>();
  for (let codePoint = 0; codePoint <= LAST_CASED; codePoint += 1) {
    const key = caseKey(String.fromCodePoint(codePoint));
    const group = byKey.get(key);
    if (group === undefined) byKey.set(key, [codePoint]);
    else group.push(codePoint);
  }
  const groups = [...byKey.values()].filter(({ length }) => length > 1);
  known = new Map(groups.flatMap((group) => group.map((codePoint) => [codePoint, group] as const)));
  return known;
}

function caseKey(character: string): string {
  const upper = character.toUpperCase();
  const single = [...upper].length === 1 ? upper : character;
  const lower = single.toLowerCase();
  return [...lower].length === 1 ? lower : single;
}
