/**
 * The resources of a snapshot, by kind in order of seniority and by name.
 */
import type { Snapshot } from '../admit/snapshot.js';
import { objectLabel, type Resource, type ResourceKind, type ResourceOf } from '../gateway-api/index.js';
import { compareSeniority, objectName, type Seniority } from '../model/object-ref.js';
import { NearNames } from './near-names.js';

/** Look-ups over a snapshot. Costs one sort per kind, or a pass where a kind is in order already; the names of a kind are filed when somebody asks. */
export class Inventory {
  readonly #kinds = new Map<ResourceKind, readonly Resource[]>();
  readonly #byName = new Map<ResourceKind, ReadonlyMap<string, Resource>>();
  readonly #refused: Snapshot['refused'];
  readonly #near = new NearNames();
  readonly #names = new Map<ResourceKind, Map<string, string[]>>();

  constructor({ resources, refused }: Pick<Snapshot, 'resources' | 'refused'>) {
    this.#refused = refused;
    const kinds = new Map<ResourceKind, Resource[]>();
    for (const resource of resources) {
      const list = kinds.get(resource.kind);
      if (list === undefined) kinds.set(resource.kind, [resource]);
      else list.push(resource);
    }
    for (const [kind, list] of kinds) this.#kinds.set(kind, sortBySeniority(list));
  }

  /** Returns all resources of a kind in order of seniority. */
  all<K extends ResourceKind>(kind: K): readonly ResourceOf<K>[] {
    return (this.#kinds.get(kind) ?? []) as readonly ResourceOf<K>[];
  }

  /** Returns the resource with this name; the namespace is `''` for kinds without one. */
  find<K extends ResourceKind>(kind: K, namespace: string, name: string): ResourceOf<K> | undefined {
    let byName = this.#byName.get(kind);
    if (byName === undefined) {
      byName = new Map(this.all(kind).map((resource) => [objectName(resource.metadata), resource]));
      this.#byName.set(kind, byName);
    }
    return byName.get(objectName({ namespace, name })) as ResourceOf<K> | undefined;
  }

  /** Returns the end of a sentence about an object that `find` does not find: not there, or refused by admission. */
  absence(kind: ResourceKind, namespace: string, name: string): string {
    const isRefused = this.#refused.has(objectLabel(kind, namespace, name));
    return isRefused ? 'which is refused for errors of its own' : 'which does not exist';
  }

  /**
   * Returns the hint for an object that `find` does not find: the name that was meant, if it can be guessed. Only for a namespace
   * whose names the asker may see. Cost: a pass over the kind for the first of all questions, then bounded; see `near-names.ts`.
   */
  suggestion(kind: ResourceKind, namespace: string, name: string): string {
    if (this.#refused.has(objectLabel(kind, namespace, name))) return 'correct its errors first';
    const what = namespace === '' ? kind : `${kind} in namespace ${namespace}`;
    return this.#near.hint(name, this.#namesOf(kind).get(namespace) ?? [], what);
  }

  /** Returns which of a few names that the asker may see was meant, if it can be guessed. Cost: bounded, as with `suggestion`. */
  nearest(written: string, names: readonly string[]): string | undefined {
    return this.#near.nearest(written, names);
  }

  #namesOf(kind: ResourceKind): ReadonlyMap<string, readonly string[]> {
    let byNamespace = this.#names.get(kind);
    if (byNamespace === undefined) {
      byNamespace = new Map();
      for (const { metadata } of this.all(kind)) {
        const names = byNamespace.get(metadata.namespace);
        if (names === undefined) byNamespace.set(metadata.namespace, [metadata.name]);
        else names.push(metadata.name);
      }
      this.#names.set(kind, byNamespace);
    }
    return byNamespace;
  }
}

/** Returns what decides between two resources that claim the same. */
export function seniorityOf({ metadata }: Resource): Seniority {
  const { creationTimestamp, namespace, name } = metadata;
  return { createdAt: creationTimestamp === undefined ? undefined : Date.parse(creationTimestamp), namespace, name };
}

function sortBySeniority(resources: readonly Resource[]): readonly Resource[] {
  if (resources.every((resource, index) => index === 0 || isInOrder(resources[index - 1] as Resource, resource))) {
    return resources;
  }
  const ranked = resources.map((resource) => ({ resource, seniority: seniorityOf(resource) }));
  ranked.sort((a, b) => compareSeniority(a.seniority, b.seniority));
  return ranked.map(({ resource }) => resource);
}

/** Files rarely say when an object was made, and snapshots are sorted by name. */
function isInOrder({ metadata: a }: Resource, { metadata: b }: Resource): boolean {
  if (a.creationTimestamp !== undefined || b.creationTimestamp !== undefined) return false;
  return a.namespace === b.namespace ? a.name <= b.name : a.namespace < b.namespace;
}
