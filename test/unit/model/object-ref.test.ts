import { expect, it } from 'vitest';
import { compareSeniority, type Seniority } from '../../../src/model/object-ref.js';

const of = (name: string, createdAt?: number, namespace = 'default'): Seniority => ({ createdAt, namespace, name });

it('the older comes first, an age before none, then namespace and name', () => {
  const sorted = [of('b'), of('a', undefined, 'zz'), of('a'), of('new', 2), of('same', 1), of('old', 0), of('also', 1)];
  sorted.sort(compareSeniority);
  expect(sorted.map(({ namespace, name }) => `${namespace}/${name}`)).toEqual([
    'default/old',
    'default/also',
    'default/same',
    'default/new',
    'default/a',
    'default/b',
    'zz/a',
  ]);
});
