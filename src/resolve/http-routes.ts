/**
 * HTTPRoutes and GRPCRoutes: attachment and rules put together. They share listeners, so both kinds come in one order of seniority.
 */
import type { GRPCRoute, HTTPRoute } from '../gateway-api/index.js';
import type { HttpRoute, Route } from '../model/model.js';
import { compareSeniority } from '../model/object-ref.js';
import { type AttachContext, attachRoute } from './attach.js';
import type { BackendPolicies } from './backend-policies.js';
import type { BackendReferences } from './backend-refs.js';
import { CODES } from './codes.js';
import { refOf } from './findings.js';
import { type RuleDraft, resolveGrpcRule, resolveHttpRule } from './http-rules.js';
import { type Inventory, seniorityOf } from './inventory.js';
import { judgeRules } from './rule-faults.js';

/** What routes are resolved against. */
export interface RouteContext extends AttachContext {
  readonly references: BackendReferences;
  readonly policies: BackendPolicies;
}

/** Attaches all HTTPRoutes and GRPCRoutes to the listeners that take them; returns those with a parent of ours, by kind. */
export function resolveHttpRoutes(context: RouteContext): Route[] {
  const routes: Record<'HTTPRoute' | 'GRPCRoute', Route[]> = { HTTPRoute: [], GRPCRoute: [] };
  for (const resource of bySeniority(context.inventory)) {
    const route = resolveRoute(resource, context);
    if (route !== undefined) routes[resource.kind].push(route);
  }
  return [...routes.HTTPRoute, ...routes.GRPCRoute];
}

/** Merges the two kinds, each in its order; an HTTPRoute goes before a GRPCRoute of the same age and name. */
function* bySeniority(inventory: Inventory): Generator<HTTPRoute | GRPCRoute> {
  const grpcRoutes = [...inventory.all('GRPCRoute')].map((route) => ({ route, seniority: seniorityOf(route) }));
  let next = 0;
  for (const httpRoute of inventory.all('HTTPRoute')) {
    for (let first = grpcRoutes[next]; first !== undefined; first = grpcRoutes[next]) {
      if (compareSeniority(first.seniority, seniorityOf(httpRoute)) >= 0) break;
      yield first.route;
      next += 1;
    }
    yield httpRoute;
  }
  for (const { route } of grpcRoutes.slice(next)) yield route;
}

function resolveRoute(route: HTTPRoute | GRPCRoute, context: RouteContext): Route | undefined {
  const { policies, findings } = context;
  const { parents, listeners, takenBy } = attachRoute(route, context);
  if (parents.length === 0) return undefined;
  const rules = resolveRules(route, context);
  const ref = refOf(route);
  if (judgeRules(route, rules, takenBy, findings)) {
    const attached: HttpRoute = { ref, seniority: seniorityOf(route), rules: rules.map(({ rule }) => rule) };
    for (const [listener, hostnames] of listeners) {
      listener.attachedRoutes += 1;
      listener.httpAttachments.push({ route: attached, hostnames });
      for (const { backends } of rules) for (const { target } of backends) policies.use(target, listener.gateway);
    }
  }
  return { ref, generation: route.metadata.generation, parents };
}

function resolveRules(route: HTTPRoute | GRPCRoute, context: RouteContext): RuleDraft[] {
  if (route.kind === 'HTTPRoute')
    return route.spec.rules.map((spec, index) => resolveHttpRule(route, spec, index, context));
  const { rules = [] } = route.spec;
  if (rules.length === 0) {
    context.findings.add(route, {
      code: CODES.routeWithoutRules,
      path: 'spec',
      message: 'the route has no rules, so it serves nothing',
      hint: 'a rule without matches takes every call',
    });
  }
  return rules.map((spec, index) => resolveGrpcRule(route, spec, index, context));
}
