/**
 * Patterns of Rust's regex crate in JavaScript. The answers are those of regex 1.13.2.
 */
import { describe, expect, it } from 'vitest';
import { fitsPattern } from '../../src/explain/pattern.js';

const FITTING: readonly (readonly [pattern: string, text: string])[] = [
  ['', ''],
  ['/v[0-9]+/.*', '/v12/users'],
  ['a|bc', 'bc'],
  ['(?i)/Shop/K', '/sHOP/\u212a'],
  ['/a(?i:b)c', '/aBc'],
  ['(?i)[a-c]+\\p{Lu}', 'AbCd'],
  ['(?i:a)(?-i:b)', 'Ab'],
  ['(?s)a.b', 'a\nb'],
  ['(?m)a$\n^b', 'a\nb'],
  ['(?x) a  # first\n b', 'ab'],
  ['(?P<year>\\d{4})-\\d{ 2 }', '2026-12'],
  ['\\d+', '\u0661\u0662'],
  ['\\w+', 'h\u00e9llo_1'],
  ['a\\b{end} b', 'a b'],
  ['[[:alpha:]&&[^aeiou]]+', 'xyz'],
  ['[a-z--m-p~~b]', 'c'],
  ['[]a-]+', ']-a'],
  ['\\x41\\u{42}\\.', 'AB.'],
  ['[^\\P{Greek}]', '\u03a9'],
  ['a**', 'aaa'],
  ['.', '\u2028'],
];

const OTHERS: readonly (readonly [pattern: string, text: string])[] = [
  ['a', 'ab'],
  ['a|bc', 'abc'],
  ['a.b', 'a\nb'],
  ['/a(?i:b)c', '/ABC'],
  ['a$b', 'ab'],
  ['a$\n^b', 'a\nb'],
  ['\\w+', 'a-b'],
  ['[a-z&&[^aeiou]]+', 'xay'],
  ['[[:alpha:]]', '\u00e9'],
  ['(?=a)a', 'a'],
];

describe('fitsPattern', () => {
  it.each(FITTING)('%j fits %j', (pattern, text) => {
    expect(fitsPattern(pattern, text)).toBe(true);
  });

  it.each(OTHERS)('%j does not fit %j', (pattern, text) => {
    expect(fitsPattern(pattern, text)).toBe(false);
  });
});
