/**
 * TCPRoutes: the most senior one works on a listener, the others are accepted, counted and idle.
 */
import type { TCPRoute } from '../gateway-api/index.js';
import type { Route, StreamRoute, WeightedBackend } from '../model/model.js';
import { objectName } from '../model/object-ref.js';
import { attachRoute } from './attach.js';
import { CODES } from './codes.js';
import { listenerText } from './drafts.js';
import { refOf } from './findings.js';
import type { RouteContext } from './http-routes.js';
import { seniorityOf } from './inventory.js';

/** Attaches all TCPRoutes to the listeners that take them; returns those with a parent of ours. */
export function resolveTcpRoutes(context: RouteContext): Route[] {
  return [...context.inventory.all('TCPRoute')].flatMap((route) => resolveTcpRoute(route, context) ?? []);
}

function resolveTcpRoute(
  route: TCPRoute,
  { gateways, references, policies, findings }: RouteContext,
): Route | undefined {
  const { parents, listeners } = attachRoute(route, gateways, findings);
  if (parents.length === 0) return undefined;
  const ref = refOf(route);
  const resolved = (route.spec.rules[0]?.backendRefs ?? []).map((reference, index) => ({
    weight: reference.weight,
    backend: references.resolve(route, reference, 'bytes', `spec.rules[0].backendRefs[${index}]`),
  }));
  const working = resolved.filter(({ weight }) => weight > 0);
  if (working.length === 0) {
    findings.add(route, {
      code: CODES.ruleWithoutBackend,
      path: 'spec.rules[0]',
      message: 'no backend has a weight above 0, so every connection is reset',
    });
  }
  const backends: WeightedBackend[] = working.map(({ weight, backend }) => ({
    weight,
    cluster: backend?.cluster,
    filters: [],
  }));
  const attached: StreamRoute = { ref, seniority: seniorityOf(route), backends };
  for (const listener of listeners.keys()) {
    listener.attachedRoutes += 1;
    if (listener.streamRoute === undefined) {
      listener.streamRoute = attached;
      for (const { backend } of working) if (backend !== undefined) policies.use(backend.target, listener.gateway);
      continue;
    }
    findings.add(route, {
      code: CODES.routeIdle,
      path: 'spec.parentRefs',
      message: `the route is idle on listener ${listenerText(listener)}: TCPRoute ${objectName(listener.streamRoute.ref)} is older or comes first by name`,
      hint: 'a TCP listener serves one route; use weights, or another port',
    });
  }
  return { ref, generation: route.metadata.generation, parents };
}
