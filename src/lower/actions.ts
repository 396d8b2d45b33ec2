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
import type { LowerMemo, PlacedRule } from './memo.js';

type Draft = Pick<IrAction, 'name' | 'requestTimeoutMs' | 'backendRequestTimeoutMs' | 'grpc'> &
  Pick<HttpRule, 'filters' | 'retry' | 'sessionPersistence' | 'backends'>;

/** What an action is made of, and by what it is remembered. */
type Source = { readonly kind: 'stream'; readonly draft: Draft } | ({ readonly kind: 'http' } & PlacedRule);

/** The parts of the IR that are referred to by index. */
export interface Referents {
  readonly actions: IrAction[];
  readonly clusters: IrCluster[];
  readonly certificates: IrCertificate[];
}

/** Hands out action indexes in order of first use. Clusters and certificates are sorted by key, so theirs are known at the end only. */
export class ActionBook {
  readonly #sources: Source[] = [];
  readonly #memo: LowerMemo;
  readonly #indexes = new Map<HttpRule | StreamRoute, number>();
  readonly #certificates: readonly IrCertificate[];
  readonly #certificateIndexes: ReadonlyMap<string, number>;

  /** `certificates` are all that listeners use; one may come several times. */
  constructor(certificates: Iterable<Certificate>, memo: LowerMemo) {
    this.#memo = memo;
    const byKey = new Map<string, Certificate>();
    for (const certificate of certificates) byKey.set(certificate.key, certificate);
    this.#certificates = [...byKey.values()].sort((a, b) => compareStrings(a.key, b.key));
    this.#certificateIndexes = new Map(this.#certificates.map(({ key }, index) => [key, index]));
  }

  /** Returns the index of a certificate that the constructor was given. */
  certificate({ key }: Certificate): number {
    return assertDefined(this.#certificateIndexes.get(key), 'every certificate was collected');
  }

  /** How many actions were handed out. */
  get count(): number {
    return this.#sources.length;
  }

  /** Returns the index of the action of a rule of an HTTPRoute or GRPCRoute. */
  httpAction(route: HttpRoute, rule: HttpRule): number {
    return this.#indexes.get(rule) ?? this.#add(rule, { kind: 'http', route, rule });
  }

  /** Returns the rules whose actions were handed out from `base` on. */
  rulesFrom(base: number): PlacedRule[] {
    return this.#sources.slice(base).flatMap((source) => (source.kind === 'http' ? [source] : []));
  }

  /** Hands out the actions of these rules in their order, if none of them has one yet; else none. */
  adopt(rules: readonly PlacedRule[]): boolean {
    if (rules.some(({ rule }) => this.#indexes.has(rule))) return false;
    for (const { route, rule } of rules) this.#add(rule, { kind: 'http', route, rule });
    return true;
  }

  /** Returns the index of the action of the one rule that a TCPRoute, TLSRoute or UDPRoute has. */
  streamAction(route: StreamRoute): number {
    const known = this.#indexes.get(route);
    if (known !== undefined) return known;
    const draft: Draft = {
      name: `${route.ref.kind}/${objectName(route.ref)}/0`,
      requestTimeoutMs: 0,
      backendRequestTimeoutMs: 0,
      grpc: false,
      filters: [],
      retry: undefined,
      sessionPersistence: undefined,
      backends: route.backends,
    };
    return this.#add(route, { kind: 'stream', draft });
  }

  /** Returns all actions handed out so far and what they and the listeners refer to. */
  finish(): Referents {
    const byKey = new Map<string, Cluster>();
    const collect = (cluster: Cluster | undefined): void => {
      if (cluster !== undefined) byKey.set(cluster.key, cluster);
    };
    for (const source of this.#sources) {
      const { filters, backends } = source.kind === 'http' ? source.rule : source.draft;
      for (const filter of filters) collect(clusterOf(filter));
      for (const backend of backends) {
        collect(backend.cluster);
        for (const filter of backend.filters) collect(clusterOf(filter));
      }
    }
    const clusters = [...byKey.values()].sort((a, b) => compareStrings(a.key, b.key));
    const keys = clusters.map(({ key }) => key);
    const indexes = new Map(keys.map((key, index) => [key, index]));
    const known = this.#memo.actionsFor(keys);
    const actions = this.#sources.map((source) => {
      if (source.kind === 'stream') return lowerAction(source.draft, indexes);
      let action = known.get(source.rule);
      if (action === undefined) {
        action = lowerAction(draftOf(source), indexes);
        known.set(source.rule, action);
      }
      return action;
    });
    return { actions, clusters, certificates: [...this.#certificates] };
  }

  #add(key: HttpRule | StreamRoute, source: Source): number {
    const index = this.#sources.push(source) - 1;
    this.#indexes.set(key, index);
    return index;
  }
}

function draftOf({ route, rule }: PlacedRule): Draft {
  const { kind } = route.ref;
  const { requestTimeoutMs, backendRequestTimeoutMs, filters, retry, sessionPersistence, backends } = rule;
  return {
    name: `${kind}/${objectName(route.ref)}/${rule.index}`,
    requestTimeoutMs,
    backendRequestTimeoutMs,
    grpc: kind === 'GRPCRoute',
    filters,
    retry,
    sessionPersistence,
    backends,
  };
}

function lowerAction(draft: Draft, indexes: Indexes): IrAction {
  return {
    ...draft,
    filters: lowerFilters(draft.filters, indexes),
    backends: draft.backends.map((backend) => lowerBackend(backend, indexes)),
  };
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
