import { describe, expect, it } from 'vitest';
import { CompileError, SlotBook } from '../../src/compile/compile.js';
import { MAX_SOCKETS } from '../../src/native/layout.gen.js';

describe('SlotBook', () => {
  it('gives a key the same id in every generation and kinds of one space different ids', () => {
    const book = new SlotBook();
    const listener = book.claim('listener', 'x', 1);
    const action = book.claim('action', 'x', 1);
    expect(action).not.toBe(listener);
    expect(listener).not.toBe(0);
    expect(book.claim('listener', 'x', 2)).toBe(listener);
    expect(book.claim('socket', 'x', 2)).toBe(0);
  });

  it('gives a key that comes back the id it had', () => {
    const book = new SlotBook();
    const id = book.claim('action', 'gone', 1);
    book.retireUnclaimed(2);
    book.claim('action', 'other', 3);
    expect(book.claim('action', 'gone', 3)).toBe(id);
    expect(book.retiredBefore(99)).toEqual([]);
  });

  it('hands an id to another key only after it was freed', () => {
    const book = new SlotBook();
    const id = book.claim('action', 'gone', 1);
    book.retireUnclaimed(5);
    expect(book.retiredBefore(4)).toEqual([]);
    const retired = book.retiredBefore(5);
    expect(retired).toEqual([{ kind: 'action', key: 'gone', id }]);
    expect(book.claim('action', 'second', 6)).not.toBe(id);
    book.free(retired);
    expect(book.claim('action', 'third', 6)).toBe(id);
    expect(book.claim('action', 'gone', 6)).not.toBe(id);
  });

  it('does not free an id whose key came back meanwhile', () => {
    const book = new SlotBook();
    const id = book.claim('action', 'flapping', 1);
    book.retireUnclaimed(2);
    const retired = book.retiredBefore(2);
    book.claim('action', 'flapping', 3);
    book.free(retired);
    expect(book.claim('action', 'other', 3)).not.toBe(id);
    expect(book.claim('action', 'flapping', 4)).toBe(id);
  });

  it('is the same book after a trip as plain data', () => {
    const book = new SlotBook();
    const kept = book.claim('endpoint', 'kept', 1);
    book.claim('endpoint', 'gone', 1);
    book.claim('endpoint', 'freed', 1);
    book.claim('endpoint', 'kept', 2);
    book.claim('endpoint', 'gone', 2);
    book.retireUnclaimed(2);
    book.free(book.retiredBefore(2));
    book.claim('endpoint', 'kept', 3);
    book.retireUnclaimed(3);
    const copy = SlotBook.from(structuredClone(book.toJSON()));
    expect(copy.toJSON()).toEqual(book.toJSON());
    expect(copy.retiredBefore(3)).toEqual(book.retiredBefore(3));
    expect(copy.claim('endpoint', 'kept', 4)).toBe(kept);
    expect(copy.claim('endpoint', 'new', 4)).toBe(book.claim('endpoint', 'new', 4));
  });

  it('refuses with a stable code when a space is used up', () => {
    const book = SlotBook.from({ kinds: [], spaces: [{ space: 'socket', next: MAX_SOCKETS, free: [] }] });
    expect(() => book.claim('socket', 'tcp/1.2.3.4:1', 1)).toThrow(
      expect.objectContaining({ name: CompileError.name, code: 'WEIRGATE_TABLE_LIMIT' }),
    );
  });

  it('takes back a trial as if it had not been, claims included', () => {
    const book = new SlotBook();
    for (const key of ['stays', 'goes', 'comes back']) book.claim('action', key, 1);
    book.retireUnclaimed(1);
    book.claim('action', 'stays', 2);
    book.claim('action', 'goes', 2);
    book.retireUnclaimed(2);
    const before = book.toJSON();

    book.begin();
    book.free(book.retiredBefore(2));
    book.claim('action', 'stays', 3);
    book.claim('action', 'comes back', 3);
    book.claim('action', 'new', 3);
    book.retireUnclaimed(3);
    book.rollback();
    const sorted = (state: typeof before): unknown =>
      state.kinds.map(({ keys, ids, retired }) => keys.map((key, i) => [key, ids[i], retired[i]]).sort());
    expect(sorted(book.toJSON())).toEqual(sorted(before));
    expect(book.toJSON().spaces).toEqual(before.spaces);

    // The number of the generation comes again: what the trial claimed is not claimed now.
    book.claim('action', 'goes', 3);
    book.retireUnclaimed(3);
    expect(book.retiredBefore(3).map(({ key }) => key)).toEqual(expect.arrayContaining(['stays', 'comes back']));
  });

  it('keeps a trial that was kept', () => {
    const book = new SlotBook();
    book.begin();
    const id = book.claim('action', 'x', 1);
    book.keep();
    book.rollback();
    expect(book.claim('action', 'x', 1)).toBe(id);
    expect(book.toJSON().kinds.flatMap(({ keys }) => keys)).toEqual(['x']);
  });
});
