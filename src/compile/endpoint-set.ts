/**
 * Endpoint sets as the immutable blocks that workers read from shared memory: addresses, health, and the order of turns.
 * A change of health is a new block with a new sequence; no worker ever skips an entry.
 */
import { ENDPOINT_BLOCK, ENDPOINT_RECORD, HEALTH_DOWN, HEALTH_UP, MAX_SEQUENCE } from '../native/layout.gen.js';
import type { CompiledEndpointSet } from './clusters.js';
import { parseIpAddress } from './ip-address.js';
import { interleave } from './sequence.js';

/**
 * Returns the block of a set.
 *
 * `isUp(i)` tells whether endpoint i may be used. Weights that need more than `MAX_SEQUENCE` steps are rounded to that many
 * (to one step for each endpoint in larger sets); no usable endpoint gives an empty sequence.
 * Cost: O(endpoints + steps × log steps).
 */
export function encodeEndpointSet(set: CompiledEndpointSet, isUp: (index: number) => boolean): Uint8Array<ArrayBuffer> {
  const { endpoints } = set;
  const sequence = interleave(
    endpoints.map((endpoint, i) => (isUp(i) ? endpoint.weight : 0)),
    MAX_SEQUENCE,
  );
  const sequenceAt = ENDPOINT_BLOCK.size + endpoints.length * ENDPOINT_RECORD.size;
  const block = new Uint8Array(sequenceAt + sequence.length * 2);
  const view = new DataView(block.buffer);
  view.setUint32(ENDPOINT_BLOCK.slot, set.slot, true);
  view.setUint32(ENDPOINT_BLOCK.endpoints, endpoints.length, true);
  view.setUint32(ENDPOINT_BLOCK.sequence, sequence.length, true);
  endpoints.forEach((endpoint, i) => {
    const at = ENDPOINT_BLOCK.size + i * ENDPOINT_RECORD.size;
    const { family, bytes } = parseIpAddress(endpoint.ip);
    view.setUint8(at + ENDPOINT_RECORD.family, family);
    view.setUint8(at + ENDPOINT_RECORD.health, isUp(i) ? HEALTH_UP : HEALTH_DOWN);
    view.setUint16(at + ENDPOINT_RECORD.port, endpoint.port, true);
    view.setUint32(at + ENDPOINT_RECORD.slot, endpoint.slot, true);
    block.set(bytes, at + ENDPOINT_RECORD.ip);
  });
  sequence.forEach((index, step) => {
    view.setUint16(sequenceAt + step * 2, index, true);
  });
  return block;
}
