/**
 * Matches of GRPCRoutes: services and methods are paths of HTTP/2, `/service/method`. Source: GRPCRouteMatch; the gRPC protocol over
 * HTTP/2 for the path.
 */
import type { GRPCMethodMatch, GRPCRouteMatch } from '../gateway-api/index.js';
import type { Capabilities } from '../model/capabilities.js';
import type { HttpMatch } from '../model/model.js';
import { faultsOfHeaders, faultsOfPattern, type ResolvedMatches, resolveHeaders } from './http-matches.js';
import type { RuleFault } from './rule-faults.js';

/** Any service or method: one element of the path. */
const ANY_ELEMENT = '[^/]+';

/** What a rule without matches means: every call. */
const EVERY_CALL: readonly GRPCRouteMatch[] = [{}];

/** Returns the matches of the rule at `path` that can be carried out; a rule without any matches every call. */
export function resolveGrpcMatches(
  specs: readonly GRPCRouteMatch[] = [],
  path: string,
  capabilities: Capabilities,
): ResolvedMatches {
  const matches: HttpMatch[] = [];
  const faults: RuleFault[] = [];
  for (const [index, spec] of (specs.length === 0 ? EVERY_CALL : specs).entries()) {
    const at = `${path}.matches[${index}]`;
    const own = [
      ...faultsOfMethod(spec.method, `${at}.method`, capabilities),
      ...faultsOfHeaders(spec.headers ?? [], at, capabilities),
    ];
    if (own.length === 0) matches.push(resolveMatch(spec, index));
    else faults.push(...own);
  }
  return { matches, faults };
}

function faultsOfMethod(spec: GRPCMethodMatch | undefined, path: string, capabilities: Capabilities): RuleFault[] {
  if (spec === undefined) return [];
  const { type, service, method } = spec;
  if (type === 'Exact') {
    const needsPattern = method !== undefined && service === undefined;
    if (!needsPattern || capabilities.has('match/regularExpression')) return [];
    return [{ kind: 'unserved', path: `${path}.method`, what: 'a method without its service' }];
  }
  return Object.entries({ service, method }).flatMap(([field, pattern]) =>
    pattern === undefined ? [] : faultsOfPattern(pattern, path, 'a method', capabilities, field),
  );
}

function resolveMatch({ method, headers = [] }: GRPCRouteMatch, index: number): HttpMatch {
  return {
    index,
    path: pathOf(method ?? { type: 'Exact' }),
    method: undefined,
    headers: resolveHeaders(headers),
    queryParams: [],
    grpc: { service: method?.service?.length ?? 0, method: method?.method?.length ?? 0 },
  };
}

function pathOf({ type, service = '', method = '' }: GRPCMethodMatch): HttpMatch['path'] {
  if (type === 'RegularExpression') return { type: 'regex', value: `/${elementOf(service)}/${elementOf(method)}` };
  if (service === '') {
    if (method === '') return { type: 'prefix', value: '/' };
    return { type: 'regex', value: `/${ANY_ELEMENT}/${escapePattern(method)}` };
  }
  return method === '' ? { type: 'prefix', value: `/${service}` } : { type: 'exact', value: `/${service}/${method}` };
}

/** The group keeps an alternative within its element. */
function elementOf(pattern: string): string {
  return pattern === '' ? ANY_ELEMENT : `(?:${pattern})`;
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
