/**
 * Actions and what they refer to: each rule, cluster and certificate once, whatever the number of listeners that lead to it.
 */
import { assertDefined, compareStrings } from '../base/index.js';
import type { IrAction, IrBackend, IrCertificate, IrCluster, IrFilter } from '../ir/ir.js';
import type {
  Certificate,
  Cluster,
  HttpFilter,
  HttpRoute,
  HttpRule,
  StreamRoute,
  WeightedBackend,
} from '../model/model.js';
import { objectName } from '../model/object-ref.js';

type Draft = Pick<IrAction, 'name' | 'requestTimeoutMs' | 'backendRequestTimeoutMs' | 'grpc'> &
  Pick<HttpRule, 'filters' | 'retry' | 'sessionPersistence' | 'backends'>;

/** The parts of the IR that are referred to by index. */
export interface Referents {
  readonly actions: IrAction[];
  readonly clusters: IrCluster[];
  readonly certificates: IrCertificate[];
}

/** Hands out action indexes in order of first use. Clusters and certificates are sorted by key, so theirs are known at the end only. */
export class ActionBook {
  readonly #drafts: Draft[] = [];
  readonly #indexes = new Map<HttpRule | StreamRoute, number>();
  readonly #certificates: readonly IrCertificate[];
  readonly #certificateIndexes: ReadonlyMap<string, number>;

  /** `certificates` are all that listeners use; one may come several times. */
  constructor(certificates: Iterable<Certificate>) {
    const byKey = new Map<string, Certificate>();
    for (const certificate of certificates) byKey.set(certificate.key, certificate);
    this.#certificates = [...byKey.values()].sort((a, b) => compareStrings(a.key, b.key));
    this.#certificateIndexes = new Map(this.#certificates.map(({ key }, index) => [key, index]));
  }

  /** Returns the index of a certificate that the constructor was given. */
  certificate({ key }: Certificate): number {
    return assertDefined(this.#certificateIndexes.get(key), 'every certificate was collected');
  }

  /** Returns the index of the action of a rule of an HTTPRoute or GRPCRoute. */
  httpAction(route: HttpRoute, rule: HttpRule): number {
    const known = this.#indexes.get(rule);
    if (known !== undefined) return known;
    const { kind } = route.ref;
    const { requestTimeoutMs, backendRequestTimeoutMs, filters, retry, sessionPersistence, backends } = rule;
    const name = `${kind}/${objectName(route.ref)}/${rule.index}`;
    const grpc = kind === 'GRPCRoute';
    return this.#add(rule, {
      name,
      requestTimeoutMs,
      backendRequestTimeoutMs,
      grpc,
      filters,
      retry,
      sessionPersistence,
      backends,
    });
  }

  /** Returns the index of the action of the one rule that a TCPRoute, TLSRoute or UDPRoute has. */
  streamAction(route: StreamRoute): number {
    const known = this.#indexes.get(route);
    if (known !== undefined) return known;
    return this.#add(route, {
      name: `${route.ref.kind}/${objectName(route.ref)}/0`,
      requestTimeoutMs: 0,
      backendRequestTimeoutMs: 0,
      grpc: false,
      filters: [],
      retry: undefined,
      sessionPersistence: undefined,
      backends: route.backends,
    });
  }

  /** Returns all actions handed out so far and what they and the listeners refer to. */
  finish(): Referents {
    const byKey = new Map<string, Cluster>();
    const collect = (cluster: Cluster | undefined): void => {
      if (cluster !== undefined) byKey.set(cluster.key, cluster);
    };
    for (const { filters, backends } of this.#drafts) {
      for (const filter of filters) collect(clusterOf(filter));
      for (const backend of backends) {
        collect(backend.cluster);
        for (const filter of backend.filters) collect(clusterOf(filter));
      }
    }
    const clusters = [...byKey.values()].sort((a, b) => compareStrings(a.key, b.key));
    const indexes = new Map(clusters.map(({ key }, index) => [key, index]));
    const actions = this.#drafts.map((draft) => ({
      ...draft,
      filters: lowerFilters(draft.filters, indexes),
      backends: draft.backends.map((backend) => lowerBackend(backend, indexes)),
    }));
    return { actions, clusters, certificates: [...this.#certificates] };
  }

  #add(key: HttpRule | StreamRoute, draft: Draft): number {
    const index = this.#drafts.push(draft) - 1;
    this.#indexes.set(key, index);
    return index;
  }
}

type Indexes = ReadonlyMap<string, number>;

const NO_FILTERS: readonly IrFilter[] = [];

function clusterOf(filter: HttpFilter): Cluster | undefined {
  return 'cluster' in filter ? filter.cluster : undefined;
}

function lowerFilters(filters: readonly HttpFilter[], indexes: Indexes): readonly IrFilter[] {
  if (filters.length === 0) return NO_FILTERS;
  return filters.map((filter) =>
    'cluster' in filter ? { ...filter, cluster: indexOf(filter.cluster, indexes) } : filter,
  );
}

function lowerBackend({ weight, cluster, filters }: WeightedBackend, indexes: Indexes): IrBackend {
  if (cluster === undefined) return { kind: 'invalid', weight, status: 500 };
  return { kind: 'cluster', weight, cluster: indexOf(cluster, indexes), filters: lowerFilters(filters, indexes) };
}

function indexOf({ key }: Cluster, indexes: Indexes): number {
  return assertDefined(indexes.get(key), 'every cluster was collected');
}
