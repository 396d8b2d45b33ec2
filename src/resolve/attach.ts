/**
 * Attachment: which listeners take a route. Why others do not is told by `attach-refusals.ts`.
 * Source: ParentReference, AllowedRoutes, HTTPRoute.spec.hostnames and its fellows; GEP-3793 for default Gateways.
 */
import type { GRPCRoute, HTTPRoute, ParentReference, TCPRoute, TLSRoute, UDPRoute } from '../gateway-api/index.js';
import { GATEWAY_GROUP } from '../gateway-api/index.js';
import { ANY_HOSTNAME, hostnameSpecificity, intersectHostnames } from '../model/hostname.js';
import type { AttachedHostname, RouteParent } from '../model/model.js';
import { refuseParent, reportNoParent, reportParentKind, reportParentMissing } from './attach-refusals.js';
import type { Context } from './context.js';
import type { ListenerDraft, ParentDraft } from './drafts.js';
import type { Gateways, ParentKind } from './gateways.js';

export type RouteResource = HTTPRoute | GRPCRoute | TLSRoute | TCPRoute | UDPRoute;

/** What routes are attached with. */
export interface AttachContext extends Context {
  readonly gateways: Gateways;
}

/** A route's parents and the listeners that take it. */
export interface Attachments {
  /** One for each parentRef that names a Gateway of ours or a ListenerSet of one, taken or not; then the default Gateways. */
  readonly parents: readonly RouteParent[];
  /** Each listener once, with the names that the route serves there; kinds without hostnames serve those of the listener. */
  readonly listeners: ReadonlyMap<ListenerDraft, readonly AttachedHostname[]>;
  /** Indexes of the parents with at least one listener. */
  readonly takenBy: readonly number[];
}

/** Most entries that `status.parents` of a route may have. */
const MAX_PARENTS = 32;

const ANY_HOSTNAMES: readonly string[] = [ANY_HOSTNAME];

/** Judges every parentRef of a route. Cost: O(parentRefs × listeners of each × hostnames). */
export function attachRoute(route: RouteResource, context: AttachContext): Attachments {
  const { gateways, inventory, findings } = context;
  const parents: RouteParent[] = [];
  const takenBy: number[] = [];
  const listeners = new Map<ListenerDraft, readonly AttachedHostname[]>();
  const hostnames = hostnamesOf(route);
  const common = new Map<string, readonly AttachedHostname[]>();
  for (const { index, parentRef, parent } of parentsOf(route, gateways, inventory, findings)) {
    parents.push({ index, parentRef });
    const selected = selectListeners(parent, parentRef);
    const allowed = selected.filter((listener) => isAllowed(route, listener));
    let isTaken = false;
    for (const listener of allowed) {
      // Many listeners have one hostname, mostly none: they share a list, so that 1,024 names on 64 listeners are not 65,536.
      const attached = common.get(listener.hostname) ?? attachedHostnames(listener.hostname, hostnames);
      common.set(listener.hostname, attached);
      if (attached.length === 0) continue;
      listeners.set(listener, attached);
      isTaken = true;
    }
    if (isTaken) takenBy.push(index);
    else refuseParent(route, { index, parentRef, parent, selected, allowed }, context);
  }
  return { parents, listeners, takenBy };
}

interface FoundParent extends RouteParent {
  readonly parent: ParentDraft;
}

function parentsOf(
  route: RouteResource,
  gateways: Gateways,
  inventory: Context['inventory'],
  findings: Context['findings'],
): FoundParent[] {
  const { parentRefs = [], useDefaultGateways } = route.spec;
  const found: FoundParent[] = [];
  for (const [index, parentRef] of parentRefs.entries()) {
    const { group, kind, namespace = route.metadata.namespace, name } = parentRef;
    if (!isParentKind(group, kind)) {
      reportParentKind(route, parentRef, index, findings);
      continue;
    }
    const parent = gateways.findParent(kind, namespace, name);
    if (parent === undefined) reportParentMissing(route, { kind, namespace, name }, index, inventory, findings);
    else if (parent !== 'foreign') found.push({ index, parentRef, parent });
  }
  if (useDefaultGateways === 'All') found.push(...defaultParents(route, found, parentRefs.length, gateways));
  if (found.length === 0 && (parentRefs.length === 0 || useDefaultGateways === 'All')) reportNoParent(route, findings);
  return found;
}

function isParentKind(group: string, kind: string): kind is ParentKind {
  return group === GATEWAY_GROUP && (kind === 'Gateway' || kind === 'ListenerSet');
}

/** Default Gateways are parents as if the route named them, after those that it does name; one that it names as a whole is not told twice. */
function defaultParents(
  route: RouteResource,
  named: readonly FoundParent[],
  firstIndex: number,
  { defaults }: Gateways,
): FoundParent[] {
  const whole = new Set(
    named.flatMap(({ parentRef: { sectionName, port }, parent }) =>
      sectionName === undefined && port === undefined ? [parent] : [],
    ),
  );
  const room = Math.max(0, MAX_PARENTS - named.length);
  // Thousands may be default, and as many routes may ask for them.
  return defaults
    .slice(0, room + whole.size)
    .filter((gateway) => !whole.has(gateway))
    .slice(0, room)
    .map((parent, place) => {
      const { namespace, name } = parent.resource.metadata;
      const parentRef: ParentReference = {
        group: GATEWAY_GROUP,
        kind: 'Gateway',
        name,
        ...(namespace === route.metadata.namespace ? {} : { namespace }),
      };
      return { index: firstIndex + place, parentRef, parent };
    });
}

function selectListeners({ listeners }: ParentDraft, { sectionName, port }: ParentReference): ListenerDraft[] {
  if (sectionName === undefined && port === undefined) return listeners;
  return listeners.filter(
    ({ spec }) =>
      (sectionName === undefined || spec.name === sectionName) && (port === undefined || spec.port === port),
  );
}

function isAllowed(route: RouteResource, { supportedKinds, allowsNamespace }: ListenerDraft): boolean {
  return supportedKinds.includes(route.kind) && allowsNamespace(route.metadata.namespace);
}

/** Returns the hostnames by which listeners are chosen. Whole connections and flows have none: they go wherever they are taken. */
function hostnamesOf(route: RouteResource): readonly string[] {
  const hostnames = 'hostnames' in route.spec ? route.spec.hostnames : undefined;
  return hostnames === undefined || hostnames.length === 0 ? ANY_HOSTNAMES : hostnames;
}

/** Where several names of a route come to one name on the listener, the most specific of them ranks the route. */
function attachedHostnames(ofListener: string, ofRoute: readonly string[]): AttachedHostname[] {
  const attached = new Map<string, AttachedHostname>();
  for (const original of ofRoute) {
    const hostname = intersectHostnames(ofListener, original);
    if (hostname === undefined) continue;
    const before = attached.get(hostname);
    if (before !== undefined && hostnameSpecificity(before.original) >= hostnameSpecificity(original)) continue;
    attached.set(hostname, { hostname, original });
  }
  return [...attached.values()];
}
