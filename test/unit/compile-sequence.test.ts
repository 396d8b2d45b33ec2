import { describe, expect, it } from 'vitest';
import { interleave } from '../../src/compile/sequence.js';

function counts(sequence: Uint16Array, members: number): number[] {
  const found = new Array<number>(members).fill(0);
  for (const member of sequence) found[member]! += 1;
  return found;
}

describe('interleave', () => {
  it.each([
    { weights: [], expected: [] },
    { weights: [0, 0], expected: [] },
    { weights: [7], expected: [0] },
    { weights: [3, 3, 3], expected: [0, 1, 2] },
    { weights: [80, 20], expected: [0, 0, 1, 0, 0] },
    { weights: [1, 0, 1], expected: [0, 2] },
    { weights: [2, 1], expected: [0, 1, 0] },
  ])('visits $weights in the order $expected', ({ weights, expected }) => {
    expect([...interleave(weights, 4096)]).toEqual(expected);
  });

  it('gives every member its weight in one round', () => {
    expect(counts(interleave([5, 3, 2, 1], 4096), 4)).toEqual([5, 3, 2, 1]);
    expect(counts(interleave([500, 300, 200], 4096), 3)).toEqual([5, 3, 2]);
  });

  it('keeps every stretch within one step of its share', () => {
    const weights = [70, 20, 9, 1];
    const sequence = interleave(weights, 4096);
    const seen = [0, 0, 0, 0];
    sequence.forEach((member, step) => {
      seen[member]! += 1;
      seen.forEach((count, i) => {
        expect(Math.abs(count - ((step + 1) * weights[i]!) / 100)).toBeLessThanOrEqual(1);
      });
    });
  });

  it('rounds weights that are too fine, never to nothing', () => {
    const sequence = interleave([1_000_000, 1, 333_333], 4096);
    const [large = 0, small = 0, third = 0] = counts(sequence, 3);
    expect(sequence.length).toBe(4096);
    expect(small).toBe(1);
    expect(large / third).toBeCloseTo(3, 1);
  });

  it('never takes more than the members above their share have when many are raised to one step', () => {
    const weights = [1_000_000, ...new Array<number>(4000).fill(1)];
    const sequence = interleave(weights, 4096);
    expect(sequence.length).toBe(4096);
    expect(counts(sequence, 4001).every((count) => count >= 1)).toBe(true);
  });

  it('gives each of more members than the limit one step', () => {
    const weights = Array.from({ length: 10_000 }, (_, i) => (i % 7) + 1);
    const sequence = interleave(weights, 4096);
    expect(sequence.length).toBe(10_000);
    expect(new Set(sequence).size).toBe(10_000);
  });
});
