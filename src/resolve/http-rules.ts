/**
 * Rules of an HTTPRoute: what the data plane can carry out, and what happens to the rest.
 * A rule that cannot be carried out keeps its place and answers 500: nobody gets what is behind the next rule by accident.
 * Matches that cannot be expressed take no place at all, for nothing says which requests they mean.
 */
import {
  durationMs,
  type HTTPBackendRef,
  type HTTPHeaderMatch,
  type HTTPRoute,
  type HTTPRouteMatch,
  type HTTPRouteRule,
} from '../gateway-api/index.js';
import type { HttpMatch, HttpRule, WeightedBackend } from '../model/model.js';
import type { BackendReferences, ResolvedBackend } from './backend-refs.js';
import { CODES } from './codes.js';
import type { Findings } from './findings.js';

/** A rule and what is wrong with it. */
export interface RuleDraft {
  readonly rule: HttpRule;
  /** What this version cannot carry out; empty: the rule works. */
  readonly unserved: readonly UnservedField[];
  /** The backends that get traffic. */
  readonly backends: readonly ResolvedBackend[];
}

export interface UnservedField {
  /** Field path in the route. */
  readonly path: string;
  /** Completes "rules[1] asks for …". */
  readonly what: string;
}

/** Returns the rule at `index` of the route. Faults of its backends become findings; `unserved` is left to the caller. */
export function resolveRule(
  route: HTTPRoute,
  spec: HTTPRouteRule,
  index: number,
  references: BackendReferences,
  findings: Findings,
): RuleDraft {
  const path = `spec.rules[${index}]`;
  const unserved = [...unservedFields(spec, path), ...unservedMatches(spec.matches, path)];
  const { weighted, backends } = resolveBackends(route, spec.backendRefs ?? [], path, references);
  if (unserved.length === 0 && weighted.length === 0) {
    findings.add(route, {
      code: CODES.ruleWithoutBackend,
      path,
      message: `rules[${index}] has no backend with a weight above 0, so it answers 500`,
    });
  }
  const rule: HttpRule = {
    index,
    matches: spec.matches.flatMap((match, place) => resolveMatch(match, place) ?? []),
    filters: [],
    retry: undefined,
    sessionPersistence: undefined,
    backends: unserved.length === 0 ? weighted : [],
    requestTimeoutMs: durationMs(spec.timeouts?.request ?? '0s'),
    backendRequestTimeoutMs: durationMs(spec.timeouts?.backendRequest ?? '0s'),
  };
  return { rule, unserved, backends: unserved.length === 0 ? backends : [] };
}

function resolveBackends(
  route: HTTPRoute,
  references: readonly HTTPBackendRef[],
  path: string,
  resolver: BackendReferences,
): { readonly weighted: WeightedBackend[]; readonly backends: ResolvedBackend[] } {
  const weighted: WeightedBackend[] = [];
  const backends: ResolvedBackend[] = [];
  for (const [index, reference] of references.entries()) {
    const backend = resolver.resolve(route, reference, 'http', `${path}.backendRefs[${index}]`);
    if (reference.weight === 0) continue;
    weighted.push({ weight: reference.weight, cluster: backend?.cluster, filters: [] });
    if (backend !== undefined) backends.push(backend);
  }
  return { weighted, backends };
}

function unservedFields(spec: HTTPRouteRule, path: string): UnservedField[] {
  const fields: UnservedField[] = [];
  for (const [index, { type }] of (spec.filters ?? []).entries()) {
    fields.push({ path: `${path}.filters[${index}]`, what: `the filter ${type}` });
  }
  for (const [index, { filters = [] }] of (spec.backendRefs ?? []).entries()) {
    for (const [place, { type }] of filters.entries()) {
      fields.push({ path: `${path}.backendRefs[${index}].filters[${place}]`, what: `the filter ${type} of a backend` });
    }
  }
  if (spec.retry !== undefined) fields.push({ path: `${path}.retry`, what: 'retry' });
  if (spec.sessionPersistence !== undefined) {
    fields.push({ path: `${path}.sessionPersistence`, what: 'sessionPersistence' });
  }
  return fields;
}

function unservedMatches(matches: readonly HTTPRouteMatch[], path: string): UnservedField[] {
  const fields: UnservedField[] = [];
  for (const [index, { path: wanted, headers = [], queryParams = [] }] of matches.entries()) {
    const at = `${path}.matches[${index}]`;
    if (wanted.type === 'RegularExpression')
      fields.push({ path: `${at}.path.type`, what: 'a path of type RegularExpression' });
    for (const [place, { type }] of headers.entries()) {
      if (type === 'Exact') continue;
      fields.push({ path: `${at}.headers[${place}].type`, what: 'a header of type RegularExpression' });
    }
    if (queryParams.length > 0) fields.push({ path: `${at}.queryParams`, what: 'a match on query parameters' });
  }
  return fields;
}

const NO_HEADERS: HttpMatch['headers'] = [];

function resolveMatch(
  { path, method, headers = [], queryParams = [] }: HTTPRouteMatch,
  index: number,
): HttpMatch | undefined {
  if (path.type === 'RegularExpression' || queryParams.length > 0) return undefined;
  if (headers.some(({ type }) => type !== 'Exact')) return undefined;
  const type = path.type === 'Exact' ? 'exact' : 'prefix';
  const value = type === 'prefix' ? withoutTrailingSlash(path.value) : path.value;
  return {
    index,
    path: { type, value },
    method,
    headers: headers.length === 0 ? NO_HEADERS : resolveHeaders(headers),
    queryParams: [],
    grpc: undefined,
  };
}

/** `/v2/` and `/v2` are one prefix: a prefix is compared element by element. */
function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

/** Of several entries for one name, whatever its case, the first counts. Source: HTTPRouteMatch.headers. */
function resolveHeaders(headers: readonly HTTPHeaderMatch[]): HttpMatch['headers'] {
  const byName = new Map<string, string>();
  for (const { name, value } of headers) {
    const lower = name.toLowerCase();
    if (!byName.has(lower)) byName.set(lower, value);
  }
  const sorted = [...byName].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([name, value]) => ({ name, type: 'exact', value }));
}
