/**
 * TLSRoutes, TCPRoutes and UDPRoutes: whole connections and flows.
 * TCP and UDP cannot tell routes apart, so the most senior one works on a listener and the others are accepted, counted and idle; TLS
 * tells them apart by server name. On a TLS listener a TCPRoute takes what no TLSRoute does. Sources: TCPRoute, UDPRoute, TLSRoute.
 */
import type { TCPRoute, TLSRoute, UDPRoute } from '../gateway-api/index.js';
import type { AttachedHostname, Route, StreamRoute } from '../model/model.js';
import { objectName } from '../model/object-ref.js';
import { attachRoute } from './attach.js';
import type { ResolvedBackend } from './backend-refs.js';
import { CODES } from './codes.js';
import { type ListenerDraft, listenerText } from './drafts.js';
import { refOf } from './findings.js';
import type { RouteContext } from './http-routes.js';
import { seniorityOf } from './inventory.js';

type StreamResource = TLSRoute | TCPRoute | UDPRoute;

/** Attaches the routes of all three kinds to the listeners that take them; returns those with a parent of ours, by kind. */
export function resolveStreamRoutes(context: RouteContext): Route[] {
  const { inventory } = context;
  return [...inventory.all('TLSRoute'), ...inventory.all('TCPRoute'), ...inventory.all('UDPRoute')].flatMap(
    (route: StreamResource) => resolveStreamRoute(route, context) ?? [],
  );
}

function resolveStreamRoute(route: StreamResource, context: RouteContext): Route | undefined {
  const { parents, listeners } = attachRoute(route, context);
  if (parents.length === 0) return undefined;
  const { attached, backends } = resolveBackends(route, context);
  for (const [listener, hostnames] of listeners) {
    listener.attachedRoutes += 1;
    if (!place(route, attached, listener, hostnames, context)) continue;
    for (const { target } of backends) context.policies.use(target, listener.gateway);
  }
  return { ref: attached.ref, generation: route.metadata.generation, parents };
}

function resolveBackends(
  route: StreamResource,
  { references, findings }: RouteContext,
): { readonly attached: StreamRoute; readonly backends: readonly ResolvedBackend[] } {
  const payload = route.kind === 'UDPRoute' ? 'datagrams' : 'bytes';
  const resolved = (route.spec.rules[0]?.backendRefs ?? []).map((reference, index) => ({
    weight: reference.weight,
    backend: references.resolve(route, reference, payload, `spec.rules[0].backendRefs[${index}]`),
  }));
  const working = resolved.filter(({ weight }) => weight > 0);
  if (working.length === 0) {
    findings.add(route, {
      code: CODES.ruleWithoutBackend,
      path: 'spec.rules[0]',
      message: `no backend has a weight above 0, so every ${payload === 'bytes' ? 'connection is reset' : 'datagram is dropped'}`,
      hint: 'give one of backendRefs a weight above 0',
    });
  }
  return {
    attached: {
      ref: refOf(route),
      seniority: seniorityOf(route),
      backends: working.map(({ weight, backend }) => ({ weight, cluster: backend?.cluster, filters: [] })),
    },
    backends: working.flatMap(({ backend }) => backend ?? []),
  };
}

/** Puts the route into its place on the listener; returns whether it gets traffic there, and tells where it does not. */
function place(
  route: StreamResource,
  attached: StreamRoute,
  listener: ListenerDraft,
  hostnames: readonly AttachedHostname[],
  context: RouteContext,
): boolean {
  if (route.kind === 'TLSRoute') {
    listener.streamAttachments.push({ route: attached, hostnames });
    return true;
  }
  const rival = listener.streamRoute;
  if (rival !== undefined) {
    reportIdle(route, listener, `${rival.ref.kind} ${objectName(rival.ref)} is older or comes first by name`, context);
    return false;
  }
  listener.streamRoute = attached;
  return true;
}

function reportIdle(route: StreamResource, listener: ListenerDraft, why: string, { findings }: RouteContext): void {
  const { protocol } = listener;
  findings.add(route, {
    code: CODES.routeIdle,
    path: 'spec.parentRefs',
    message: `the route is idle on listener ${listenerText(listener)}: ${why}`,
    hint: `a ${protocol} listener serves one ${protocol === 'TLS' ? route.kind : 'route'}; use weights, or another port`,
  });
}
