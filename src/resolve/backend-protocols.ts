/**
 * Protocols of Service ports: what a port announces, and which routes can go there.
 * Sources: HTTPBackendRef and GRPCBackendRef (appProtocol), KEP-3726 for the names with the prefix `kubernetes.io/`.
 */
import type { ServicePort } from '../gateway-api/index.js';
import type { Capabilities } from '../model/capabilities.js';
import type { Cluster } from '../model/model.js';

/** What a reference carries to a backend: requests, or bytes and datagrams of which nobody knows what they mean. */
export type Payload = 'http' | 'grpc' | 'bytes' | 'datagrams';

interface Announced {
  readonly spoken: Cluster['protocol'];
  /** Clear text would not be understood. */
  readonly needsTls?: true;
  /** Not gRPC, whatever else. */
  readonly isWebSocket?: true;
}

/**
 * The words that say something about HTTP, in lower case. All others are left to whoever wrote them: names with a domain of their own
 * mean what that domain says, and plain ones may be HTTP by another name.
 */
const ANNOUNCED: Readonly<Record<string, Announced>> = {
  'kubernetes.io/h2c': { spoken: 'http2' },
  'kubernetes.io/ws': { spoken: 'http1', isWebSocket: true },
  'kubernetes.io/wss': { spoken: 'http1', isWebSocket: true, needsTls: true },
  h2c: { spoken: 'http2' },
  grpc: { spoken: 'http2' },
  ws: { spoken: 'http1', isWebSocket: true },
  wss: { spoken: 'http1', isWebSocket: true, needsTls: true },
  https: { spoken: 'http1', needsTls: true },
};

const UNKNOWN: Announced = { spoken: 'http1' };

/**
 * Returns what endpoints of a port are spoken to with when requests go there. Where the data plane does not speak it, none go there,
 * and for the bytes of other routes it does not matter.
 */
export function spokenProtocol(port: ServicePort, capabilities: Capabilities): Cluster['protocol'] {
  return capabilities.has('upstream/http2') ? announcedBy(port).spoken : 'http1';
}

/** Returns the transport that a Service port must have for the payload. */
export function transportOf(payload: Payload): 'TCP' | 'UDP' {
  return payload === 'datagrams' ? 'UDP' : 'TCP';
}

/** Why a port cannot carry something. */
export interface ProtocolFault {
  /** Completes "port 80 of Service default/web, whose …". */
  readonly message: string;
  readonly hint: string;
}

/**
 * Returns why the port cannot carry the payload of a route, `undefined` when it can. `hasTls` says whether a BackendTLSPolicy
 * holds for the port; it is asked only where that matters.
 */
export function protocolFault(
  port: ServicePort,
  payload: Payload,
  routeKind: string,
  hasTls: () => boolean,
  capabilities: Capabilities,
): ProtocolFault | undefined {
  const route = `${routeKind.startsWith('HTTP') ? 'an' : 'a'} ${routeKind}`;
  const transport = transportOf(payload);
  if (port.protocol !== transport) {
    return {
      message: `protocol ${port.protocol} does not go with ${route}`,
      hint: `name a port with protocol ${transport}`,
    };
  }
  if (payload === 'bytes' || payload === 'datagrams') return undefined;
  const { spoken, needsTls, isWebSocket } = announcedBy(port);
  const appProtocol = `appProtocol ${port.appProtocol}`;
  if (payload === 'grpc' && isWebSocket) {
    return {
      message: `${appProtocol} does not go with ${route}`,
      hint: 'gRPC needs HTTP/2: leave appProtocol out, or use kubernetes.io/h2c',
    };
  }
  if (needsTls && !hasTls()) {
    return {
      message: `${appProtocol} needs TLS, which no BackendTLSPolicy sets up`,
      hint: 'write a BackendTLSPolicy for the Service',
    };
  }
  if (spoken === 'http2' && !capabilities.has('upstream/http2')) {
    return { message: `${appProtocol} does not go with ${route}`, hint: 'this version speaks HTTP/1.1 to endpoints' };
  }
  return undefined;
}

function announcedBy({ appProtocol = '' }: ServicePort): Announced {
  const word = appProtocol.toLowerCase();
  return Object.hasOwn(ANNOUNCED, word) ? (ANNOUNCED[word] ?? UNKNOWN) : UNKNOWN;
}
