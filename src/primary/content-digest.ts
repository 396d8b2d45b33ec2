/**
 * What tells whether the content of an object changed: a digest of everything but its metadata and its status. Computed where files
 * are parsed, by many threads, and kept with what was admitted. Pure but for what it remembers. Serves the ledger and both pools.
 */
import { createHash } from 'node:crypto';
import type { AdmittedFile } from '../admit/index.js';
import { GATEWAY_GROUP, KINDS, type Resource, WEIRGATE_GROUP } from '../gateway-api/index.js';

/** Characters of a digest: 132 bits of base64url. */
export const DIGEST_CHARACTERS = 22;

/** Kinds whose generation an API server counts: those that custom resource definitions describe. */
const COUNTED: ReadonlySet<string> = new Set(
  KINDS.filter(({ group }) => group === GATEWAY_GROUP || group === WEIRGATE_GROUP).map(({ kind }) => kind),
);

/** Returns whether objects of a kind have a generation. */
export function hasGeneration(kind: string): boolean {
  return COUNTED.has(kind);
}

/** Digests that are known, by the object. */
const DIGESTS = new WeakMap<Resource, string>();

/** Equal for equal content, whatever the order of keys. Computed when it is first asked for: about 5 µs. */
export function contentDigest(resource: Resource): string {
  let digest = DIGESTS.get(resource);
  if (digest === undefined) {
    const text = contentText(resource);
    digest = createHash('sha256').update(text).digest('base64url').slice(0, DIGEST_CHARACTERS);
    DIGESTS.set(resource, digest);
  }
  return digest;
}

/** Returns the digests of the objects of a file, in their order; `''` where no generation is counted. */
export function digestsOf({ resources }: AdmittedFile): string[] {
  return resources.map((resource) => (hasGeneration(resource.kind) ? contentDigest(resource) : ''));
}

/** Takes over what `digestsOf` gave for a copy of this file. */
export function adoptDigests({ resources }: AdmittedFile, digests: readonly string[]): void {
  for (const [index, resource] of resources.entries()) {
    const digest = digests[index];
    if (digest !== undefined && digest.length === DIGEST_CHARACTERS) DIGESTS.set(resource, digest);
  }
}

function contentText(resource: Resource): string {
  const { apiVersion, kind, metadata, status, file, positions, ...content } = resource;
  return canonicalText(content);
}

/** JSON with sorted keys. */
function canonicalText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonicalText(field)}`).join()}}`;
}
