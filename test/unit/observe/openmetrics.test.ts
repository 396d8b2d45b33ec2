/** The text that scrapers read. */
import { describe, expect, it } from 'vitest';
import { type Family, formatFamilies } from '../../../src/observe/openmetrics.js';

const text = (...families: Family[]): string => [...formatFamilies(families)].join('');

describe('the exposition', () => {
  it('gives counters their suffix, declares units, and ends with EOF', () => {
    const bytes: Family = {
      name: 'weirgate_listener_bytes',
      type: 'counter',
      help: 'Bytes.',
      samples: [{ labels: { direction: 'in' }, value: 12 }],
    };
    expect(text(bytes)).toBe(
      [
        '# TYPE weirgate_listener_bytes counter',
        '# UNIT weirgate_listener_bytes bytes',
        '# HELP weirgate_listener_bytes Bytes.',
        'weirgate_listener_bytes_total{direction="in"} 12',
        '# EOF',
        '',
      ].join('\n'),
    );
  });

  it('escapes what labels and help may hold', () => {
    const family: Family = {
      name: 'x',
      type: 'gauge',
      help: 'a\\b\nc',
      samples: [{ labels: { l: 'q"\\\n' }, value: 1 }],
    };
    expect(text(family)).toContain('# HELP x a\\\\b\\nc\nx{l="q\\"\\\\\\n"} 1\n');
  });

  it('leaves out families without samples, and writes infinities as the format wants', () => {
    const sample = (value: number): Family => ({
      name: 'x',
      type: 'gauge',
      help: '',
      samples: [{ labels: {}, value }],
    });
    expect(text({ name: 'none', type: 'gauge', help: '', samples: [] })).toBe('# EOF\n');
    expect(text(sample(Number.POSITIVE_INFINITY))).toContain('x +Inf\n');
    expect(text(sample(Number.NaN))).toContain('x NaN\n');
  });

  it('comes in pieces, so that a large one blocks nothing for long', () => {
    const samples = Array.from({ length: 5_000 }, (_, i) => ({ labels: { i }, value: i }));
    const pieces = [...formatFamilies([{ name: 'x', type: 'gauge', help: '', samples }])];
    expect(pieces.length).toBeGreaterThan(4);
    expect(pieces.join('').split('\n')).toHaveLength(5_000 + 4);
  });
});
