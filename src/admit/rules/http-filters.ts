/**
 * Rules for the filters that only HTTPRoute has, on rules and on backendRefs alike.
 */
import type { CorsFilter, HTTPRoute, HTTPRouteFilter, HTTPRouteRule, PathModifier } from '../../gateway-api/index.js';
import { checkExternalAuth } from './external-auth.js';
import { eachItem, eachMisplacedField, type Rule, type Violate } from './rule.js';

interface FilterList {
  readonly filters: readonly HTTPRouteFilter[];
  readonly path: string;
  readonly rule: HTTPRouteRule;
}

/** Calls `visit` for the list of each rule and of each backendRef. */
function eachFilterList(route: HTTPRoute, visit: (list: FilterList) => void): void {
  eachItem(route.spec.rules, 'spec.rules', (rule, path) => {
    if (rule.filters !== undefined) visit({ filters: rule.filters, path: `${path}.filters`, rule });
    eachItem(rule.backendRefs, `${path}.backendRefs`, ({ filters }, refPath) => {
      if (filters !== undefined) visit({ filters, path: `${refPath}.filters`, rule });
    });
  });
}

function eachFilter(
  route: HTTPRoute,
  visit: (filter: HTTPRouteFilter, path: string, rule: HTTPRouteRule) => void,
): void {
  eachFilterList(route, ({ filters, path, rule }) => {
    eachItem(filters, path, (filter, filterPath) => visit(filter, filterPath, rule));
  });
}

function checkRedirectOrRewrite(route: HTTPRoute, violate: Violate): void {
  eachFilterList(route, ({ filters, path }) => {
    const rewrite = filters.findIndex(({ type }) => type === 'URLRewrite');
    if (rewrite === -1 || !filters.some(({ type }) => type === 'RequestRedirect')) return;
    violate(
      `${path}[${rewrite}]`,
      'URLRewrite and RequestRedirect exclude each other',
      'a redirect has hostname and path of its own',
    );
  });
}

function checkRedirectAlone(route: HTTPRoute, violate: Violate): void {
  eachItem(route.spec.rules, 'spec.rules', (rule, path) => {
    if ((rule.backendRefs ?? []).length === 0) return;
    const redirect = (rule.filters ?? []).findIndex(({ type }) => type === 'RequestRedirect');
    if (redirect === -1) return;
    violate(
      `${path}.filters[${redirect}]`,
      'a rule with RequestRedirect has no use for backendRefs',
      'remove backendRefs or the redirect',
    );
  });
}

function eachPathModifier(
  route: HTTPRoute,
  visit: (modifier: PathModifier, path: string, rule: HTTPRouteRule) => void,
): void {
  eachFilter(route, ({ requestRedirect, urlRewrite }, path, rule) => {
    if (requestRedirect?.path !== undefined) visit(requestRedirect.path, `${path}.requestRedirect.path`, rule);
    if (urlRewrite?.path !== undefined) visit(urlRewrite.path, `${path}.urlRewrite.path`, rule);
  });
}

const PATH_FIELDS = [
  ['ReplaceFullPath', 'replaceFullPath'],
  ['ReplacePrefixMatch', 'replacePrefixMatch'],
] as const;

function checkPathModifier(route: HTTPRoute, violate: Violate): void {
  eachPathModifier(route, (modifier, path) => {
    eachMisplacedField(modifier, modifier.type, PATH_FIELDS, (type, field, isPresent) => {
      const at = `${path}.${field}`;
      if (isPresent)
        violate(at, `${field} belongs to type ${type}, not ${modifier.type}`, `remove it, or write type: ${type}`);
      else violate(at, `type ${type} needs the field ${field}`, `add ${field}`);
    });
  });
}

/** Filters that replace the matched prefix, of a redirect and of a rewrite. */
const PREFIX_FIELDS = ['requestRedirect', 'urlRewrite'] as const;

/**
 * The rule of the API asks whether there is exactly one such filter, on the rule or on exactly one backend, and finds nothing where there
 * are more. So does this one; `resolve/` answers those.
 */
function checkPrefixReplacement(route: HTTPRoute, violate: Violate): void {
  eachItem(route.spec.rules, 'spec.rules', (rule, path) => {
    if (rule.matches.length === 1 && rule.matches[0]?.path.type === 'PathPrefix') return;
    for (const field of PREFIX_FIELDS) {
      const onRule = onlyReplacement(rule.filters, field);
      if (onRule !== undefined) violateReplacement(`${path}.filters[${onRule}].${field}.path`, violate);
      const backends = (rule.backendRefs ?? []).flatMap(({ filters }, index) => {
        const onBackend = onlyReplacement(filters, field);
        return onBackend === undefined ? [] : [`${path}.backendRefs[${index}].filters[${onBackend}].${field}.path`];
      });
      const [backend] = backends;
      if (backend !== undefined && backends.length === 1) violateReplacement(backend, violate);
    }
  });
}

/** Returns the index of the filter that replaces a prefix, if exactly one does. */
function onlyReplacement(
  filters: readonly HTTPRouteFilter[] = [],
  field: (typeof PREFIX_FIELDS)[number],
): number | undefined {
  const found = [...filters.keys()].filter((index) => {
    const modifier = filters[index]?.[field]?.path;
    return modifier?.type === 'ReplacePrefixMatch' && modifier.replacePrefixMatch !== undefined;
  });
  return found.length === 1 ? found[0] : undefined;
}

function violateReplacement(path: string, violate: Violate): void {
  const message = 'ReplacePrefixMatch needs a rule with exactly one match, of path type PathPrefix';
  violate(path, message, 'split the rule, one for each prefix');
}

function checkCors(route: HTTPRoute, violate: Violate): void {
  const lists = ['allowOrigins', 'allowMethods', 'allowHeaders'] as const satisfies (keyof CorsFilter)[];
  eachFilter(route, ({ cors }, path) => {
    for (const list of lists) {
      const values: readonly string[] = cors?.[list] ?? [];
      if (values.length < 2 || !values.includes('*')) continue;
      violate(
        `${path}.cors.${list}[${values.indexOf('*')}]`,
        '"*" stands for all and excludes other entries',
        'keep "*" alone, or remove it',
      );
    }
  });
}

function checkExternalAuths(route: HTTPRoute, violate: Violate): void {
  eachFilter(route, ({ externalAuth }, path) => {
    if (externalAuth !== undefined) checkExternalAuth(externalAuth, `${path}.externalAuth`, violate);
  });
}

/** The rules about filters of HTTPRoute; those that other kinds share are `FILTER_RULES`. */
export const HTTP_FILTER_RULES: readonly Rule<HTTPRoute>[] = [
  { code: 'WG3403', says: 'redirect and rewrite exclude each other', check: checkRedirectOrRewrite },
  { code: 'WG3404', says: 'a redirect excludes backendRefs', check: checkRedirectAlone },
  { code: 'WG3405', says: 'a path modifier has the field of its type and no other', check: checkPathModifier },
  { code: 'WG3406', says: 'a prefix is replaced only where exactly one is matched', check: checkPrefixReplacement },
  { code: 'WG3409', says: '"*" in CORS lists stands alone', check: checkCors },
  { code: 'WG3410', says: 'external auth has the field of its protocol and no other', check: checkExternalAuths },
];
