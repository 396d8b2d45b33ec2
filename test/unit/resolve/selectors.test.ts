import { describe, expect, it } from 'vitest';
import { selects } from '../../../src/resolve/selectors.js';

const labels = { team: 'red', stage: 'test' };

describe('label selectors', () => {
  it('an empty selector selects everything', () => {
    expect(selects({}, {})).toBe(true);
    expect(selects({ matchLabels: {}, matchExpressions: [] }, labels)).toBe(true);
  });

  it.each([
    ['equal label', { matchLabels: { team: 'red' } }, true],
    ['one of two labels differs', { matchLabels: { team: 'red', stage: 'live' } }, false],
    ['a name that every object inherits', { matchLabels: { constructor: 'x' } }, false],
    ['In', { matchExpressions: [{ key: 'team', operator: 'In', values: ['blue', 'red'] }] }, true],
    ['In without the label', { matchExpressions: [{ key: 'zone', operator: 'In', values: ['red'] }] }, false],
    ['NotIn', { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['red'] }] }, false],
    ['NotIn without the label', { matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['red'] }] }, true],
    ['Exists', { matchExpressions: [{ key: 'stage', operator: 'Exists' }] }, true],
    ['Exists for an inherited name', { matchExpressions: [{ key: 'toString', operator: 'Exists' }] }, false],
    ['DoesNotExist', { matchExpressions: [{ key: 'stage', operator: 'DoesNotExist' }] }, false],
    ['an operator that nobody knows', { matchExpressions: [{ key: 'team', operator: 'toString' }] }, false],
    ['NotIn without values', { matchExpressions: [{ key: 'zone', operator: 'NotIn' }] }, false],
    ['Exists with values', { matchExpressions: [{ key: 'team', operator: 'Exists', values: ['red'] }] }, false],
    [
      'labels and expressions together',
      { matchLabels: { team: 'red' }, matchExpressions: [{ key: 'stage', operator: 'NotIn', values: ['test'] }] },
      false,
    ],
  ] as const)('%s', (_, selector, expected) => {
    expect(selects(selector, labels)).toBe(expected);
  });
});
