/**
 * The hash of both indexes of a table: 32-bit FNV-1a, finished by murmur3's mixer. `native/crates/table/src/hash.rs` is its twin.
 */

const PRIME = 0x01000193;
const BASIS = 0x811c9dc5;

/** Hash (u32) of a key below `scope` (parent node or virtual host), apart for each `kind`. Cost: O(length). */
export function hashKey(
  seed: number,
  scope: number,
  kind: number,
  bytes: Uint8Array,
  offset: number,
  length: number,
): number {
  let h = ((BASIS ^ seed) + Math.imul(scope, 0x9e3779b1)) | 0;
  for (let i = offset; i < offset + length; i++) h = Math.imul(h ^ bytes[i]!, PRIME);
  h ^= Math.imul(kind, 0x85ebca77);
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
