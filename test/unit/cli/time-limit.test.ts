import { describe, expect, it } from 'vitest';
import { withinTime } from '../../../src/cli/time-limit.js';
import { fitsPattern } from '../../../src/explain/pattern.js';

describe('a time limit', () => {
  it('stops a regular expression that goes back and forth', () => {
    expect(withinTime(50, () => fitsPattern('(a+)+', `${'a'.repeat(100)}!`))).toEqual({ ok: false, error: 'late' });
  });

  it('gives what was ready in time', () => {
    expect(withinTime(5000, () => fitsPattern('(a+)+', 'aaa'))).toEqual({ ok: true, value: true });
  });

  it('leaves faults as they are', () => {
    expect(() =>
      withinTime(5000, () => {
        throw new RangeError('a fault');
      }),
    ).toThrow(RangeError);
  });
});
