/**
 * Open-addressed indexes of a table: a power of two of slots, linear probing, at most half full, a seed that keeps probes short.
 */
import { NONE } from '../native/layout.gen.js';

/** A finished index. */
export interface HashIndex {
  /** Hash of the value in each slot; 0 in empty ones. */
  readonly hashes: Uint32Array;
  /** Value in each slot, `NONE` in empty ones. */
  readonly values: Uint32Array;
  /** Slots a lookup may have to look at. */
  readonly probe: number;
}

/** Files value i under `hashes[i]`. Values that are skipped have `skip[i]` set. Cost: O(values). */
export function buildIndex(hashes: Uint32Array, skip?: Uint8Array): HashIndex {
  const slots = slotCount(hashes.length);
  const index = { hashes: new Uint32Array(slots), values: new Uint32Array(slots).fill(NONE), probe: 0 };
  const mask = slots - 1;
  for (let value = 0; value < hashes.length; value++) {
    if (skip?.[value]) continue;
    const hash = hashes[value]!;
    let slot = (hash & mask) >>> 0;
    let distance = 1;
    while (index.values[slot] !== NONE) {
      slot = (slot + 1) & mask;
      distance += 1;
    }
    index.hashes[slot] = hash;
    index.values[slot] = value;
    if (distance > index.probe) index.probe = distance;
  }
  return index;
}

/** A power of two that leaves the index between a quarter and half full; 0 for nothing to file. */
function slotCount(values: number): number {
  if (values === 0) return 0;
  return 2 ** Math.ceil(Math.log2(values * 2));
}
