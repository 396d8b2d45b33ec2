/**
 * Regular expressions of matches: whether they are in the syntax of Rust's `regex` crate, which is what the data plane speaks, and what
 * they mean to JavaScript, which is what `explain` speaks. Follows that crate's documentation (1.13, "Syntax"). There is no look-around
 * and no back-reference, so the data plane matches in linear time whatever a user wrote. What a pattern may cost in memory is limited
 * by an estimate that lies above the truth.
 */
import { err, ok, type Result } from '../base/index.js';
import {
  anchorSource,
  anySource,
  characterSource,
  classSource,
  type Flags,
  PERL_CLASSES,
  PLACES,
  POSIX_CLASSES,
  rangeSource,
} from './pattern-source.js';
import { unicodeProperty } from './unicode-properties.js';

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
  const read = new PatternReader(pattern, false).read();
  return read.ok ? undefined : read.error;
}

/**
 * Returns the source of an expression of JavaScript, to be made with flag v, that matches where the pattern does; or what is wrong with
 * the pattern. Groups capture nothing. Unlike the data plane, JavaScript may take exponential time.
 */
export function readPattern(pattern: string): Result<string, string> {
  return new PatternReader(pattern, true).read();
}

/** One step of a pattern, or several in a row. */
interface Item {
  /** In JavaScript; of something that can be part of a class, as it stands there. */
  readonly source: string;
  readonly bytes: number;
  /** Of the tree below it. */
  readonly height: number;
  /** `class`: can be part of one. `place`: matches between two characters. */
  readonly kind: 'class' | 'place' | 'other';
  /** Of a single character: only such begin and end ranges. */
  readonly codePoint?: number;
}

const NOTHING: Item = { source: '', bytes: 0, height: 0, kind: 'other' };

function literal(character: string | number): Item {
  const codePoint = typeof character === 'number' ? character : (character.codePointAt(0) ?? 0);
  return { source: rangeSource(codePoint), bytes: LITERAL_BYTES, height: 0, kind: 'class', codePoint };
}

function place(source: string): Item {
  return { source, bytes: LITERAL_BYTES, height: 0, kind: 'place' };
}

function classOf(source: string, bytes = CLASS_BYTES, height = 1): Item {
  return { source, bytes, height, kind: 'class' };
}

/** Reads a pattern from left to right. The first fault goes to the end of the text, so every loop ends by itself. */
class PatternReader {
  readonly #characters: readonly string[];
  readonly #isTranslated: boolean;
  readonly #names = new Set<string>();
  #at = 0;
  #depth = 0;
  #flags: Flags = new Set();
  #fault: string | undefined;

  /** What letters have other cases is costly to say, so sources are whole only when they are asked for. */
  constructor(pattern: string, isTranslated: boolean) {
    this.#characters = [...pattern];
    this.#isTranslated = isTranslated;
  }

  read(): Result<string, string> {
    const { source, bytes, height } = this.#alternatives();
    if (!this.#isAtEnd()) this.#fail('")" closes no group');
    if (height > MAX_HEIGHT) this.#fail('it is nested too deep');
    if (bytes > MAX_BYTES) this.#fail('it would take too much memory; use smaller numbers of repetitions');
    return this.#fault === undefined ? ok(source) : err(this.#fault);
  }

  /** Reads until the group or the text ends, and leaves `)` where it is. */
  #alternatives(): Item {
    const steps: string[] = [];
    let bytes = LITERAL_BYTES;
    let height = 0;
    let last: Item | undefined;
    for (this.#skipSpace(); !this.#isAtEnd() && this.#peek() !== ')'; this.#skipSpace()) {
      const character = this.#next();
      if ('*+?{'.includes(character)) {
        if (last !== undefined) steps.pop();
        bytes -= last?.bytes ?? 0;
        last = this.#repeated(character, last);
      } else {
        last = character === '|' ? undefined : this.#step(character);
        if (character === '|') steps.push('|');
      }
      if (last !== undefined) steps.push(last.source);
      bytes += last?.bytes ?? LITERAL_BYTES;
      height = Math.max(height, last?.height ?? 0);
    }
    return { source: steps.join(''), bytes, height: height + 2, kind: 'other' };
  }

  /** Reads a step that begins with the character; `undefined` for flags, which match nothing. */
  #step(character: string): Item | undefined {
    if (character === '(') return this.#group();
    const item = this.#simpleStep(character);
    if (item.codePoint !== undefined) return { ...item, source: characterSource(item.codePoint, this.#flags) };
    return item.kind === 'class' ? { ...item, source: this.#class(item.source) } : item;
  }

  #simpleStep(character: string): Item {
    switch (character) {
      case '[':
        return { ...this.#nested(() => this.#characterClass()), kind: 'other' };
      case '\\':
        return this.#escape();
      case '.':
        return { ...classOf(anySource(this.#flags)), kind: 'other' };
      case '^':
      case '$':
        return place(anchorSource(character, this.#flags));
      default:
        return literal(character);
    }
  }

  #repeated(operator: string, item: Item | undefined): Item {
    if (item === undefined) return this.#fail(`"${operator}" has nothing before it that could be repeated`);
    const { times, written } = operator === '{' ? this.#count() : { times: 1, written: operator };
    this.#skipSpace();
    // Which of several ways to match is taken does not matter here.
    if (this.#peek() === '?') this.#at += 1;
    const source = `(?:${item.source})${written}`;
    return { source, bytes: item.bytes * Math.max(1, times) + LITERAL_BYTES, height: item.height + 1, kind: 'other' };
  }

  /** Reads the rest of `{2}`, `{2,}` or `{2,5}`; returns how often the step is written out at most, and how it is written. */
  #count(): { readonly times: number; readonly written: string } {
    const [whole = '', least = '', comma = '', most = ''] =
      /^\s*(\d*)\s*(?:(,)\s*(\d*)\s*)?\}/.exec(this.#rest(64)) ?? [];
    const [from, to] = [Number(least), Number(most === '' ? least : most)];
    if (least === '') this.#fail('"{" needs a number and "}" after it; write \\{ for the character');
    else if (Math.max(from, to) > MAX_COUNT) this.#fail(`${whole.slice(0, -1)} is too large a number of repetitions`);
    else if (to < from) this.#fail(`{${least},${most}} asks for more repetitions at least than at most`);
    else this.#at += whole.length;
    return { times: most === '' && comma !== '' ? to + 1 : to, written: `{${least}${comma}${most}}` };
  }

  #group(): Item | undefined {
    const ahead = this.#rest(3);
    if (/^\?(?:[=!]|<[=!])/.test(ahead)) return this.#fail('look-around is not supported');
    const outer = this.#flags;
    if (/^\?P?</.test(ahead)) this.#groupName();
    // `(?i)` holds for the rest of the group that it stands in, `(?i:…)` for its own.
    else if (ahead.startsWith('?') && this.#groupFlags() === ')') return undefined;
    const item = this.#nested(() => {
      const body = this.#alternatives();
      if (this.#next() !== ')') this.#fail('"(" is not closed');
      return { ...body, source: `(?:${body.source})`, height: body.height + 1 };
    });
    this.#flags = outer;
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
  #groupFlags(): string {
    const [whole, flags = '', end = ''] = /^\?([^:)]*)([:)])/.exec(this.#rest(this.#characters.length)) ?? [];
    const fault = whole === undefined ? '"(" is not closed' : flagsFault(flags, end);
    if (fault !== undefined) this.#fail(fault);
    this.#at += [...(whole ?? '')].length;
    const [on = '', off = ''] = flags.split('-');
    this.#flags = new Set([...this.#flags, ...on].filter((flag) => !off.includes(flag)));
    return end;
  }

  /** Reads what comes after `[`, up to `]`. Operators take everything on their left and all up to the next one. */
  #characterClass(): Item {
    this.#skipSpace();
    const isNegated = this.#peek() === '^';
    if (isNegated) this.#at += 1;
    const members = this.#leadingCharacters();
    let bytes = CLASS_BYTES;
    let height = 1;
    let left: ((right: string) => string) | undefined;
    const close = (): string => {
      const right = this.#class(members.splice(0).join(''));
      return left === undefined ? right : left(right);
    };
    for (this.#skipSpace(); this.#peek() !== ']'; this.#skipSpace()) {
      if (this.#isAtEnd()) return this.#fail('"[" is not closed');
      const operator = /^(?:&&|--|~~)/.exec(this.#rest(2))?.[0];
      if (operator !== undefined) {
        this.#at += 2;
        left = combine(close(), operator);
        continue;
      }
      const item = this.#member();
      members.push(item.source);
      bytes += item.bytes;
      height = Math.max(height, item.height + 2);
    }
    this.#at += 1;
    const source = close();
    return classOf(isNegated ? `[^${source}]` : source, bytes, height);
  }

  /** "-" and then "]" are characters where they come first. */
  #leadingCharacters(): string[] {
    const members: string[] = [];
    for (this.#skipSpace(); this.#peek() === '-'; this.#skipSpace()) members.push(literal(this.#next()).source);
    if (members.length === 0 && this.#peek() === ']') members.push(literal(this.#next()).source);
    return members;
  }

  #member(): Item {
    const [posix, not, name = ''] = /^\[:(\^?)([a-z]+):\]/.exec(this.#rest(12)) ?? [];
    const posixClass = Object.hasOwn(POSIX_CLASSES, name) ? POSIX_CLASSES[name] : undefined;
    if (posix !== undefined && posixClass !== undefined) {
      this.#at += posix.length;
      return classOf(not === '' ? posixClass : `[^${this.#class(posixClass)}]`);
    }
    if (this.#peek() !== '[') return this.#range();
    this.#at += 1;
    return this.#nested(() => this.#characterClass());
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
    if (from.codePoint > to.codePoint) return this.#fail('the end of a range comes before its beginning');
    return classOf(rangeSource(from.codePoint, to.codePoint));
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
    return item.kind === 'place' ? this.#fail('a place such as \\b cannot be part of a class') : item;
  }

  #escape(): Item {
    const character = this.#next();
    const codePoint = CHARACTERS.get(character);
    const digits = HEX_DIGITS.get(character);
    const perl = PERL_CLASSES[character.toLowerCase()];
    if (codePoint !== undefined) return literal(codePoint);
    if (digits !== undefined) return this.#codePoint(character, digits);
    if (character === '') return this.#fail('"\\" has nothing after it');
    if ('0123456789'.includes(character)) return this.#fail(`\\${character}: back-references are not supported`);
    if (perl !== undefined) return classOf('DSW'.includes(character) ? `[^${perl}]` : perl, PROPERTY_BYTES);
    if ('pP'.includes(character)) return this.#property(character === 'P');
    if (character === 'b') return this.#boundary();
    const found = PLACES[character];
    if (found !== undefined) return place(found);
    return /[A-Za-z]|[^\0-\x7f]/u.test(character) ? this.#fail(`\\${character} has no meaning`) : literal(character);
  }

  /** Reads what may come after `\b`: `{start}` and its like. `{2}` would be a repetition. */
  #boundary(): Item {
    const [whole = ''] = /^\{[-A-Za-z]+\}?/.exec(this.#rest(16)) ?? [];
    this.#at += whole.length;
    const found = PLACES[`b${whole}`];
    return found === undefined ? this.#fail(`\\b${whole} has no meaning`) : place(found);
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

  #property(isOther: boolean): Item {
    const [whole = '', braced, plain] = /^(?:\{([^}]*)\}|([^{]))/u.exec(this.#rest(64)) ?? [];
    const name = braced ?? plain;
    if (name === undefined) return this.#fail('\\p needs a letter, or a name in braces');
    this.#at += [...whole].length;
    const property = unicodeProperty(name);
    if (property === undefined) return this.#fail(`\\p{${name}} is no known property of characters`);
    const source = this.#class(`\\p{${property.name}}`);
    return classOf(isOther !== property.isNegated ? `[^${source}]` : source, PROPERTY_BYTES);
  }

  #class(content: string): string {
    return this.#isTranslated ? classSource(content, this.#flags) : '';
  }

  /** Reads something that may contain its like. */
  #nested(read: () => Item): Item {
    if (this.#depth >= MAX_DEPTH) return this.#fail('it is nested too deep');
    this.#depth += 1;
    const item = read();
    this.#depth -= 1;
    return item;
  }

  /** With flag x, space and comments mean nothing. */
  #skipSpace(): void {
    while (this.#flags.has('x') && !this.#isAtEnd()) {
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

/** Returns what an operator makes of its left side and of a right one. */
function combine(left: string, operator: string): (right: string) => string {
  return operator === '~~'
    ? (right) => `[[${left}--${right}][${right}--${left}]]`
    : (right) => `[${left}${operator}${right}]`;
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
