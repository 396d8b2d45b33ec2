/**
 * Rules of metadata, the same for every kind.
 */
import type { Resource } from '../../gateway-api/index.js';
import type { Rule, Violate } from './rule.js';

/** Keys and values of all annotations together, in bytes of UTF-8; the limit of an API server. */
const MAX_ANNOTATION_BYTES = 262_144;

function checkAnnotationSize({ metadata }: Resource, violate: Violate): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(metadata.annotations))
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  if (bytes <= MAX_ANNOTATION_BYTES) return;
  violate(
    'metadata.annotations',
    `${bytes} bytes of annotations, at most ${MAX_ANNOTATION_BYTES} are allowed`,
    'put long texts into a ConfigMap',
  );
}

/** The rules of every kind. */
export const METADATA_RULES: readonly Rule<Resource>[] = [
  { code: 'WG3002', says: 'annotations have at most 262144 bytes together', check: checkAnnotationSize },
];
