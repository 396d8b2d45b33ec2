/**
 * What tells two tables apart when their generations do not count.
 */
import { createHash } from 'node:crypto';
import { HEADER } from '../native/layout.gen.js';

/** Bytes of the generation in the header. */
const GENERATION_BYTES = 8;

/** Returns a digest of everything in a table but its generation. Cost: a millisecond a megabyte. */
export function tableDigest(table: Uint8Array): string {
  return createHash('sha256')
    .update(table.subarray(0, HEADER.generation))
    .update(table.subarray(HEADER.generation + GENERATION_BYTES))
    .digest('base64');
}
