/**
 * Stable ids for everything that shared memory addresses: the same (kind, key) has the same id in every generation.
 *
 * Reuse: an id whose key vanishes is *retired*, never freed by itself; it returns to its key if that comes back (a route
 * removed and added again goes on counting where it was). Only `free` makes an id available to other keys, and only the
 * primary may call it, for ids that `retiredBefore(oldest)` names, `oldest` being the oldest generation that any worker or
 * request still holds, and whose gauges are zero in every column (sessions copy slot ids and hold no generation). The
 * cells of a reused slot start from what they hold, since counters never go backwards: readers subtract that base.
 */
import { MAX_SETS, MAX_SLOTS, MAX_SOCKETS } from '../native/layout.gen.js';
import { CompileError } from './compile-error.js';

/** What an id names. `listener`, `action`, `endpoint` and `cursor` (of an endpoint set) share one space of slots. */
export type SlotKind = 'socket' | 'set' | 'listener' | 'action' | 'endpoint' | 'cursor';

type SpaceName = 'socket' | 'set' | 'slot';

const SPACE_OF: Readonly<Record<SlotKind, SpaceName>> = {
  socket: 'socket',
  set: 'set',
  listener: 'slot',
  action: 'slot',
  endpoint: 'slot',
  cursor: 'slot',
};

/** Slot 0 stays unused, so that a record of zeros names nothing that counts. */
const FIRST_ID: Readonly<Record<SpaceName, number>> = { socket: 0, set: 0, slot: 1 };
const LIMIT: Readonly<Record<SpaceName, number>> = { socket: MAX_SOCKETS, set: MAX_SETS, slot: MAX_SLOTS };

/** A book as plain data. */
export interface SlotBookState {
  readonly kinds: readonly {
    readonly kind: SlotKind;
    readonly keys: readonly string[];
    readonly ids: readonly number[];
    /** Generation in which the key vanished; -1: in use. */
    readonly retired: readonly number[];
  }[];
  readonly spaces: readonly { readonly space: SpaceName; readonly next: number; readonly free: readonly number[] }[];
}

/** An id that no key of the newest generation uses. */
export interface RetiredId {
  readonly kind: SlotKind;
  readonly key: string;
  readonly id: number;
}

interface Entry {
  readonly id: number;
  /** Stamp of the generation that claimed the key last. */
  claimed: number;
  /** Generation in which the key vanished; -1: in use. */
  retired: number;
}

interface Space {
  next: number;
  readonly free: number[];
}

const KINDS = Object.keys(SPACE_OF) as SlotKind[];
const SPACES = Object.keys(LIMIT) as SpaceName[];

/** How an entry was when the trial began; no `id`: there was none. */
interface Change {
  readonly entries: Map<string, Entry>;
  readonly key: string;
  readonly id: number | undefined;
  readonly retired: number;
}

/** What is needed to take a trial back. */
interface Trial {
  readonly changes: Change[];
  readonly spaces: SlotBookState['spaces'];
}

/** The mutable book; it belongs to one thread and travels between threads as `SlotBookState`. */
export class SlotBook {
  readonly #entries = new Map<SlotKind, Map<string, Entry>>(KINDS.map((kind) => [kind, new Map()]));
  readonly #spaces = new Map<SpaceName, Space>(SPACES.map((name) => [name, { next: FIRST_ID[name], free: [] }]));

  /** Stands for a generation. The number of one that was taken back comes again; its stamp does not. */
  #stamp = 0;
  #stamped: number | undefined;
  #trial: Trial | undefined;

  /** Returns the book that `toJSON` described. */
  static from(state: SlotBookState): SlotBook {
    const book = new SlotBook();
    for (const { kind, keys, ids, retired } of state.kinds) {
      const entries = book.#kind(kind);
      keys.forEach((key, i) => {
        entries.set(key, { id: ids[i]!, claimed: -1, retired: retired[i]! });
      });
    }
    for (const { space, next, free } of state.spaces) {
      book.#spaces.set(space, { next, free: [...free] });
    }
    return book;
  }

  /** Returns the book as plain data. */
  toJSON(): SlotBookState {
    return {
      spaces: this.#spacesState(),
      kinds: KINDS.map((kind) => {
        const entries = this.#kind(kind);
        const values = [...entries.values()];
        return {
          kind,
          keys: [...entries.keys()],
          ids: values.map((entry) => entry.id),
          retired: values.map((entry) => entry.retired),
        };
      }),
    };
  }

  /** From here on, until `keep`, everything can be taken back. Copying a book of 100,000 keys for each try would cost more than most tries. */
  begin(): void {
    this.#trial = { changes: [], spaces: this.#spacesState() };
  }

  /** What was done since `begin` stays. */
  keep(): void {
    this.#trial = undefined;
  }

  /** Takes back what was done since `begin`; does nothing if that was kept. Cost: O(what changed). */
  rollback(): void {
    const trial = this.#trial;
    if (trial === undefined) return;
    this.#trial = undefined;
    this.#stamped = undefined;
    for (const { entries, key, id, retired } of trial.changes.reverse()) {
      if (id === undefined) entries.delete(key);
      else entries.set(key, { id, claimed: -1, retired });
    }
    for (const { space, next, free } of trial.spaces) this.#spaces.set(space, { next, free: [...free] });
  }

  /**
   * Returns the id of a key, new or as it was in earlier generations.
   * Throws `CompileError` (limit) when its space is used up.
   */
  claim(kind: SlotKind, key: string, generation: number): number {
    const stamp = this.#stampOf(generation);
    const entries = this.#kind(kind);
    const known = entries.get(key);
    if (known !== undefined) {
      if (known.retired !== -1) this.#note(entries, key, known);
      known.claimed = stamp;
      known.retired = -1;
      return known.id;
    }
    const name = SPACE_OF[kind];
    const space = this.#space(name);
    const id = space.free.pop() ?? space.next;
    if (id >= LIMIT[name])
      throw new CompileError('limit', `no ${name} ids are left for ${kind} ${key}: ${LIMIT[name]} are in use`);
    if (id === space.next) space.next += 1;
    this.#note(entries, key, undefined);
    entries.set(key, { id, claimed: stamp, retired: -1 });
    return id;
  }

  /** Retires every key that `generation` did not claim. Cost: O(all keys). */
  retireUnclaimed(generation: number): void {
    const stamp = this.#stampOf(generation);
    for (const entries of this.#entries.values()) {
      for (const [key, entry] of entries) {
        if (entry.retired !== -1 || entry.claimed === stamp) continue;
        this.#note(entries, key, entry);
        entry.retired = generation;
      }
    }
  }

  /** Lists ids that vanished in or before `oldest`, the oldest generation still held anywhere. */
  retiredBefore(oldest: number): RetiredId[] {
    const found: RetiredId[] = [];
    for (const [kind, entries] of this.#entries) {
      for (const [key, entry] of entries) {
        if (entry.retired !== -1 && entry.retired <= oldest) found.push({ kind, key, id: entry.id });
      }
    }
    return found;
  }

  /** Makes retired ids available to other keys; those in use again meanwhile are left alone. */
  free(ids: readonly RetiredId[]): void {
    for (const { kind, key, id } of ids) {
      const entries = this.#kind(kind);
      const entry = entries.get(key);
      if (entry === undefined || entry.id !== id || entry.retired === -1) continue;
      this.#note(entries, key, entry);
      entries.delete(key);
      this.#space(SPACE_OF[kind]).free.push(id);
    }
  }

  #stampOf(generation: number): number {
    if (generation !== this.#stamped) {
      this.#stamp += 1;
      this.#stamped = generation;
    }
    return this.#stamp;
  }

  #note(entries: Map<string, Entry>, key: string, entry: Entry | undefined): void {
    this.#trial?.changes.push({ entries, key, id: entry?.id, retired: entry?.retired ?? -1 });
  }

  #spacesState(): SlotBookState['spaces'] {
    return SPACES.map((space) => {
      const { next, free } = this.#space(space);
      return { space, next, free: [...free] };
    });
  }

  #kind(kind: SlotKind): Map<string, Entry> {
    return this.#entries.get(kind)!;
  }

  #space(name: SpaceName): Space {
    return this.#spaces.get(name)!;
  }
}
