/**
 * HTTPRoutes and GRPCRoutes: attachment and rules put together. They share listeners, so both kinds come in one order of seniority.
 */
import type { Gateway, GRPCRoute, HTTPRoute, ListenerSet } from '../gateway-api/index.js';
import type { HttpAttachment, HttpRoute, Route } from '../model/model.js';
import { compareSeniority } from '../model/object-ref.js';
import { type AttachContext, attachRoute } from './attach.js';
import type { BackendPolicies } from './backend-policies.js';
import type { BackendReferences } from './backend-refs.js';
import { CODES } from './codes.js';
import type { ListenerDraft, ParentDraft } from './drafts.js';
import { type Findings, refOf } from './findings.js';
import type { ParentKind } from './gateways.js';
import { type RuleDraft, resolveGrpcRule, resolveHttpRule } from './http-rules.js';
import { type Inventory, seniorityOf } from './inventory.js';
import type { PlacedAttachment, ResolveMemo, RouteTrace } from './memo.js';
import { judgeRules } from './rule-faults.js';

/** What routes are resolved against. */
export interface RouteContext extends AttachContext {
  readonly references: BackendReferences;
  readonly policies: BackendPolicies;
  readonly memo: ResolveMemo;
}

/** Attaches all HTTPRoutes and GRPCRoutes to the listeners that take them; returns those with a parent of ours, by kind. */
export function resolveHttpRoutes(context: RouteContext): Route[] {
  const routes: Record<'HTTPRoute' | 'GRPCRoute', Route[]> = { HTTPRoute: [], GRPCRoute: [] };
  const { ours, sets } = context.gateways;
  const parents: Parents = new Map([...ours, ...sets].map((parent) => [parent.resource, parent]));
  for (const resource of bySeniority(context.inventory)) {
    const route = recallRoute(resource, parents, context) ?? resolveRoute(resource, context);
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

type Parents = ReadonlyMap<Gateway | ListenerSet, ParentDraft>;

/** Does with a route what was done the last time, if everything that this depends on is as it was; else returns `undefined`. */
function recallRoute(
  resource: HTTPRoute | GRPCRoute,
  drafts: Parents,
  { memo, references, policies }: RouteContext,
): Route | undefined {
  const trace = memo.trace(resource);
  if (trace === undefined) return undefined;
  for (const { resource: parent, listeners } of trace.parents) {
    if (drafts.get(parent)?.listeners.length !== listeners) return undefined;
  }
  for (const answer of trace.answers) if (!references.isStill(answer)) return undefined;
  for (const { parent, listener: index, attachment } of trace.attachments) {
    const listener = drafts.get((trace.parents[parent] as RouteTrace['parents'][number]).resource)?.listeners[index];
    if (listener === undefined) return undefined;
    attach(listener, attachment);
    for (const { target } of trace.used) policies.use(target, listener.gateway);
  }
  return trace.route;
}

function resolveRoute(resource: HTTPRoute | GRPCRoute, context: RouteContext): Route | undefined {
  const { policies, findings, references, memo } = context;
  const { parents, listeners, takenBy } = attachRoute(resource, context);
  if (parents.length === 0) return undefined;
  const firstFinding = findings.list.length;
  let rules: RuleDraft[] = [];
  const answers = references.overhear(() => {
    rules = resolveRules(resource, context);
  });
  const ref = refOf(resource);
  const used = rules.flatMap(({ backends }) => backends);
  const attachments = new Map<ListenerDraft, HttpAttachment>();
  if (judgeRules(resource, rules, takenBy, findings)) {
    const route: HttpRoute = { ref, seniority: seniorityOf(resource), rules: rules.map(({ rule }) => rule) };
    for (const [listener, hostnames] of listeners) {
      const attachment = { route, hostnames };
      attachments.set(listener, attachment);
      attach(listener, attachment);
      for (const { target } of used) policies.use(target, listener.gateway);
    }
  }
  const route: Route = { ref, generation: resource.metadata.generation, parents };
  const isPlain = takenBy.length === parents.length && !isMentioned(resource, findings, firstFinding);
  memo.note(resource, isPlain ? traceOf(resource, route, attachments, answers, used, context) : undefined);
  return route;
}

function attach(listener: ListenerDraft, attachment: HttpAttachment): void {
  listener.attachedRoutes += 1;
  (listener.httpAttachments as HttpAttachment[]).push(attachment);
}

/** Whether one of the findings from `first` on is about the route; others are told anew by whoever is asked first. */
function isMentioned({ kind, metadata }: HTTPRoute | GRPCRoute, { list }: Findings, first: number): boolean {
  return list
    .slice(first)
    .some(
      ({ object }) => object.kind === kind && object.name === metadata.name && object.namespace === metadata.namespace,
    );
}

function oneOf<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const [first] = lists;
  return lists.length === 1 && first !== undefined ? first : lists.flat();
}

/** A route on more listeners is attached anew each time: remembering a hundred million places would cost more. */
const MAX_TRACED_ATTACHMENTS = 16;

/** Returns what can be taken over of a route about which nothing was said; `undefined` when it depends on more than it names. */
function traceOf(
  resource: HTTPRoute | GRPCRoute,
  route: Route,
  attached: ReadonlyMap<ListenerDraft, HttpAttachment>,
  answers: RouteTrace['answers'] | undefined,
  used: RouteTrace['used'],
  { gateways, memo }: RouteContext,
): RouteTrace | undefined {
  const { parentRefs = [], useDefaultGateways } = resource.spec;
  if (answers === undefined || useDefaultGateways === 'All' || attached.size > MAX_TRACED_ATTACHMENTS) return undefined;
  if (route.parents.length !== parentRefs.length) return undefined;
  const parents = new Map<ParentDraft, number>();
  for (const { kind, namespace = resource.metadata.namespace, name } of parentRefs) {
    const parent = gateways.findParent(kind as ParentKind, namespace, name);
    if (parent === undefined || parent === 'foreign') return undefined;
    parents.set(parent, parents.size);
  }
  const attachments: PlacedAttachment[] = [];
  for (const [parent, place] of parents) {
    for (const [index, listener] of parent.listeners.entries()) {
      const attachment = attached.get(listener);
      if (attachment !== undefined) attachments.push({ parent: place, listener: index, attachment });
    }
  }
  return {
    route,
    parents: oneOf([...parents.keys()].map((parent) => memo.parent(parent.resource, parent.listeners.length))),
    attachments,
    answers,
    used,
  };
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
