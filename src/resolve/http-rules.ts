/**
 * Rules of HTTPRoutes and GRPCRoutes: matches, filters, backends and limits put together; see `rule-faults.ts` for those that do not work.
 */
import {
  durationMs,
  type GRPCRoute,
  type GRPCRouteRule,
  type HTTPBackendRef,
  type HTTPRoute,
  type HTTPRouteRule,
} from '../gateway-api/index.js';
import type { IrRetry } from '../ir/ir.js';
import type { HttpRule, WeightedBackend } from '../model/model.js';
import type { ResolvedBackend } from './backend-refs.js';
import { CODES } from './codes.js';
import { resolveGrpcMatches } from './grpc-matches.js';
import { type FilterContext, type FilterPlace, type ResolvedFilters, resolveFilters } from './http-filters.js';
import { type ResolvedMatches, resolveHttpMatches } from './http-matches.js';
import { faultOfSession, resolveSessionPersistence } from './http-sessions.js';
import type { JudgedRule, RuleFault } from './rule-faults.js';

/** A rule and what is wrong with it. */
export interface RuleDraft extends JudgedRule {
  readonly rule: HttpRule;
  /** What gets traffic: its backends, and those of its filters. */
  readonly backends: readonly ResolvedBackend[];
}

/** What tells the rules of the two kinds apart. */
interface RuleParts {
  readonly matches: ResolvedMatches;
  readonly retry: IrRetry | undefined;
  readonly requestTimeoutMs: number;
  readonly backendRequestTimeoutMs: number;
  readonly faults: readonly RuleFault[];
}

/** Wait between two tries where the rule has `retry` and does not say; long enough that a backend that restarts is not flooded. */
const DEFAULT_BACKOFF_MS = 25;

/** Further tries where the rule has `retry` and does not say. Source: HTTPRouteRetry.attempts. */
const DEFAULT_ATTEMPTS = 1;

/** Returns the rule of an HTTPRoute at `index`. Faults of its references become findings; `faults` are left to the caller. */
export function resolveHttpRule(
  route: HTTPRoute,
  spec: HTTPRouteRule,
  index: number,
  context: FilterContext,
): RuleDraft {
  const { capabilities } = context;
  const path = `spec.rules[${index}]`;
  const { timeouts, retry } = spec;
  const isUnserved = retry !== undefined && !capabilities.has('rule/retry');
  const parts: RuleParts = {
    matches: resolveHttpMatches(spec.matches, path, capabilities),
    retry: retry && resolveRetry(retry),
    requestTimeoutMs: durationMs(timeouts?.request ?? '0s'),
    backendRequestTimeoutMs: durationMs(timeouts?.backendRequest ?? '0s'),
    faults: isUnserved ? [{ kind: 'unserved', path: `${path}.retry`, what: 'retry' }] : [],
  };
  return assemble(route, spec, index, parts, context);
}

/** Returns the rule of a GRPCRoute at `index`, as what it means in HTTP. */
export function resolveGrpcRule(
  route: GRPCRoute,
  spec: GRPCRouteRule,
  index: number,
  context: FilterContext,
): RuleDraft {
  const parts: RuleParts = {
    matches: resolveGrpcMatches(spec.matches, `spec.rules[${index}]`, context.capabilities),
    retry: undefined,
    requestTimeoutMs: 0,
    backendRequestTimeoutMs: 0,
    faults: [],
  };
  return assemble(route, spec, index, parts, context);
}

function assemble(
  route: HTTPRoute | GRPCRoute,
  spec: HTTPRouteRule | GRPCRouteRule,
  index: number,
  { matches: { matches, faults: matchFaults }, faults: ownFaults, ...limits }: RuleParts,
  context: FilterContext,
): RuleDraft {
  const path = `spec.rules[${index}]`;
  const place: FilterPlace = { route, path, owner: 'rule', prefix: onlyPrefix(spec, matches) };
  const filters = resolveFilters(spec.filters, place, context);
  const backends = resolveBackends(spec.backendRefs ?? [], place, filters, context);
  const faults = [...filters.faults, ...backends.faults, ...ownFaults];
  const { sessionPersistence: session } = spec;
  if (session !== undefined) faults.push(...faultsOfSession(session, `${path}.sessionPersistence`, context));
  faults.push(...matchFaults);
  const works = faults.length === 0 && !filters.isBroken;
  if (works && backends.weighted.length === 0 && !filters.filters.some(({ kind }) => kind === 'redirect')) {
    const answer = route.kind === 'GRPCRoute' ? 'UNAVAILABLE' : '500';
    context.findings.add(route, {
      code: CODES.ruleWithoutBackend,
      path,
      message: `rules[${index}] has no backend with a weight above 0, so it answers ${answer}`,
      hint: 'name a backend in backendRefs',
    });
  }
  const rule: HttpRule = {
    ...limits,
    index,
    matches,
    filters: works ? filters.filters : [],
    retry: works ? limits.retry : undefined,
    sessionPersistence: works && session !== undefined ? resolveSessionPersistence(session, route, index) : undefined,
    backends: works ? backends.weighted : [],
  };
  return { rule, faults, backends: works ? [...filters.backends, ...backends.backends] : [] };
}

function faultsOfSession(
  session: NonNullable<HTTPRouteRule['sessionPersistence']>,
  path: string,
  { capabilities }: FilterContext,
): RuleFault[] {
  if (!capabilities.has('rule/sessionPersistence')) return [{ kind: 'unserved', path, what: 'sessionPersistence' }];
  const fault = faultOfSession(session, path);
  return fault === undefined ? [] : [fault];
}

/** What filters may mean by "the matched prefix". The schema allows them to mean it only where it is unambiguous. */
function onlyPrefix(
  { matches = [] }: HTTPRouteRule | GRPCRouteRule,
  [resolved]: ResolvedMatches['matches'],
): string | undefined {
  return matches.length === 1 && resolved?.path.type === 'prefix' ? resolved.path.value : undefined;
}

interface ResolvedBackends {
  readonly weighted: readonly WeightedBackend[];
  readonly backends: readonly ResolvedBackend[];
  readonly faults: readonly RuleFault[];
}

function resolveBackends(
  references: readonly HTTPBackendRef[],
  { route, path, prefix }: FilterPlace,
  ofRule: ResolvedFilters,
  context: FilterContext,
): ResolvedBackends {
  const weighted: WeightedBackend[] = [];
  const backends: ResolvedBackend[] = [];
  const faults: RuleFault[] = [];
  const payload = route.kind === 'GRPCRoute' ? 'grpc' : 'http';
  const isRewritten = ofRule.filters.some(({ kind }) => kind === 'rewrite');
  for (const [index, reference] of references.entries()) {
    const at = `${path}.backendRefs[${index}]`;
    const backend = context.references.resolve(route, reference, payload, at);
    const place: FilterPlace = { route, path: at, owner: 'backend', prefix, isRewritten };
    const own = resolveFilters(reference.filters, place, context);
    faults.push(...own.faults);
    if (reference.weight === 0) continue;
    const cluster = own.isBroken ? undefined : backend?.cluster;
    weighted.push({ weight: reference.weight, cluster, filters: own.filters });
    backends.push(...own.backends);
    if (backend !== undefined) backends.push(backend);
  }
  return { weighted, backends, faults };
}

function resolveRetry({ codes = [], attempts, backoff }: NonNullable<HTTPRouteRule['retry']>): IrRetry {
  return {
    statuses: [...codes].sort((a, b) => a - b),
    attempts: attempts ?? DEFAULT_ATTEMPTS,
    backoffMs: backoff === undefined ? DEFAULT_BACKOFF_MS : durationMs(backoff),
  };
}
