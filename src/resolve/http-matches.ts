/**
 * Matches of HTTPRoutes, and the comparisons of values that they share with GRPCRoutes.
 * A match that cannot be expressed takes no place at all, for nothing says which requests it means.
 */
import { compareStrings } from '../base/index.js';
import type { HTTPHeaderMatch, HTTPQueryParamMatch, HTTPRouteMatch } from '../gateway-api/index.js';
import type { IrValueMatch } from '../ir/ir.js';
import type { Capabilities } from '../model/capabilities.js';
import type { HttpMatch } from '../model/model.js';
import { patternFault } from '../model/patterns.js';
import { CODES } from './codes.js';
import type { InvalidField, RuleFault } from './rule-faults.js';

/** Matches of one rule and what is wrong with the others. */
export interface ResolvedMatches {
  readonly matches: readonly HttpMatch[];
  readonly faults: readonly RuleFault[];
}

/** Returns the matches of the rule at `path` that can be carried out. */
export function resolveHttpMatches(
  matches: readonly HTTPRouteMatch[],
  path: string,
  capabilities: Capabilities,
): ResolvedMatches {
  const resolved: HttpMatch[] = [];
  const faults: RuleFault[] = [];
  for (const [index, spec] of matches.entries()) {
    const own = faultsOfMatch(spec, `${path}.matches[${index}]`, capabilities);
    if (own.length === 0) resolved.push(resolveMatch(spec, index));
    else faults.push(...own);
  }
  return { matches: resolved, faults };
}

/** Returns what is wrong with comparisons of header fields at `path`. */
export function faultsOfHeaders(
  headers: readonly HTTPHeaderMatch[],
  path: string,
  capabilities: Capabilities,
): RuleFault[] {
  return headers.flatMap(({ type, value }, index) =>
    type === 'Exact' ? [] : faultsOfPattern(value, `${path}.headers[${index}]`, 'a header', capabilities),
  );
}

/** Returns what is wrong with a pattern in the field `value` of the object at `path`; `what` names the object: "a header". */
export function faultsOfPattern(
  value: string,
  path: string,
  what: string,
  capabilities: Capabilities,
  field = 'value',
): RuleFault[] {
  if (!capabilities.has('match/regularExpression')) {
    return [{ kind: 'unserved', path: `${path}.type`, what: `${what} of type RegularExpression` }];
  }
  const fault = patternFault(value);
  return fault === undefined ? [] : [invalidPattern(value, `${path}.${field}`, fault)];
}

/** Of several entries for one name, whatever its case, the first counts. Source: HTTPRouteMatch.headers. */
export function resolveHeaders(headers: readonly HTTPHeaderMatch[]): HttpMatch['headers'] {
  return resolveValues(headers, (name) => name.toLowerCase());
}

function faultsOfMatch(
  { path, headers = [], queryParams = [] }: HTTPRouteMatch,
  at: string,
  capabilities: Capabilities,
): RuleFault[] {
  const faults: RuleFault[] = [];
  if (path.type === 'RegularExpression')
    faults.push(...faultsOfPattern(path.value, `${at}.path`, 'a path', capabilities));
  faults.push(...faultsOfHeaders(headers, at, capabilities));
  if (queryParams.length > 0 && !capabilities.has('match/queryParams')) {
    faults.push({ kind: 'unserved', path: `${at}.queryParams`, what: 'a match on query parameters' });
    return faults;
  }
  for (const [index, { type, value }] of queryParams.entries()) {
    if (type === 'Exact') continue;
    faults.push(...faultsOfPattern(value, `${at}.queryParams[${index}]`, 'a query parameter', capabilities));
  }
  return faults;
}

function invalidPattern(value: string, path: string, fault: string): InvalidField {
  return {
    kind: 'invalid',
    code: CODES.patternInvalid,
    reason: 'UnsupportedValue',
    path,
    message: `${path.replace(/^spec\.rules\[\d+\]\./, '')} is ${JSON.stringify(value)}, which is no regular expression: ${fault}`,
    hint: "the syntax is that of Rust's regex crate; a pattern matches the whole value",
  };
}

const PATH_TYPES = { Exact: 'exact', PathPrefix: 'prefix', RegularExpression: 'regex' } as const;

function resolveMatch({ path, method, headers = [], queryParams = [] }: HTTPRouteMatch, index: number): HttpMatch {
  const type = PATH_TYPES[path.type];
  return {
    index,
    path: { type, value: type === 'prefix' ? withoutTrailingSlash(path.value) : path.value },
    method,
    headers: resolveHeaders(headers),
    queryParams: resolveQueryParams(queryParams),
    grpc: undefined,
  };
}

/** `/v2/` and `/v2` are one prefix: a prefix is compared element by element. */
export function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

/** Names of parameters are told apart by case. Source: HTTPQueryParamMatch.name. */
function resolveQueryParams(parameters: readonly HTTPQueryParamMatch[]): HttpMatch['queryParams'] {
  return resolveValues(parameters, (name) => name);
}

/** Most matches compare no values: they share one empty list. */
const NO_VALUES: readonly IrValueMatch[] = [];

function resolveValues(
  entries: readonly (HTTPHeaderMatch | HTTPQueryParamMatch)[],
  nameOf: (written: string) => string,
): readonly IrValueMatch[] {
  if (entries.length === 0) return NO_VALUES;
  const byName = new Map<string, IrValueMatch>();
  for (const { name: written, type, value } of entries) {
    const name = nameOf(written);
    if (!byName.has(name)) byName.set(name, { name, type: type === 'Exact' ? 'exact' : 'regex', value });
  }
  return [...byName.values()].sort((a, b) => compareStrings(a.name, b.name));
}
