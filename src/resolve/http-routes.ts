/**
 * HTTPRoutes: attachment and rules put together, in order of seniority.
 */
import type { HTTPRoute } from '../gateway-api/index.js';
import type { HttpRoute, Route } from '../model/model.js';
import { attachRoute } from './attach.js';
import type { BackendPolicies } from './backend-policies.js';
import type { BackendReferences } from './backend-refs.js';
import { CODES } from './codes.js';
import type { Context } from './context.js';
import { type Findings, isFalse, isTrue, refOf } from './findings.js';
import type { Gateways } from './gateways.js';
import { type RuleDraft, resolveRule } from './http-rules.js';
import { seniorityOf } from './inventory.js';

/** What routes are resolved against. */
export interface RouteContext extends Context {
  readonly gateways: Gateways;
  readonly references: BackendReferences;
  readonly policies: BackendPolicies;
}

/** Attaches all HTTPRoutes to the listeners that take them; returns those with a parent of ours. */
export function resolveHttpRoutes(context: RouteContext): Route[] {
  return [...context.inventory.all('HTTPRoute')].flatMap((route) => resolveHttpRoute(route, context) ?? []);
}

function resolveHttpRoute(route: HTTPRoute, context: RouteContext): Route | undefined {
  const { gateways, references, policies, findings } = context;
  const { parents, listeners, takenBy } = attachRoute(route, gateways, findings);
  if (parents.length === 0) return undefined;
  const rules = route.spec.rules.map((spec, index) => resolveRule(route, spec, index, references, findings));
  if (judgeRules(route, rules, takenBy, findings)) {
    const ref = refOf(route);
    const attached: HttpRoute = { ref, seniority: seniorityOf(route), rules: rules.map(({ rule }) => rule) };
    for (const [listener, hostnames] of listeners) {
      listener.attachedRoutes += 1;
      listener.httpAttachments.push({ route: attached, hostnames });
      for (const { backends } of rules) for (const { target } of backends) policies.use(target, listener.gateway);
    }
  }
  return { ref: refOf(route), generation: route.metadata.generation, parents };
}

/** Returns whether the route is accepted: at least one of its rules works. Rules that do not work are told on every parent that takes it. */
function judgeRules(
  route: HTTPRoute,
  rules: readonly RuleDraft[],
  takenBy: readonly number[],
  findings: Findings,
): boolean {
  const dropped = rules.filter(({ unserved }) => unserved.length > 0);
  if (dropped.length === 0) return true;
  const isAccepted = dropped.length < rules.length;
  const condition = isAccepted
    ? isTrue('PartiallyInvalid', 'UnsupportedValue')
    : isFalse('Accepted', 'UnsupportedValue');
  for (const { rule, unserved } of dropped) {
    const asked = [...new Set(unserved.map(({ what }) => what))].join(', ');
    const message = `Dropped Rule ${rule.index}: it asks for ${asked}, which this version does not carry out`;
    const path = unserved[0]?.path ?? `spec.rules[${rule.index}]`;
    const hint = 'requests that it matches are answered with 500';
    if (takenBy.length === 0) findings.add(route, { code: CODES.ruleDropped, severity: 'error', path, message, hint });
    for (const [place, index] of takenBy.entries()) {
      findings.add(route, {
        code: CODES.ruleDropped,
        severity: place === 0 ? 'error' : 'summary',
        subject: { kind: 'parent', index },
        condition,
        path,
        message,
        hint: isAccepted ? hint : '',
      });
    }
  }
  return isAccepted;
}
