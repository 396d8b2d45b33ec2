/**
 * Regular expressions of matches. Every verdict here is that of Rust's regex crate 1.13.2, except those of the last table.
 */
import { describe, expect, it } from 'vitest';
import { patternFault } from '../../../src/model/patterns.js';

const GOOD = [
  '',
  '/v[0-9]+/(?:users|teams)/[^/]+',
  '(?i)^/API(/|$)',
  'a|b|',
  '|a',
  '()',
  'a**',
  '^*$+',
  'a{2}',
  'a{2,}?',
  'a{ 2 , 3 }',
  '\\b{2}',
  '}',
  ']',
  '[]a]',
  '[^]a]',
  '[-a]',
  '[a-]',
  '[a-z&&[^aeiou]]',
  '[a-z--m]',
  '[[:^alpha:][:digit:]]',
  '[\\d\\w-]',
  '[\\x00-\\u{10FFFF}]',
  '\\x41\\u0041\\U00000041\\x{41}',
  '\\pL\\PN\\p{Greek}\\p{sc=Grek}\\p{gc:Lu}\\P{white space}\\p{any}',
  '\\A\\z\\b\\B\\b{start}\\b{end-half}\\<\\>',
  '\\/\\"\\ \\_\\-',
  '(?P<year>[0-9]{4})-(?<month>[0-9]{2})',
  '(?s-i:.)(?x) a b # a comment',
  '(?x: a ) b',
  'é😀',
];

const BAD: readonly (readonly [pattern: string, fault: string])[] = [
  ['(', '"(" is not closed'],
  [')', '")" closes no group'],
  ['(?', '"(" is not closed'],
  ['*', '"*" has nothing before it that could be repeated'],
  ['a|+', '"+" has nothing before it that could be repeated'],
  ['(?i)?', '"?" has nothing before it that could be repeated'],
  ['a{', '"{" needs a number and "}" after it; write \\{ for the character'],
  ['a{,2}', '"{" needs a number and "}" after it; write \\{ for the character'],
  ['a{3,2}', '{3,2} asks for more repetitions at least than at most'],
  ['a{99999999999}', '99999999999 is too large a number of repetitions'],
  ['(?=a)', 'look-around is not supported'],
  ['(?!a)', 'look-around is not supported'],
  ['(?<=a)', 'look-around is not supported'],
  ['(?<!a)', 'look-around is not supported'],
  ['(a)\\1', '\\1: back-references are not supported'],
  ['(?P<n>a)(?P=n)', '"P" is no flag of a group; there are imsUuRx'],
  ['(?<1>a)', '"1" is no name of a group'],
  ['(?<n>a)(?<n>b)', 'two groups have the name "n"'],
  ['(?<n', 'the name of a group is not closed by ">"'],
  ['(?)', '"(?)" has neither flags nor a pattern'],
  ['(?q)', '"q" is no flag of a group; there are imsUuRx'],
  ['(?i-i)', 'the flags "i-i" have one of them twice'],
  ['(?i-)', '"-" among flags stands once, before those that it switches off'],
  ['[', '"[" is not closed'],
  ['[]', '"[" is not closed'],
  ['[a-', '"[" is not closed'],
  ['[z-a]', 'the end of a range comes before its beginning'],
  ['[a-\\d]', 'a range goes from one character to another'],
  ['[\\b]', 'a place such as \\b cannot be part of a class'],
  ['\\', '"\\" has nothing after it'],
  ['\\Z', '\\Z has no meaning'],
  ['\\é', '\\é has no meaning'],
  ['\\b{middle}', '\\b{middle} has no meaning'],
  ['\\x4', '\\x needs 2 hexadecimal digits, or some in braces'],
  ['\\u{D800}', '\\u{D800} is no character'],
  ['\\p', '\\p needs a letter, or a name in braces'],
  ['\\p{Klingon}', '\\p{Klingon} is no known property of characters'],
  ['\\p{age}', '\\p{age} is no known property of characters'],
];

/** What the crate would take and Weirgate does not. */
const REFUSED: readonly (readonly [pattern: string, fault: string])[] = [
  ['(?-u)a', 'Unicode cannot be switched off'],
  ['(a{500}){500}', 'it would take too much memory; use smaller numbers of repetitions'],
  ['\\pL{210}', 'it would take too much memory; use smaller numbers of repetitions'],
  [`${'('.repeat(100)}a${')'.repeat(100)}`, 'it is nested too deep'],
];

describe('patternFault', () => {
  it.each(GOOD.map((pattern) => [pattern]))('takes %j', (pattern) => {
    expect(patternFault(pattern)).toBeUndefined();
  });

  it.each(BAD)('refuses %j and says why', (pattern, fault) => {
    expect(patternFault(pattern)).toBe(fault);
  });

  it.each(REFUSED)('refuses %j though the crate would take it', (pattern, fault) => {
    expect(patternFault(pattern)).toBe(fault);
  });

  it('costs little, however deep a pattern is nested', () => {
    for (const part of ['(', '[', '(?:', 'a*', '((a', '[^[', '(?x)# ', '\\']) {
      expect(() => patternFault(part.repeat(2000))).not.toThrow();
    }
  });
});
