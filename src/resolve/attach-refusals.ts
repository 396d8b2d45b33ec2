/**
 * Why a parent does not take a route, in the words of its conditions.
 * Order of the reasons: NoMatchingParent, NotAllowedByListeners, NoMatchingListenerHostname. Source: RouteConditionReason.
 */
import { nearestWord } from '../admit/index.js';
import { assertNever, type Severity } from '../base/index.js';
import { GATEWAY_GROUP, type Listener, objectLabel, type ParentReference } from '../gateway-api/index.js';
import type { RouteParent } from '../model/model.js';
import type { RouteResource } from './attach.js';
import { CODES } from './codes.js';
import type { Context } from './context.js';
import type { ListenerDraft, ParentDraft, Protocol } from './drafts.js';
import { type Findings, isFalse } from './findings.js';
import type { ParentKind } from './gateways.js';
import type { Inventory } from './inventory.js';

/** A parent of which no listener takes the route. */
export interface RefusedParent extends RouteParent {
  readonly parent: ParentDraft;
  /** Listeners that sectionName and port leave. */
  readonly selected: readonly ListenerDraft[];
  /** Those of them that take the kind and the namespace. */
  readonly allowed: readonly ListenerDraft[];
}

/** Most listeners that a message tells about, one by one. */
const MAX_LISTENERS = 8;

/** Says why no listener of the parent takes the route. */
export function refuseParent(
  route: RouteResource,
  refused: RefusedParent,
  { inventory, findings }: Pick<Context, 'inventory' | 'findings'>,
): void {
  if (refused.selected.length === 0) refuseSection(route, refused, inventory, findings);
  else if (refused.allowed.length === 0) refuseByListeners(route, refused, findings);
  else refuseHostnames(route, refused, findings);
}

/** Says that a parentRef names something that routes do not attach to; what other groups make of it is not our business. */
export function reportParentKind(
  route: RouteResource,
  { group, kind }: ParentReference,
  index: number,
  findings: Findings,
): void {
  const near = group === GATEWAY_GROUP ? nearestWord(kind, ['Gateway', 'ListenerSet']) : undefined;
  findings.add(route, {
    code: CODES.parentKindUnknown,
    severity: group === GATEWAY_GROUP ? 'error' : 'warning',
    path: `spec.parentRefs[${index}].kind`,
    message: `parentRefs[${index}] names the kind ${kind} of group "${group}", which is no parent in this version`,
    hint: near === undefined ? 'routes attach to a Gateway or a ListenerSet' : `did you mean ${near}?`,
  });
}

/** Says that a parentRef names a Gateway or ListenerSet that is not there. Such parents get no entry in the status. */
export function reportParentMissing(
  route: RouteResource,
  { kind, namespace, name }: { readonly kind: ParentKind; readonly namespace: string; readonly name: string },
  index: number,
  inventory: Inventory,
  findings: Findings,
): void {
  const isOwnNamespace = namespace === route.metadata.namespace;
  findings.add(route, {
    code: CODES.parentNotFound,
    severity: 'error',
    path: `spec.parentRefs[${index}].name`,
    message: `parentRefs[${index}] names ${objectLabel(kind, namespace, name)}, ${inventory.absence(kind, namespace, name)}`,
    hint: isOwnNamespace ? inventory.suggestion(kind, namespace, name) : 'see name and namespace',
  });
}

/** Says that nothing can ever serve the route. */
export function reportNoParent(route: RouteResource, findings: Findings): void {
  const usesDefault = route.spec.useDefaultGateways === 'All';
  findings.add(route, {
    code: CODES.routeWithoutParent,
    path: usesDefault ? 'spec.useDefaultGateways' : 'spec',
    message: usesDefault
      ? 'useDefaultGateways is All, but no Gateway of ours has defaultScope All, so nothing serves the route'
      : 'the route has no parentRefs, so nothing serves it',
    hint: 'name a Gateway in parentRefs',
  });
}

function refuseSection(
  route: RouteResource,
  { index, parentRef, parent }: RefusedParent,
  inventory: Inventory,
  findings: Findings,
): void {
  const { sectionName, port } = parentRef;
  const wanted = [
    sectionName === undefined ? '' : ` named "${sectionName}"`,
    port === undefined ? '' : ` on port ${port}`,
  ].join('');
  findings.add(route, {
    code: CODES.noMatchingParent,
    subject: { kind: 'parent', index },
    path: `${pathOf(route, index)}.${sectionName === undefined ? 'port' : 'sectionName'}`,
    condition: isFalse('Accepted', 'NoMatchingParent'),
    message: `${placeOf(route, index)}: the ${parent.resource.kind} has no listener${wanted}`,
    hint: hintOfSection(parent, parentRef, inventory),
  });
}

function hintOfSection(parent: ParentDraft, { sectionName, port }: ParentReference, inventory: Inventory): string {
  const { listeners } = parent;
  // Names of listeners are told to routes that listeners turn away, too, so they are no secret.
  const known = listeners.slice(0, MAX_LISTENERS).map(({ spec }) => `"${spec.name}" on port ${spec.port}`);
  if (listeners.length === 0) return 'its own status says why its Gateway does not take it';
  const named = listeners.find(({ spec }) => spec.name === sectionName);
  if (named !== undefined) return `"${sectionName}" is on port ${named.spec.port}`;
  const near =
    sectionName &&
    inventory.nearest(
      sectionName,
      listeners.filter(({ spec }) => port === undefined || spec.port === port).map(({ spec }) => spec.name),
    );
  return near ? `did you mean "${near}"?` : `its listeners: ${known.join(', ')}`;
}

function refuseByListeners(route: RouteResource, { index, selected }: RefusedParent, findings: Findings): void {
  const reasons = selected.slice(0, MAX_LISTENERS).map((listener) => whyNotAllowed(route, listener));
  if (selected.length > reasons.length) reasons.push(`and ${selected.length - reasons.length} more`);
  findings.add(route, {
    code: CODES.notAllowedByListeners,
    severity: severityOf(route, index),
    subject: { kind: 'parent', index },
    path: pathOf(route, index),
    condition: isFalse('Accepted', 'NotAllowedByListeners'),
    message: `${placeOf(route, index)}: ${reasons.join('; ')}`,
    hint: hintOfListeners(route, selected),
  });
}

/** Protocols that may take a kind; what a listener allows of them is up to it. */
const PROTOCOLS: Readonly<Record<RouteResource['kind'], string>> = {
  HTTPRoute: 'HTTP or HTTPS',
  GRPCRoute: 'HTTP or HTTPS',
  TLSRoute: 'TLS',
  TCPRoute: 'TCP, or TLS with mode Terminate',
  UDPRoute: 'UDP',
};

function hintOfListeners({ kind, metadata }: RouteResource, selected: readonly ListenerDraft[]): string {
  const takesKind = selected.some(({ supportedKinds }) => supportedKinds.includes(kind));
  const wouldTakeKind = selected.some(
    ({ protocol, spec }) => protocol !== undefined && isLeftToProtocol(kind, protocol, spec),
  );
  if (!takesKind && wouldTakeKind) return `this version does not serve ${kind}s; docs/features.md says what it serves`;
  return takesKind
    ? `let allowedRoutes.namespaces of a listener take ${metadata.namespace}`
    : `${kind}s attach to listeners with protocol ${PROTOCOLS[kind]}, as far as these allow the kind`;
}

/** True when protocol and allowedRoutes have nothing against the kind: then it is the data plane that does not serve it. */
function isLeftToProtocol(kind: RouteResource['kind'], protocol: Protocol, { allowedRoutes }: Listener): boolean {
  const { kinds = [] } = allowedRoutes;
  if (kinds.length > 0 && !kinds.some((allowed) => allowed.kind === kind)) return false;
  return kind === 'GRPCRoute' && (protocol === 'HTTP' || protocol === 'HTTPS');
}

function whyNotAllowed(route: RouteResource, listener: ListenerDraft): string {
  const { spec, supportedKinds, owner } = listener;
  const name = `listener "${spec.name}"`;
  if (!supportedKinds.includes(route.kind)) {
    const kinds = supportedKinds.length === 0 ? 'no routes' : `${supportedKinds.join(', ')}, not ${route.kind}`;
    return `${name} (${spec.protocol}) takes ${kinds}`;
  }
  const { from } = spec.allowedRoutes.namespaces;
  switch (from) {
    case 'Same':
      return `${name} takes routes of its own namespace ${owner.metadata.namespace} only`;
    case 'Selector':
      return `${name} selects namespaces by labels that ${route.metadata.namespace} does not have`;
    case 'All':
      return `${name} takes routes of all namespaces`;
    default:
      return assertNever(from);
  }
}

function refuseHostnames(route: RouteResource, { index, allowed }: RefusedParent, findings: Findings): void {
  const names = allowed
    .slice(0, MAX_LISTENERS)
    .map(({ spec, hostname }) => `"${spec.name}" has ${hostname === '' ? 'any' : hostname}`);
  if (allowed.length > names.length) names.push(`and ${allowed.length - names.length} more`);
  findings.add(route, {
    code: CODES.noMatchingHostname,
    severity: severityOf(route, index),
    subject: { kind: 'parent', index },
    path: 'spec.hostnames',
    condition: isFalse('Accepted', 'NoMatchingListenerHostname'),
    message: `${placeOf(route, index)}: no hostname of the route fits a listener: ${names.join(', ')}`,
    hint:
      route.kind === 'TLSRoute'
        ? 'name a hostname that the listener covers'
        : 'name a hostname that the listener covers, or leave hostnames out to serve all that it has',
  });
}

/** Default Gateways come after the parents that the route names. */
function isNamed({ spec: { parentRefs = [] } }: RouteResource, index: number): boolean {
  return index < parentRefs.length;
}

/** Nobody wrote the name of a default Gateway: that one of them does not take the route is no fault of the file. */
function severityOf(route: RouteResource, index: number): Severity {
  return isNamed(route, index) ? 'error' : 'warning';
}

function pathOf(route: RouteResource, index: number): string {
  return isNamed(route, index) ? `spec.parentRefs[${index}]` : 'spec.useDefaultGateways';
}

function placeOf(route: RouteResource, index: number): string {
  return isNamed(route, index) ? `parentRefs[${index}]` : 'useDefaultGateways';
}
