import { describe, expect, it } from 'vitest';
import { coversHostname, hostnameSpecificity, intersectHostnames } from '../../../src/model/hostname.js';

describe('hostnames', () => {
  it.each([
    ['', 'a.test', 'a.test'],
    ['a.test', '', 'a.test'],
    ['', '', ''],
    ['a.test', 'a.test', 'a.test'],
    ['a.test', 'b.test', undefined],
    ['*.test', 'a.test', 'a.test'],
    ['a.test', '*.test', 'a.test'],
    ['*.test', 'a.b.test', 'a.b.test'],
    ['*.test', 'test', undefined],
    ['*.a.test', 'a.test', undefined],
    ['*.test', '*.a.test', '*.a.test'],
    ['*.a.test', '*.test', '*.a.test'],
    ['*.a.test', '*.b.test', undefined],
    ['*.a.test', 'xa.test', undefined],
    ['*.a.test', '*.xa.test', undefined],
  ])('"%s" and "%s" have "%s" in common', (a, b, common) => {
    expect(intersectHostnames(a, b)).toBe(common);
  });

  it('a wildcard covers a narrower wildcard and itself, never a wider one', () => {
    expect(coversHostname('*.test', '*.a.test')).toBe(true);
    expect(coversHostname('*.test', '*.test')).toBe(true);
    expect(coversHostname('*.a.test', '*.test')).toBe(false);
    expect(coversHostname('*.test', '')).toBe(false);
  });

  it('exact ranks before any wildcard, more labels before fewer, none last', () => {
    const longWildcard = `*.${'a.'.repeat(120)}test`;
    const ranked = ['a', longWildcard, '*.b.test', '*.test', ''].map(hostnameSpecificity);
    expect(ranked).toEqual([...ranked].sort((a, b) => b - a));
    expect(new Set(ranked).size).toBe(ranked.length);
  });
});
