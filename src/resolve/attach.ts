/**
 * Attachment: which listeners take a route, and why others do not.
 * Order of the reasons: NoMatchingParent, NotAllowedByListeners, NoMatchingListenerHostname. Source: RouteConditionReason.
 */
import { assertNever } from '../base/index.js';
import {
  GATEWAY_GROUP,
  type HTTPRoute,
  objectLabel,
  type ParentReference,
  type TCPRoute,
} from '../gateway-api/index.js';
import { ANY_HOSTNAME, hostnameSpecificity, intersectHostnames } from '../model/hostname.js';
import type { AttachedHostname, RouteParent } from '../model/model.js';
import { CODES } from './codes.js';
import type { GatewayDraft, ListenerDraft } from './drafts.js';
import { type Findings, isFalse } from './findings.js';
import type { Gateways } from './gateways.js';

/** A route's parents and the listeners that take it. */
export interface Attachments {
  /** One for each parentRef that names a Gateway of ours, taken or not. */
  readonly parents: readonly RouteParent[];
  /** Each listener once, with the names that the route serves there; names are only told apart for HTTP. */
  readonly listeners: ReadonlyMap<ListenerDraft, readonly AttachedHostname[]>;
  /** Indexes of the parents with at least one listener. */
  readonly takenBy: readonly number[];
}

const ANY_HOSTNAMES: readonly string[] = [ANY_HOSTNAME];

/** Judges every parentRef of a route. Cost: O(parentRefs × listeners of each × hostnames). */
export function attachRoute(route: HTTPRoute | TCPRoute, gateways: Gateways, findings: Findings): Attachments {
  const { parentRefs = [] } = route.spec;
  const own = route.kind === 'HTTPRoute' ? (route.spec.hostnames ?? []) : [];
  const hostnames = own.length === 0 ? ANY_HOSTNAMES : own;
  const parents: RouteParent[] = [];
  const takenBy: number[] = [];
  const listeners = new Map<ListenerDraft, readonly AttachedHostname[]>();
  for (const [index, parentRef] of parentRefs.entries()) {
    const gateway = findParent(route, parentRef, index, gateways, findings);
    if (gateway === undefined) continue;
    parents.push({ index, parentRef });
    const selected = selectListeners(gateway, parentRef);
    const allowed = selected.filter((listener) => isAllowed(route, listener));
    let taken = 0;
    for (const listener of allowed) {
      const attached = attachedHostnames(listener.hostname, hostnames);
      if (attached.length === 0) continue;
      listeners.set(listener, attached);
      taken += 1;
    }
    if (taken > 0) takenBy.push(index);
    else refuse(route, index, selected, allowed, findings);
  }
  if (parentRefs.length === 0) reportNoParent(route, findings);
  return { parents, listeners, takenBy };
}

function findParent(
  route: HTTPRoute | TCPRoute,
  { group, kind, namespace = route.metadata.namespace, name }: ParentReference,
  index: number,
  gateways: Gateways,
  findings: Findings,
): GatewayDraft | undefined {
  const path = `spec.parentRefs[${index}]`;
  if (group !== GATEWAY_GROUP || kind !== 'Gateway') {
    findings.add(route, {
      code: CODES.parentKindUnknown,
      severity: group === GATEWAY_GROUP ? 'error' : 'warning',
      path: `${path}.kind`,
      message: `parentRefs[${index}] names the kind ${kind} of group "${group}", which is no parent in this version`,
      hint: 'routes attach to a Gateway',
    });
    return undefined;
  }
  const gateway = gateways.find(namespace, name);
  if (gateway === undefined) {
    findings.add(route, {
      code: CODES.parentNotFound,
      severity: 'error',
      path: `${path}.name`,
      message: `parentRefs[${index}] names ${objectLabel(kind, namespace, name)}, ${gateways.absence(namespace, name)}`,
    });
  }
  return gateway === 'foreign' ? undefined : gateway;
}

function selectListeners({ listeners }: GatewayDraft, { sectionName, port }: ParentReference): ListenerDraft[] {
  if (sectionName === undefined && port === undefined) return listeners;
  return listeners.filter(
    ({ spec }) =>
      (sectionName === undefined || spec.name === sectionName) && (port === undefined || spec.port === port),
  );
}

function isAllowed(route: HTTPRoute | TCPRoute, { supportedKinds, allowsNamespace }: ListenerDraft): boolean {
  return supportedKinds.includes(route.kind) && allowsNamespace(route.metadata.namespace);
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

function refuse(
  route: HTTPRoute | TCPRoute,
  index: number,
  selected: readonly ListenerDraft[],
  allowed: readonly ListenerDraft[],
  findings: Findings,
): void {
  const { sectionName, port } = route.spec.parentRefs?.[index] ?? {};
  const subject = { kind: 'parent', index } as const;
  const path = `spec.parentRefs[${index}]`;
  if (selected.length === 0) {
    const wanted = [
      sectionName === undefined ? '' : ` named "${sectionName}"`,
      port === undefined ? '' : ` on port ${port}`,
    ].join('');
    findings.add(route, {
      code: CODES.noMatchingParent,
      subject,
      path: `${path}.${sectionName === undefined ? 'port' : 'sectionName'}`,
      condition: isFalse('Accepted', 'NoMatchingParent'),
      message: `parentRefs[${index}]: the Gateway has no listener${wanted}`,
    });
    return;
  }
  if (allowed.length === 0) {
    findings.add(route, {
      code: CODES.notAllowedByListeners,
      subject,
      path,
      condition: isFalse('Accepted', 'NotAllowedByListeners'),
      message: `parentRefs[${index}]: ${selected.map((listener) => whyNotAllowed(route, listener)).join('; ')}`,
      hint: 'see protocol and allowedRoutes of the listeners',
    });
    return;
  }
  const names = allowed.map(({ spec, hostname }) => `"${spec.name}" has ${hostname === '' ? 'any' : hostname}`);
  findings.add(route, {
    code: CODES.noMatchingHostname,
    subject,
    path: 'spec.hostnames',
    condition: isFalse('Accepted', 'NoMatchingListenerHostname'),
    message: `parentRefs[${index}]: no hostname of the route fits a listener: ${names.join(', ')}`,
  });
}

function whyNotAllowed(route: HTTPRoute | TCPRoute, listener: ListenerDraft): string {
  const { spec, supportedKinds } = listener;
  const name = `listener "${spec.name}"`;
  if (!supportedKinds.includes(route.kind)) {
    const kinds = supportedKinds.length === 0 ? 'no routes' : `${supportedKinds.join(', ')}, not ${route.kind}`;
    return `${name} (${spec.protocol}) takes ${kinds}`;
  }
  const { from } = spec.allowedRoutes.namespaces;
  switch (from) {
    case 'Same':
      return `${name} takes routes of its own namespace ${listener.gateway.resource.metadata.namespace} only`;
    case 'Selector':
      return `${name} selects namespaces by labels that ${route.metadata.namespace} does not have`;
    case 'All':
      return `${name} takes routes of all namespaces`;
    default:
      return assertNever(from);
  }
}

function reportNoParent(route: HTTPRoute | TCPRoute, findings: Findings): void {
  const usesDefault = route.spec.useDefaultGateways === 'All';
  findings.add(route, {
    code: usesDefault ? CODES.notServedYet : CODES.routeWithoutParent,
    path: usesDefault ? 'spec.useDefaultGateways' : 'spec',
    message: usesDefault
      ? 'useDefaultGateways is not carried out by this version'
      : 'the route has no parentRefs, so nothing serves it',
    hint: 'name a Gateway in parentRefs',
  });
}
