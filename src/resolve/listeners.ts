/**
 * Listeners by themselves: protocol, TLS mode, filters, kinds of routes, namespaces. How they get along is in `conflicts.ts`.
 */
import { nearestWord } from '../admit/index.js';
import { GATEWAY_GROUP, type Gateway, type Listener, type ListenerSet } from '../gateway-api/index.js';
import type { Capabilities } from '../model/capabilities.js';
import { ANY_HOSTNAME } from '../model/hostname.js';
import type { RouteKind } from '../model/model.js';
import { objectName } from '../model/object-ref.js';
import { CODES } from './codes.js';
import type { Context } from './context.js';
import { type GatewayDraft, type ListenerDraft, type Protocol, tlsModeOf } from './drafts.js';
import { type Findings, isFalse } from './findings.js';
import { allowsNamespace, selectorFault } from './selectors.js';

const PROTOCOLS: ReadonlySet<string> = new Set<Protocol>(['HTTP', 'HTTPS', 'TLS', 'TCP', 'UDP']);

/** One entry of `spec.listeners`, and how to complain about it. */
interface Entry {
  readonly owner: Gateway | ListenerSet;
  readonly spec: Listener;
  readonly path: string;
  readonly findings: Findings;
}

/** Returns the drafts of the listeners of a Gateway, or of a ListenerSet that is attached to it, in their order. */
export function resolveListeners(
  gateway: GatewayDraft,
  owner: Gateway | ListenerSet,
  context: Context,
): ListenerDraft[] {
  const { findings } = context;
  const entries: readonly Listener[] = owner.spec.listeners;
  return entries.map((spec, index) =>
    resolveListener(gateway, { owner, spec, path: `spec.listeners[${index}]`, findings }, context),
  );
}

function resolveListener(gateway: GatewayDraft, entry: Entry, { inventory, capabilities }: Context): ListenerDraft {
  const { owner, spec, path } = entry;
  const { namespace } = owner.metadata;
  const protocol = servedProtocol(entry, capabilities);
  reportSelector(entry);
  // Listeners that cannot be accepted are told apart all the same: they claim what is theirs once they can.
  const isServed = protocol !== undefined && servesTlsMode(entry, protocol, capabilities) && hasNoFilters(entry);
  return {
    gateway,
    owner,
    spec,
    path,
    name:
      owner.kind === 'Gateway'
        ? `${gateway.name}/${spec.name}`
        : `${gateway.name}/${objectName(owner.metadata)}/${spec.name}`,
    protocol,
    hostname: protocol === 'TCP' || protocol === 'UDP' ? ANY_HOSTNAME : (spec.hostname ?? ANY_HOSTNAME),
    supportedKinds: protocol === undefined ? [] : supportedKinds(entry, kindsOf(protocol, spec, capabilities)),
    allowsNamespace: allowsNamespace(spec.allowedRoutes.namespaces, namespace, inventory),
    accepted: isServed,
    conflict: undefined,
    portUnavailable: false,
    termination: undefined,
    sockets: [],
    attachedRoutes: 0,
    httpAttachments: [],
    streamAttachments: [],
    streamRoute: undefined,
  };
}

function servedProtocol(entry: Entry, capabilities: Capabilities): Protocol | undefined {
  const { protocol } = entry.spec;
  const served = [...PROTOCOLS].filter((known) => capabilities.has(`protocol/${known as Protocol}`));
  if (served.includes(protocol)) return protocol as Protocol;
  // Case counts in the API, and `http` is what people write.
  const near = PROTOCOLS.has(protocol) ? undefined : nearestWord(protocol, [...PROTOCOLS]);
  const isServed = `${listed(served)} ${served.length === 1 ? 'is' : 'are'} served`;
  refuse(entry, 'protocol', {
    code: CODES.protocolUnsupported,
    reason: 'UnsupportedProtocol',
    message: `protocol ${protocol} is not served by this version`,
    hint: near !== undefined && served.includes(near) ? `did you mean ${near}?` : isServed,
  });
  return undefined;
}

function servesTlsMode(entry: Entry, protocol: Protocol, capabilities: Capabilities): boolean {
  if (protocol !== 'TLS') return true;
  const mode = tlsModeOf(entry.spec);
  if (capabilities.has(mode === 'Terminate' ? 'tls/terminate' : 'tls/passthrough')) return true;
  refuse(entry, 'tls.mode', {
    code: CODES.tlsModeUnsupported,
    reason: 'UnsupportedValue',
    message: `protocol TLS with mode ${mode} is not served by this version`,
  });
  return false;
}

/**
 * A filter that is not carried out must not be skipped: it may be what keeps strangers out.
 * Source: GEP-5224, "If a filter is unsupported by the implementation, the listener MUST be rejected".
 */
function hasNoFilters(entry: Entry): boolean {
  const [first] = entry.spec.filters?.requests ?? [];
  if (first === undefined) return true;
  refuse(entry, 'filters.requests[0].type', {
    code: CODES.notServedYet,
    reason: 'UnsupportedValue',
    message: `filters.requests[0] is of type ${first.type}; filters of listeners are not carried out by this version`,
    hint: 'write the filter into the rules of the routes',
  });
  return false;
}

function reportSelector({ owner, spec, path, findings }: Entry): void {
  const fault = selectorFault(spec.allowedRoutes.namespaces);
  if (fault === undefined) return;
  findings.add(owner, {
    code: CODES.selectorInvalid,
    subject: { kind: 'listener', name: spec.name },
    path: `${path}.allowedRoutes.namespaces.selector`,
    message: `the selector of allowedRoutes ${fault}`,
    hint: SELECTOR_HINT,
  });
}

/** What a selector needs. */
export const SELECTOR_HINT =
  'write matchLabels, or matchExpressions with In or NotIn and values, Exists or DoesNotExist without';

interface Refusal {
  readonly code: (typeof CODES)[keyof typeof CODES];
  readonly reason: string;
  readonly message: string;
  readonly hint?: string;
}

function refuse({ owner, spec, path, findings }: Entry, field: string, { reason, ...finding }: Refusal): void {
  findings.add(owner, {
    ...finding,
    subject: { kind: 'listener', name: spec.name },
    path: `${path}.${field}`,
    condition: isFalse('Accepted', reason),
  });
}

/** Returns the kinds that fit protocol and mode. Source: RouteGroupKind, and TLSRoute and TCPRoute on attachment. */
function kindsOf(protocol: Protocol, spec: Listener, capabilities: Capabilities): readonly RouteKind[] {
  switch (protocol) {
    case 'HTTP':
    case 'HTTPS':
      return capabilities.has('route/GRPCRoute') ? ['HTTPRoute', 'GRPCRoute'] : ['HTTPRoute'];
    case 'TLS':
      return tlsModeOf(spec) === 'Passthrough' ? ['TLSRoute'] : ['TLSRoute', 'TCPRoute'];
    case 'TCP':
      return ['TCPRoute'];
    case 'UDP':
      return ['UDPRoute'];
  }
}

/** Cuts the kinds of the protocol by those that the listener allows; a kind that does not fit is told, the others stay. */
function supportedKinds(
  { owner, spec, path, findings }: Entry,
  ofProtocol: readonly RouteKind[],
): readonly RouteKind[] {
  const allowed = spec.allowedRoutes.kinds ?? [];
  if (allowed.length === 0) return ofProtocol;
  const supported = new Set<RouteKind>();
  for (const [index, { group, kind }] of allowed.entries()) {
    const fitting = group === GATEWAY_GROUP ? ofProtocol.find((candidate) => candidate === kind) : undefined;
    if (fitting !== undefined) {
      supported.add(fitting);
      continue;
    }
    const protocol = spec.protocol === 'TLS' ? `TLS and mode ${tlsModeOf(spec)}` : spec.protocol;
    findings.add(owner, {
      code: CODES.routeKindsInvalid,
      subject: { kind: 'listener', name: spec.name },
      path: `${path}.allowedRoutes.kinds[${index}].kind`,
      condition: isFalse('ResolvedRefs', 'InvalidRouteKinds'),
      message: `allowedRoutes.kinds[${index}] is ${kind} of group "${group}", which a listener with protocol ${protocol} does not take`,
      hint: `${listed(ofProtocol)} of group "${GATEWAY_GROUP}" ${ofProtocol.length === 1 ? 'fits' : 'fit'}`,
    });
  }
  return [...supported];
}

/** `HTTP`, `HTTP and TCP`, `HTTP, TCP and UDP`. */
function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? 'nothing';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`;
}
