/**
 * Regular expressions of matches: whether they are in the syntax of Rust's `regex` crate, which is what the data plane speaks.
 * Follows that crate's documentation (1.13, "Syntax"). There is no look-around and no back-reference, so matching takes linear time
 * whatever a user wrote. What a pattern may cost in memory is limited by an estimate that lies above the truth.
 */
import { isUnicodeProperty } from './unicode-properties.js';

/** Deepest nesting of groups and classes that is read. */
const MAX_DEPTH = 100;

/** Highest tree of groups, alternatives, sequences and repetitions. The crate gives up at 250. */
const MAX_HEIGHT = 240;

/** Most bytes that a compiled pattern may take. The crate gives up at 10 MiB. */
const MAX_BYTES = 8 << 20;

/** Bytes of compiled automaton for one step, rounded up. */
const LITERAL_BYTES = 48;
const CLASS_BYTES = 1024;
const PROPERTY_BYTES = 40_960;

/** Largest number of repetitions that the crate reads. */
const MAX_COUNT = 2 ** 32 - 1;

const FLAGS = 'imsUuRx';

const POSIX_CLASS = /^\[:\^?(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]/;

const BOUNDARIES: ReadonlySet<string> = new Set(['start', 'end', 'start-half', 'end-half']);

/** Escapes that stand for one character, with its code point. */
const CHARACTERS: ReadonlyMap<string, number> = new Map([
  ['a', 7],
  ['t', 9],
  ['n', 10],
  ['v', 11],
  ['f', 12],
  ['r', 13],
]);

/** Escapes that give a code point, with the digits that they have outside of braces. */
const HEX_DIGITS: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);

/** Returns what is wrong with a pattern, as a person would say it, or `undefined`. Cost: linear in its length. */
export function patternFault(pattern: string): string | undefined {
  return new PatternReader(pattern).fault();
}

/** One step of a pattern, or several in a row. */
interface Item {
  readonly bytes: number;
  /** Of the tree below it. */
  readonly height: number;
  /** Of a single character: only such begin and end ranges. */
  readonly codePoint?: number;
  /** Matches a place and not a character: `^`, `\b`. */
  readonly isPlace?: true;
}

const NOTHING: Item = { bytes: 0, height: 0 };
const PLACE: Item = { bytes: LITERAL_BYTES, height: 0, isPlace: true };
const CLASS: Item = { bytes: CLASS_BYTES, height: 1 };
const PROPERTY: Item = { bytes: PROPERTY_BYTES, height: 1 };

function literal(character: string | number): Item {
  const codePoint = typeof character === 'number' ? character : (character.codePointAt(0) ?? 0);
  return { bytes: LITERAL_BYTES, height: 0, codePoint };
}

/** Reads a pattern from left to right. The first fault goes to the end of the text, so every loop ends by itself. */
class PatternReader {
  readonly #characters: readonly string[];
  readonly #names = new Set<string>();
  #at = 0;
  #depth = 0;
  /** Flag x: space and comments mean nothing. */
  #ignoresSpace = false;
  #fault: string | undefined;

  constructor(pattern: string) {
    this.#characters = [...pattern];
  }

  fault(): string | undefined {
    const { bytes, height } = this.#alternatives();
    if (!this.#isAtEnd()) this.#fail('")" closes no group');
    if (height > MAX_HEIGHT) this.#fail('it is nested too deep');
    if (bytes > MAX_BYTES) this.#fail('it would take too much memory; use smaller numbers of repetitions');
    return this.#fault;
  }

  /** Reads until the group or the text ends, and leaves `)` where it is. */
  #alternatives(): Item {
    let bytes = LITERAL_BYTES;
    let height = 0;
    let last: Item | undefined;
    for (this.#skipSpace(); !this.#isAtEnd() && this.#peek() !== ')'; this.#skipSpace()) {
      const character = this.#next();
      if ('*+?{'.includes(character)) {
        const repeated = this.#repeated(character, last);
        bytes -= last?.bytes ?? 0;
        last = repeated;
      } else {
        last = character === '|' ? undefined : this.#item(character);
      }
      bytes += last?.bytes ?? LITERAL_BYTES;
      height = Math.max(height, last?.height ?? 0);
    }
    return { bytes, height: height + 2 };
  }

  /** Reads a step that begins with the character; `undefined` for flags, which match nothing. */
  #item(character: string): Item | undefined {
    switch (character) {
      case '(':
        return this.#group();
      case '[':
        return this.#nested(() => this.#characterClass());
      case '\\':
        return this.#escape();
      case '.':
        return CLASS;
      case '^':
      case '$':
        return PLACE;
      default:
        return literal(character);
    }
  }

  #repeated(operator: string, item: Item | undefined): Item {
    if (item === undefined) return this.#fail(`"${operator}" has nothing before it that could be repeated`);
    const times = operator === '{' ? this.#count() : 1;
    this.#skipSpace();
    if (this.#peek() === '?') this.#at += 1;
    return { bytes: item.bytes * Math.max(1, times) + LITERAL_BYTES, height: item.height + 1 };
  }

  /** Reads the rest of `{2}`, `{2,}` or `{2,5}`; returns how often the step is written out at most. */
  #count(): number {
    const [whole, least = '', comma, most = ''] = /^\s*(\d*)\s*(?:(,)\s*(\d*)\s*)?\}/.exec(this.#rest(64)) ?? [];
    if (whole === undefined || least === '') {
      this.#fail('"{" needs a number and "}" after it; write \\{ for the character');
      return 0;
    }
    this.#at += whole.length;
    const from = Number(least);
    const to = most === '' ? from : Number(most);
    if (Math.max(from, to) > MAX_COUNT) this.#fail(`${whole.slice(0, -1)} is too large a number of repetitions`);
    if (to < from) this.#fail(`{${least},${most}} asks for more repetitions at least than at most`);
    return most === '' && comma !== undefined ? to + 1 : to;
  }

  #group(): Item | undefined {
    const ahead = this.#rest(3);
    if (/^\?(?:[=!]|<[=!])/.test(ahead)) return this.#fail('look-around is not supported');
    const outer = this.#ignoresSpace;
    if (/^\?P?</.test(ahead)) this.#groupName();
    // `(?i)` holds for the rest of the group that it stands in, `(?i:…)` for its own.
    else if (ahead.startsWith('?') && this.#flags() === ')') return undefined;
    const item = this.#nested(() => {
      const body = this.#alternatives();
      if (this.#next() !== ')') this.#fail('"(" is not closed');
      return { bytes: body.bytes, height: body.height + 1 };
    });
    this.#ignoresSpace = outer;
    return item;
  }

  #groupName(): void {
    const [whole = '', name] = /^\?P?<([^>]*)>/.exec(this.#rest(this.#characters.length)) ?? [];
    if (name === undefined) this.#fail('the name of a group is not closed by ">"');
    else if (!/^[\p{Alphabetic}_][\p{Alphabetic}\p{N}_.[\]]*$/u.test(name))
      this.#fail(`"${name}" is no name of a group`);
    else if (this.#names.has(name)) this.#fail(`two groups have the name "${name}"`);
    else this.#names.add(name);
    this.#at += [...whole].length;
  }

  /** Reads `?i-s:` or `?i)` and puts it into force; returns the character that ends it. */
  #flags(): string {
    const [whole, flags = '', end = ''] = /^\?([^:)]*)([:)])/.exec(this.#rest(this.#characters.length)) ?? [];
    if (whole === undefined) {
      this.#fail('"(" is not closed');
      return end;
    }
    this.#at += [...whole].length;
    const fault = flagsFault(flags, end);
    if (fault !== undefined) this.#fail(fault);
    if (flags.includes('x')) this.#ignoresSpace = !flags.includes('-') || flags.indexOf('x') < flags.indexOf('-');
    return end;
  }

  #characterClass(): Item {
    let bytes = CLASS_BYTES;
    this.#skipSpace();
    if (this.#peek() === '^') this.#at += 1;
    const start = this.#at;
    this.#skipSpace();
    // "-" and then "]" are characters where they come first.
    for (; this.#peek() === '-'; this.#skipSpace()) this.#at += 1;
    if (this.#peek() === ']' && !this.#characters.slice(start, this.#at).includes('-')) this.#at += 1;
    let height = 1;
    for (this.#skipSpace(); this.#peek() !== ']'; this.#skipSpace()) {
      if (this.#isAtEnd()) return this.#fail('"[" is not closed');
      const item = this.#classItem();
      bytes += item.bytes;
      height = Math.max(height, item.height + 2);
    }
    this.#at += 1;
    return { bytes, height };
  }

  #classItem(): Item {
    const [posix] = POSIX_CLASS.exec(this.#rest(12)) ?? [];
    if (posix !== undefined) {
      this.#at += posix.length;
      return CLASS;
    }
    if (this.#peek() === '[') {
      this.#at += 1;
      return this.#nested(() => this.#characterClass());
    }
    // Intersection, difference and symmetric difference: what stands on both sides is read like any other item.
    if (/^(?:&&|--|~~)/.test(this.#rest(2))) {
      this.#at += 2;
      return NOTHING;
    }
    return this.#range();
  }

  #range(): Item {
    const from = this.#classCharacter();
    this.#skipSpace();
    if (this.#peek() !== '-' || this.#isLoneDash()) return from;
    this.#at += 1;
    this.#skipSpace();
    if (this.#isAtEnd()) return this.#fail('"[" is not closed');
    const to = this.#classCharacter();
    if (from.codePoint === undefined || to.codePoint === undefined) {
      return this.#fail('a range goes from one character to another');
    }
    return from.codePoint > to.codePoint ? this.#fail('the end of a range comes before its beginning') : CLASS;
  }

  /** `[a-]` has the character "-", `[a--b]` takes b away from a. */
  #isLoneDash(): boolean {
    const here = this.#at;
    this.#at += 1;
    this.#skipSpace();
    const after = this.#peek();
    this.#at = here;
    return after === ']' || after === '-';
  }

  #classCharacter(): Item {
    const character = this.#next();
    if (character !== '\\') return literal(character);
    const item = this.#escape();
    return item.isPlace ? this.#fail('a place such as \\b cannot be part of a class') : item;
  }

  #escape(): Item {
    const character = this.#next();
    const codePoint = CHARACTERS.get(character);
    const digits = HEX_DIGITS.get(character);
    if (codePoint !== undefined) return literal(codePoint);
    if (digits !== undefined) return this.#codePoint(character, digits);
    if (character === '') return this.#fail('"\\" has nothing after it');
    if ('0123456789'.includes(character)) return this.#fail(`\\${character}: back-references are not supported`);
    if ('dDsSwW'.includes(character)) return PROPERTY;
    if ('pP'.includes(character)) return this.#property();
    if ('AzB<>'.includes(character)) return PLACE;
    if (character === 'b') return this.#boundary();
    return /[A-Za-z]|[^\0-\x7f]/u.test(character) ? this.#fail(`\\${character} has no meaning`) : literal(character);
  }

  /** Reads what may come after `\b`: `{start}` and its like. `{2}` would be a repetition. */
  #boundary(): Item {
    const [whole = '', name] = /^\{([-A-Za-z]+)\}?/.exec(this.#rest(16)) ?? [];
    if (name === undefined) return PLACE;
    this.#at += whole.length;
    return BOUNDARIES.has(name) && whole.endsWith('}') ? PLACE : this.#fail(`\\b${whole} has no meaning`);
  }

  /** Reads what comes after `\x`, `\u` or `\U`: as many digits as it wants, or any number of them in braces. */
  #codePoint(letter: string, digits: number): Item {
    const ahead = this.#rest(12);
    const [whole, braced, plain] = /^(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2,8}))/.exec(ahead) ?? [];
    if (whole === undefined || (plain !== undefined && plain.length < digits)) {
      return this.#fail(`\\${letter} needs ${digits} hexadecimal digits, or some in braces`);
    }
    const hex = braced ?? ahead.slice(0, digits);
    const codePoint = Number.parseInt(hex, 16);
    this.#at += braced === undefined ? digits : whole.length;
    const isCharacter = codePoint <= 0x10ffff && (codePoint < 0xd800 || codePoint > 0xdfff);
    return isCharacter ? literal(codePoint) : this.#fail(`\\${letter}{${hex}} is no character`);
  }

  #property(): Item {
    const [whole = '', braced, plain] = /^(?:\{([^}]*)\}|([^{]))/u.exec(this.#rest(64)) ?? [];
    const name = braced ?? plain;
    if (name === undefined) return this.#fail('\\p needs a letter, or a name in braces');
    this.#at += [...whole].length;
    return isUnicodeProperty(name) ? PROPERTY : this.#fail(`\\p{${name}} is no known property of characters`);
  }

  /** Reads something that may contain its like. */
  #nested(read: () => Item): Item {
    if (this.#depth >= MAX_DEPTH) return this.#fail('it is nested too deep');
    this.#depth += 1;
    const item = read();
    this.#depth -= 1;
    return item;
  }

  #skipSpace(): void {
    while (this.#ignoresSpace && !this.#isAtEnd()) {
      if (this.#peek() === '#') while (!this.#isAtEnd() && this.#peek() !== '\n') this.#at += 1;
      else if (/\p{White_Space}/u.test(this.#peek())) this.#at += 1;
      else return;
    }
  }

  #fail(message: string): Item {
    this.#fault ??= message;
    this.#at = this.#characters.length;
    return NOTHING;
  }

  #rest(length: number): string {
    return this.#characters.slice(this.#at, this.#at + length).join('');
  }

  #peek(): string {
    return this.#characters[this.#at] ?? '';
  }

  /** Returns the next character and goes past it; `''` at the end. */
  #next(): string {
    const character = this.#peek();
    if (character !== '') this.#at += 1;
    return character;
  }

  #isAtEnd(): boolean {
    return this.#at >= this.#characters.length;
  }
}

function flagsFault(flags: string, end: string): string | undefined {
  const [on = '', off, ...more] = flags.split('-');
  const letters = [...on, ...(off ?? '')];
  const unknown = letters.find((flag) => !FLAGS.includes(flag));
  if (flags === '' && end === ')') return '"(?)" has neither flags nor a pattern';
  if (more.length > 0 || off === '') return '"-" among flags stands once, before those that it switches off';
  if (unknown !== undefined) return `"${unknown}" is no flag of a group; there are ${FLAGS}`;
  if (new Set(letters).size < letters.length) return `the flags "${flags}" have one of them twice`;
  // Without Unicode a pattern could match half a character.
  return off?.includes('u') === true ? 'Unicode cannot be switched off' : undefined;
}
