/**
 * Listeners by themselves: protocol, kinds of routes, namespaces. How they get along is in `conflicts.ts`.
 */
import { GATEWAY_GROUP, type Listener } from '../gateway-api/index.js';
import { ANY_HOSTNAME } from '../model/hostname.js';
import type { RouteKind } from '../model/model.js';
import { CODES } from './codes.js';
import type { Context } from './context.js';
import type { GatewayDraft, ListenerDraft, Protocol } from './drafts.js';
import { type Findings, isFalse } from './findings.js';
import { allowsNamespace } from './selectors.js';

interface ProtocolFacts {
  /** Kinds that may attach; empty: the data plane does not serve the protocol. */
  readonly kinds: readonly RouteKind[];
  /** Whether listeners of one port differ by hostname. */
  readonly hasHostname: boolean;
}

const PROTOCOLS: Readonly<Record<Protocol, ProtocolFacts>> = {
  HTTP: { kinds: ['HTTPRoute'], hasHostname: true },
  HTTPS: { kinds: ['HTTPRoute'], hasHostname: true },
  TLS: { kinds: ['TLSRoute'], hasHostname: true },
  TCP: { kinds: ['TCPRoute'], hasHostname: false },
  UDP: { kinds: ['UDPRoute'], hasHostname: false },
};

/** Returns the drafts of the listeners of a Gateway, in their order. */
export function resolveListeners(gateway: GatewayDraft, context: Context): ListenerDraft[] {
  const { listeners } = gateway.resource.spec;
  return listeners.map((spec, index) => resolveListener(gateway, spec, `spec.listeners[${index}]`, context));
}

function resolveListener(
  gateway: GatewayDraft,
  spec: Listener,
  path: string,
  { inventory, capabilities, findings }: Context,
): ListenerDraft {
  const protocol = Object.hasOwn(PROTOCOLS, spec.protocol) ? (spec.protocol as Protocol) : undefined;
  const known = protocol && PROTOCOLS[protocol];
  const kinds = protocol !== undefined && capabilities.has(`protocol/${protocol}`) ? PROTOCOLS[protocol].kinds : [];
  if (kinds.length === 0) {
    findings.add(gateway.resource, {
      code: CODES.protocolUnsupported,
      subject: { kind: 'listener', name: spec.name },
      path: `${path}.protocol`,
      condition: isFalse('Accepted', 'UnsupportedProtocol'),
      message: `protocol ${spec.protocol} is not served by this version`,
      hint: 'HTTP and TCP are served',
    });
  } else if (spec.filters !== undefined) {
    findings.add(gateway.resource, {
      code: CODES.notServedYet,
      subject: { kind: 'listener', name: spec.name },
      path: `${path}.filters`,
      message: 'filters of listeners are not carried out by this version',
    });
  }
  return {
    gateway,
    owner: gateway.resource,
    spec,
    path,
    name: `${gateway.name}/${spec.name}`,
    protocol,
    hostname: known?.hasHostname === true ? (spec.hostname ?? ANY_HOSTNAME) : ANY_HOSTNAME,
    supportedKinds: kinds.length === 0 ? [] : supportedKinds(gateway, spec, path, kinds, findings),
    allowsNamespace: allowsNamespace(spec.allowedRoutes.namespaces, gateway.resource.metadata.namespace, inventory),
    accepted: kinds.length > 0,
    conflict: undefined,
    termination: undefined,
    sockets: [],
    attachedRoutes: 0,
    httpAttachments: [],
    streamAttachments: [],
    streamRoute: undefined,
  };
}

/** Cuts the kinds of the protocol by those that the listener allows; a kind that does not fit is told, the others stay. */
function supportedKinds(
  gateway: GatewayDraft,
  spec: Listener,
  path: string,
  ofProtocol: readonly RouteKind[],
  findings: Findings,
): RouteKind[] {
  const allowed = spec.allowedRoutes.kinds ?? [];
  if (allowed.length === 0) return [...ofProtocol];
  const supported = new Set<RouteKind>();
  for (const [index, { group, kind }] of allowed.entries()) {
    const fitting = group === GATEWAY_GROUP ? ofProtocol.find((candidate) => candidate === kind) : undefined;
    if (fitting !== undefined) {
      supported.add(fitting);
      continue;
    }
    findings.add(gateway.resource, {
      code: CODES.routeKindsInvalid,
      subject: { kind: 'listener', name: spec.name },
      path: `${path}.allowedRoutes.kinds[${index}].kind`,
      condition: isFalse('ResolvedRefs', 'InvalidRouteKinds'),
      message: `allowedRoutes.kinds[${index}] is ${kind} of group "${group}", which a listener with protocol ${spec.protocol} does not take`,
      hint: `${ofProtocol.join(', ')} of group "${GATEWAY_GROUP}" fits`,
    });
  }
  return [...supported];
}
