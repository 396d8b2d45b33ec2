/**
 * Filters of HTTPRoutes and GRPCRoutes, on rules and on single backends.
 * A filter is never skipped: what cannot be carried out drops the rule, and a reference that must not be passed over makes it answer
 * 500. Only a mirror without a target is left out, as the specification wants it. Source: HTTPRouteFilter, GRPCRouteFilter.
 */
import { assertNever } from '../base/index.js';
import type {
  CorsFilter,
  ExternalAuthFilter,
  GRPCRoute,
  HTTPRoute,
  HTTPRouteFilter,
  RequestMirror,
  RequestRedirect,
  UrlRewrite,
} from '../gateway-api/index.js';
import type { IrCors, IrPathChange } from '../ir/ir.js';
import type { Capabilities } from '../model/capabilities.js';
import type { HttpFilter } from '../model/model.js';
import type { BackendReferences, ResolvedBackend } from './backend-refs.js';
import { CODES } from './codes.js';
import { type Findings, isFalse } from './findings.js';
import { resolveHeaderModifier } from './http-headers.js';
import { resolvePathChange } from './http-paths.js';
import type { InvalidField, RuleFault } from './rule-faults.js';

/** What filters are resolved against. */
export interface FilterContext {
  readonly capabilities: Capabilities;
  readonly references: BackendReferences;
  readonly findings: Findings;
}

/** Where filters stand. */
export interface FilterPlace {
  readonly route: HTTPRoute | GRPCRoute;
  /** Of the rule or backend: `spec.rules[0]`. */
  readonly path: string;
  readonly owner: 'rule' | 'backend';
  /** Prefix of the only match of the rule; `undefined` where there is not exactly one that is a prefix. */
  readonly prefix: string | undefined;
  /** The filters of the rule change host or path already. */
  readonly isRewritten?: boolean;
}

export interface ResolvedFilters {
  /** In order. */
  readonly filters: readonly HttpFilter[];
  readonly faults: readonly RuleFault[];
  /** A filter that must not be skipped has no target: what it stands for is answered with 500. */
  readonly isBroken: boolean;
  /** What the filters themselves talk to. */
  readonly backends: readonly ResolvedBackend[];
}

/** What became of one filter; a fault carries its own words, a broken reference is told by a finding of its own. */
type Outcome =
  | { readonly kind: 'works'; readonly filter: HttpFilter; readonly backend?: ResolvedBackend }
  | { readonly kind: 'leftOut'; readonly backend?: ResolvedBackend }
  | { readonly kind: 'broken'; readonly backend?: ResolvedBackend }
  | RuleFault;

/** Filters that decide before a backend is chosen, so they cannot belong to one. */
const BEFORE_BACKENDS: ReadonlySet<HTTPRouteFilter['type']> = new Set(['RequestRedirect', 'CORS', 'ExternalAuth']);

/** Filters that have nothing to do once a redirect has answered. */
const DEAD_BEHIND_REDIRECT: ReadonlySet<HTTPRouteFilter['type']> = new Set([
  'ExternalAuth',
  'RequestMirror',
  'URLRewrite',
]);

const NOTHING: ResolvedFilters = { filters: [], faults: [], isBroken: false, backends: [] };

/** Returns the filters of a rule or backend. Faults of their references become findings. */
export function resolveFilters(
  specs: readonly HTTPRouteFilter[] | undefined,
  place: FilterPlace,
  context: FilterContext,
): ResolvedFilters {
  if (specs === undefined || specs.length === 0) return NOTHING;
  const filters: HttpFilter[] = [];
  const faults: RuleFault[] = [];
  const backends: ResolvedBackend[] = [];
  let isBroken = false;
  for (const [index, spec] of specs.entries()) {
    const path = `${place.path}.filters[${index}]`;
    const outcome = refuseCombination(specs, index, path, place) ?? resolveFilter(spec, path, place, context);
    switch (outcome.kind) {
      case 'unserved':
      case 'invalid':
        faults.push(outcome);
        continue;
      case 'works':
        filters.push(outcome.filter);
        break;
      case 'broken':
        isBroken = true;
        break;
      case 'leftOut':
        break;
      default:
        assertNever(outcome);
    }
    if (outcome.backend !== undefined) backends.push(outcome.backend);
  }
  return { filters, faults, isBroken, backends };
}

/** Says which filters cannot do what they say where they stand. What the schema forbids already is not asked again. */
function refuseCombination(
  specs: readonly HTTPRouteFilter[],
  index: number,
  path: string,
  { owner, isRewritten }: FilterPlace,
): InvalidField | undefined {
  const type = specs[index]?.type;
  if (type === undefined) return undefined;
  if (owner === 'backend' && BEFORE_BACKENDS.has(type)) {
    return incompatible(
      path,
      `is ${type} of a backend, which has to decide before a backend is chosen`,
      'move it to the filters of the rule',
    );
  }
  if (isRewritten === true && type === 'URLRewrite') {
    return incompatible(path, 'is URLRewrite beside the URLRewrite of the rule', 'rewrite in one of the two places');
  }
  const redirect = specs.slice(0, index).findIndex((before) => before.type === 'RequestRedirect');
  if (redirect < 0 || !DEAD_BEHIND_REDIRECT.has(type)) return undefined;
  return incompatible(
    path,
    `is ${type} behind the redirect filters[${redirect}], which answers before`,
    'filters work in their order: put it first, or remove it',
  );
}

function resolveFilter(spec: HTTPRouteFilter, path: string, place: FilterPlace, context: FilterContext): Outcome {
  const { type } = spec;
  // Nobody knows what an extension asks for, so no data plane lacks it: the reference leads nowhere.
  if (type === 'ExtensionRef') return refuseExtension(spec, path, place, context);
  const { capabilities } = context;
  const isOfBackend = place.owner === 'backend';
  if (!capabilities.has(`filter/${type}`) || (isOfBackend && !capabilities.has('filter/backendRefs'))) {
    return { kind: 'unserved', path, what: `the filter ${type}${isOfBackend ? ' of a backend' : ''}` };
  }
  switch (type) {
    case 'RequestHeaderModifier':
      return worksOr(
        resolveHeaderModifier('requestHeaders', spec.requestHeaderModifier ?? {}, `${path}.requestHeaderModifier`),
      );
    case 'ResponseHeaderModifier':
      return worksOr(
        resolveHeaderModifier('responseHeaders', spec.responseHeaderModifier ?? {}, `${path}.responseHeaderModifier`),
      );
    case 'RequestRedirect':
      if (spec.requestRedirect !== undefined) reportLoop(spec.requestRedirect, path, place, context);
      return spec.requestRedirect === undefined
        ? withoutField(path, 'requestRedirect')
        : worksOr(resolveRedirect(spec.requestRedirect, place.prefix, `${path}.requestRedirect`));
    case 'URLRewrite':
      return spec.urlRewrite === undefined
        ? withoutField(path, 'urlRewrite')
        : worksOr(resolveRewrite(spec.urlRewrite, place.prefix, `${path}.urlRewrite`));
    case 'CORS':
      return spec.cors === undefined ? withoutField(path, 'cors') : { kind: 'works', filter: resolveCors(spec.cors) };
    case 'RequestMirror':
      return spec.requestMirror === undefined
        ? withoutField(path, 'requestMirror')
        : resolveMirror(spec.requestMirror, `${path}.requestMirror`, place, context);
    case 'ExternalAuth':
      return spec.externalAuth === undefined
        ? withoutField(path, 'externalAuth')
        : resolveExternalAuth(spec.externalAuth, `${path}.externalAuth`, place, context);
    default:
      return assertNever(type);
  }
}

function worksOr(resolved: HttpFilter | InvalidField): Outcome {
  return resolved.kind === 'invalid' ? resolved : { kind: 'works', filter: resolved };
}

function resolveRedirect(
  { scheme, hostname, path: change, port, statusCode }: RequestRedirect,
  prefix: string | undefined,
  at: string,
): HttpFilter | InvalidField {
  const path = change && resolvePathChange(change, prefix, `${at}.path`);
  if (isInvalid(path)) return path;
  return { kind: 'redirect', status: statusCode, scheme, hostname, port, path };
}

/** A redirect without any change is valid, and sends clients round in circles. */
function reportLoop(
  { scheme, hostname, path: change, port }: RequestRedirect,
  path: string,
  { route }: FilterPlace,
  { findings }: FilterContext,
): void {
  if ([scheme, hostname, change, port].some((field) => field !== undefined)) return;
  findings.add(route, {
    code: CODES.redirectLoop,
    path,
    message: `${path.replace(/^spec\./, '')} changes nothing, so it leads clients back to where they are`,
    hint: 'give it a scheme, a hostname, a port or a path',
  });
}

function resolveRewrite(
  { hostname, path: change }: UrlRewrite,
  prefix: string | undefined,
  at: string,
): HttpFilter | InvalidField {
  const path = change && resolvePathChange(change, prefix, `${at}.path`);
  if (isInvalid(path)) return path;
  return { kind: 'rewrite', hostname, path };
}

function isInvalid(path: IrPathChange | InvalidField | undefined): path is InvalidField {
  return path !== undefined && 'kind' in path;
}

function resolveCors(spec: CorsFilter): IrCors {
  return {
    kind: 'cors',
    origins: [...new Set((spec.allowOrigins ?? []).map(canonicalOrigin))],
    allowCredentials: spec.allowCredentials ?? false,
    methods: spec.allowMethods ?? [],
    headers: spec.allowHeaders ?? [],
    exposeHeaders: spec.exposeHeaders ?? [],
    maxAgeSeconds: spec.maxAge,
  };
}

/** Browsers send scheme and host in lower case and leave out the port that goes without saying (RFC 6454 §6.1). */
function canonicalOrigin(origin: string): string {
  const lower = origin.toLowerCase();
  return lower.replace(lower.startsWith('https:') ? /:443$/ : /:80$/, '');
}

/** A mirror whose reference does not resolve is not configured; the rule works without it. Source: HTTPRequestMirrorFilter. */
function resolveMirror(
  { backendRef, percent, fraction }: RequestMirror,
  path: string,
  { route }: FilterPlace,
  { references }: FilterContext,
): Outcome {
  const payload = route.kind === 'GRPCRoute' ? 'grpc' : 'http';
  const backend = references.resolve(route, backendRef, payload, `${path}.backendRef`);
  if (backend === undefined) return { kind: 'leftOut' };
  const { cluster } = backend;
  if (cluster === undefined) return { kind: 'leftOut', backend };
  const { numerator, denominator } = fraction ?? { numerator: percent ?? 100, denominator: 100 };
  return { kind: 'works', filter: { kind: 'mirror', cluster, numerator, denominator }, backend };
}

/** Without somebody to ask nobody gets in. Source: HTTPExternalAuthFilter, GEP-1494. */
function resolveExternalAuth(
  { protocol, backendRef, grpc, http, forwardBody }: ExternalAuthFilter,
  path: string,
  { route }: FilterPlace,
  { references }: FilterContext,
): Outcome {
  const payload = protocol === 'GRPC' ? 'grpc' : 'http';
  const backend = references.resolve(route, backendRef, payload, `${path}.backendRef`);
  if (backend === undefined) return { kind: 'broken' };
  const { cluster } = backend;
  if (cluster === undefined) return { kind: 'broken', backend };
  const filter: HttpFilter = {
    kind: 'externalAuth',
    protocol: payload,
    cluster,
    path: http?.path ?? '',
    allowedHeaders: lowerCase((protocol === 'GRPC' ? grpc : http)?.allowedHeaders),
    allowedResponseHeaders: lowerCase(http?.allowedResponseHeaders),
    maxBodyBytes: forwardBody?.maxSize ?? 0,
  };
  return { kind: 'works', filter, backend };
}

function lowerCase(names: readonly string[] = []): string[] {
  return names.map((name) => name.toLowerCase());
}

function refuseExtension(
  { extensionRef }: HTTPRouteFilter,
  path: string,
  { route, owner }: FilterPlace,
  { findings }: FilterContext,
): Outcome {
  const { kind, group } = extensionRef ?? { kind: '', group: '' };
  findings.add(route, {
    code: CODES.extensionUnknown,
    subject: { kind: 'parents' },
    path: `${path}.extensionRef.kind`,
    condition: isFalse('ResolvedRefs', 'InvalidKind'),
    message: `${path.replace(/^spec\./, '')}.extensionRef names the kind ${kind} of group "${group}", which is no filter`,
    hint: `filters are never skipped, so ${owner === 'rule' ? 'the rule' : 'the share of this backend'} answers 500`,
  });
  return { kind: 'broken' };
}

function withoutField(path: string, field: string): InvalidField {
  return incompatible(path, `has no ${field}, which its type needs`, `write ${field}`, 'UnsupportedValue');
}

function incompatible(
  path: string,
  message: string,
  hint: string,
  reason: InvalidField['reason'] = 'IncompatibleFilters',
): InvalidField {
  return {
    kind: 'invalid',
    code: CODES.filtersIncompatible,
    reason,
    path,
    message: `${placeOf(path)} ${message}`,
    hint,
  };
}

function placeOf(path: string): string {
  return path.replace(/^spec\.rules\[\d+\]\./, '');
}
