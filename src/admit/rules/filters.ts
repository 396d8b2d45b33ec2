/**
 * Rules for the filters of HTTPRoute and GRPCRoute, on rules and on backendRefs alike.
 */
import type {
  GRPCBackendRef,
  GRPCRoute,
  GRPCRouteFilter,
  GRPCRouteRule,
  HTTPBackendRef,
  HTTPRoute,
  HTTPRouteFilter,
  HTTPRouteRule,
} from '../../gateway-api/index.js';
import { checkBackendPort } from './route.js';
import { eachItem, eachMisplacedField, eachRepeated, type Rule, type Violate } from './rule.js';

/** The field that belongs to each type of filter. */
const FIELD_OF_TYPE = {
  RequestHeaderModifier: 'requestHeaderModifier',
  ResponseHeaderModifier: 'responseHeaderModifier',
  RequestMirror: 'requestMirror',
  RequestRedirect: 'requestRedirect',
  URLRewrite: 'urlRewrite',
  CORS: 'cors',
  ExternalAuth: 'externalAuth',
  ExtensionRef: 'extensionRef',
} as const satisfies Record<HTTPRouteFilter['type'], keyof HTTPRouteFilter>;

const FIELDS = Object.entries(FIELD_OF_TYPE) as [
  HTTPRouteFilter['type'],
  (typeof FIELD_OF_TYPE)[HTTPRouteFilter['type']],
][];

/** Types that may stand once in a list; mirrors and extensions may repeat. */
const ONCE: ReadonlySet<string> = new Set([
  'RequestHeaderModifier',
  'ResponseHeaderModifier',
  'RequestRedirect',
  'URLRewrite',
  'CORS',
]);

/** One filter of either kind of route; a GRPCRoute has fewer types, none of its own. */
type Filter = HTTPRouteFilter | GRPCRouteFilter;

type FilteredRoute = HTTPRoute | GRPCRoute;

type FilteredRule = HTTPRouteRule | GRPCRouteRule;

/** Calls `visit` for the list of each rule and of each backendRef. */
function eachFilterList(route: FilteredRoute, visit: (filters: readonly Filter[], path: string) => void): void {
  eachItem<FilteredRule>(route.spec.rules, 'spec.rules', (rule, path) => {
    if (rule.filters !== undefined) visit(rule.filters, `${path}.filters`);
    eachItem<FilteredBackend>(rule.backendRefs, `${path}.backendRefs`, ({ filters }, refPath) => {
      if (filters !== undefined) visit(filters, `${refPath}.filters`);
    });
  });
}

type FilteredBackend = HTTPBackendRef | GRPCBackendRef;

function eachFilter(route: FilteredRoute, visit: (filter: Partial<HTTPRouteFilter>, path: string) => void): void {
  eachFilterList(route, (filters, path) => eachItem<Partial<HTTPRouteFilter>>(filters, path, visit));
}

function checkFieldOfType(route: FilteredRoute, violate: Violate): void {
  eachFilter(route, (filter, path) => {
    eachMisplacedField(filter, filter.type ?? '', FIELDS, (type, field, isPresent) => {
      const at = `${path}.${field}`;
      if (isPresent)
        violate(at, `${field} belongs to type ${type}, not ${filter.type}`, `remove it, or write type: ${type}`);
      else violate(at, `type ${type} needs the field ${field}`, `add ${field}, or remove the filter`);
    });
  });
}

function checkOnce(route: FilteredRoute, violate: Violate): void {
  eachFilterList(route, (filters, path) => {
    const key = ({ type }: Filter): string | undefined => (ONCE.has(type) ? type : undefined);
    eachRepeated(filters, path, key, ({ type }, filterPath, firstPath) => {
      violate(filterPath, `filter ${type} is there twice`, `merge it into ${firstPath}`);
    });
  });
}

function checkMirrors(route: FilteredRoute, violate: Violate): void {
  eachFilter(route, ({ requestMirror }, path) => {
    if (requestMirror === undefined) return;
    const { percent, fraction } = requestMirror;
    const at = `${path}.requestMirror`;
    if (percent !== undefined && fraction !== undefined) {
      violate(`${at}.fraction`, 'percent and fraction exclude each other', 'keep one of them');
    }
    if (fraction !== undefined && fraction.numerator > fraction.denominator) {
      violate(
        `${at}.fraction.numerator`,
        `${fraction.numerator}/${fraction.denominator} is more than everything`,
        'numerator must not exceed denominator',
      );
    }
  });
}

function checkFilterBackends(route: FilteredRoute, violate: Violate): void {
  eachFilter(route, ({ requestMirror, externalAuth }, path) => {
    if (requestMirror !== undefined)
      checkBackendPort(requestMirror.backendRef, `${path}.requestMirror.backendRef`, violate);
    if (externalAuth !== undefined)
      checkBackendPort(externalAuth.backendRef, `${path}.externalAuth.backendRef`, violate);
  });
}

/** The rules about filters that both kinds have. */
export const FILTER_RULES: readonly Rule<FilteredRoute>[] = [
  { code: 'WG3401', says: 'a filter has the field of its type and no other', check: checkFieldOfType },
  { code: 'WG3402', says: 'a filter stands once in a list, mirrors and extensions excepted', check: checkOnce },
  { code: 'WG3407', says: 'a mirror has a share of at most everything, given once', check: checkMirrors },
  {
    code: 'WG3408',
    says: 'a reference in a filter has a port to a Service, none to an XBackend',
    check: checkFilterBackends,
  },
];
