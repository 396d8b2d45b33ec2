/**
 * What the slots of shared memory count: names for metrics, over generations. A name stays while its slot is not given to
 * another one, so that counters of removed objects do not vanish from one scrape to the next.
 * Serves `metrics.ts` and `primary/`.
 */

export type CountedKind = 'listener' | 'action' | 'endpoint';

/** Metric labels by slot of one generation, as `compile` returns them. */
export interface SlotNames {
  readonly listeners: readonly { readonly slot: number; readonly name: string }[];
  readonly actions: readonly { readonly slot: number; readonly name: string }[];
  readonly endpoints: readonly { readonly slot: number; readonly cluster: string; readonly address: string }[];
}

/** Reads the summed counter cells of one slot. */
export type ReadSlot = (slot: number) => Float64Array;

/** A slot with its labels, and what its cells held when its present name got it. */
export interface RegisteredSlot {
  readonly kind: CountedKind;
  readonly slot: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Undefined: nothing. */
  readonly base: Float64Array | undefined;
}

/** Grows with the slots ever used (at most 1,048,576). */
export class SlotRegistry {
  readonly #slots = new Map<number, RegisteredSlot & { readonly name: string }>();
  #highest = 0;

  /** Highest slot number ever named. */
  get highest(): number {
    return this.#highest;
  }

  /** Takes the names of a generation. A slot that changes hands counts from its present value on. */
  update(names: SlotNames, read: ReadSlot): void {
    for (const { slot, name } of names.listeners) this.#name(read, 'listener', slot, name, () => ({ listener: name }));
    for (const { slot, name } of names.actions) this.#name(read, 'action', slot, name, () => routeLabels(name));
    for (const { slot, cluster, address } of names.endpoints) {
      this.#name(read, 'endpoint', slot, `${cluster} ${address}`, () => ({ cluster, endpoint: address }));
    }
  }

  /** Returns the slots of one kind, in the order in which they were first used. */
  *ofKind(kind: CountedKind): Generator<RegisteredSlot> {
    for (const slot of this.#slots.values()) if (slot.kind === kind) yield slot;
  }

  #name(read: ReadSlot, kind: CountedKind, slot: number, name: string, labels: () => Record<string, string>): void {
    const known = this.#slots.get(slot);
    if (known?.kind === kind && known.name === name) return;
    const base = known === undefined ? undefined : read(slot).slice();
    this.#slots.set(slot, { kind, slot, name, labels: labels(), base });
    this.#highest = Math.max(this.#highest, slot);
  }
}

/** `HTTPRoute/default/web/0` is rule 0 of a route. */
function routeLabels(name: string): Record<string, string> {
  const cut = name.lastIndexOf('/');
  return { route: name.slice(0, cut), rule: name.slice(cut + 1) };
}
