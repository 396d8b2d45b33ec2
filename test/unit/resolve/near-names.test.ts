import { describe, expect, it } from 'vitest';
import { NearNames } from '../../../src/resolve/near-names.js';

describe('NearNames', () => {
  it.each([
    ['fronted', ['frontend', 'backend'], 'did you mean "frontend"?'],
    ['web', [], 'there is no Service in namespace shop'],
    ['web', ['cart', 'stock'], 'every Service in namespace shop: cart, stock'],
    ['web', ['cart', 'stock', 'pay', 'auth', 'mail', 'news'], ''],
  ])('%s among %j: %s', (written, names, hint) => {
    expect(new NearNames().hint(written, names, 'Service in namespace shop')).toBe(hint);
  });

  it('stops guessing when everything is misspelt, and goes on with what costs nothing', () => {
    const near = new NearNames();
    const names = Array.from({ length: 10_000 }, (_, index) => `service-${index}`);
    const hints = Array.from({ length: 100 }, () => near.hint('servce-1', names, 'Service'));
    expect(hints[0]).toBe('did you mean "service-1"?');
    expect(hints.at(-1)).toBe('');
    expect(near.hint('web', [], 'Service')).toBe('there is no Service');
  });
});
