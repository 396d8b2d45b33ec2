/**
 * The ledger: what an API server would remember about an object beside its content, that is its generation and the status
 * that it had. Pure. Serves `build-state.ts`; `ledger-file.ts` makes it outlive the process.
 */
import { createHash } from 'node:crypto';
import { GATEWAY_GROUP, KINDS, objectLabel, type Resource, WEIRGATE_GROUP } from '../gateway-api/index.js';
import { type MergedStatus, mergeStatus, type ObjectStatus } from '../status/index.js';

/** What is remembered about one object. */
export interface LedgerEntry {
  readonly content: Content;
  readonly generation: number;
  /** Ours, with transition times; `undefined`: there is none. After a restart types, statuses and times alone. */
  readonly status: MergedStatus | undefined;
}

/** By `objectLabel`. */
export type Ledger = ReadonlyMap<string, LedgerEntry>;

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

/** What decides the generation of an object: everything but its metadata and its status. */
export class Content {
  readonly #resource: Resource | undefined;
  #digest: string | undefined;

  private constructor(resource: Resource | undefined, digest: string | undefined) {
    this.#resource = resource;
    this.#digest = digest;
  }

  static of(resource: Resource): Content {
    return new Content(resource, undefined);
  }

  static withDigest(digest: string): Content {
    return new Content(undefined, digest);
  }

  /** Equal for equal content, whatever the order of keys. Computed when it is first asked for: about 5 µs. */
  get digest(): string {
    if (this.#digest === undefined) {
      const text = this.#resource === undefined ? '' : contentText(this.#resource);
      this.#digest = createHash('sha256').update(text).digest('base64url').slice(0, DIGEST_CHARACTERS);
    }
    return this.#digest;
  }

  /** Objects of files that did not change are the very same: nothing is computed for them. */
  isOf(resource: Resource): boolean {
    return this.#resource === resource;
  }
}

/** The objects of a build with their generations, and what is remembered about them, statuses still those of before. */
export interface Counted {
  readonly resources: readonly Resource[];
  readonly ledger: Ledger;
  /** Labels of refused objects that are remembered. */
  readonly dormant: ReadonlySet<string>;
}

/**
 * Counts generations: one more where the content changed, and never less than the file says, which may come from a cluster.
 * `refused` are the labels of objects that have errors now: they keep what they had. Objects that are gone are forgotten,
 * for an API server would begin anew as well. Cost: linear, with digests of what changed.
 */
export function countGenerations(resources: readonly Resource[], refused: Iterable<string>, before: Ledger): Counted {
  const ledger = new Map<string, LedgerEntry>();
  const counted = resources.map((resource) => {
    if (!COUNTED.has(resource.kind)) return resource;
    const label = labelOf(resource);
    const entry = nextEntry(resource, before.get(label));
    ledger.set(label, entry);
    return withGeneration(resource, entry.generation);
  });
  const dormant = new Set<string>();
  for (const label of refused) {
    const known = before.get(label);
    if (known === undefined) continue;
    ledger.set(label, known);
    dormant.add(label);
  }
  return { resources: counted, ledger, dormant };
}

function nextEntry(resource: Resource, known: LedgerEntry | undefined): LedgerEntry {
  const written = Math.max(1, resource.metadata.generation);
  if (known === undefined) return { content: Content.of(resource), generation: written, status: undefined };
  if (known.content.isOf(resource)) return known;
  const content = Content.of(resource);
  const counted = known.content.digest === content.digest ? known.generation : known.generation + 1;
  const generation = Math.min(Math.max(counted, written), Number.MAX_SAFE_INTEGER);
  return { content, generation, status: known.status };
}

/**
 * Returns the ledger once the objects have these statuses: an object's own times where a condition stays, `now` (RFC 3339)
 * where it moves. An entry in which nothing moved is the very same. What has no status any more loses it.
 */
export function recordStatuses({ ledger, dormant }: Counted, statuses: readonly ObjectStatus[], now: string): Ledger {
  const byLabel = new Map(statuses.map((each) => [objectLabel(each.kind, each.namespace, each.name), each]));
  const recorded = new Map<string, LedgerEntry>();
  for (const [label, entry] of ledger) {
    const next = byLabel.get(label);
    const status = next === undefined ? undefined : mergeStatus(entry.status, next, now);
    const stays = status === entry.status || dormant.has(label);
    recorded.set(label, stays ? entry : { ...entry, status });
  }
  return recorded;
}

/** Objects with another generation than the file says, by the object of the file: equal ones have to stay the same object. */
const NUMBERED = new WeakMap<Resource, Resource>();

function withGeneration(resource: Resource, generation: number): Resource {
  if (resource.metadata.generation === generation) return resource;
  const known = NUMBERED.get(resource);
  if (known?.metadata.generation === generation) return known;
  const numbered: Resource = { ...resource, metadata: { ...resource.metadata, generation } };
  NUMBERED.set(resource, numbered);
  return numbered;
}

function labelOf({ kind, metadata }: Resource): string {
  return objectLabel(kind, metadata.namespace, metadata.name);
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
