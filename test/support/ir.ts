/**
 * Small IRs for tests, from as few words as the case needs.
 */
import type {
  Ir,
  IrAction,
  IrCluster,
  IrHttpListener,
  IrMatch,
  IrSettings,
  IrSocket,
  IrTcpListener,
  IrTimeouts,
  IrVirtualHost,
} from '../../src/ir/ir.js';

export const SETTINGS: IrSettings = {
  workers: 0,
  maxHeadBytes: 65_536,
  maxHeaders: 100,
  via: false,
  maxIdlePerEndpoint: 64,
  accessLog: undefined,
};

export const TIMEOUTS: IrTimeouts = {
  idleMs: 75_000,
  headerMs: 10_000,
  connectMs: 5_000,
  streamIdleMs: 60_000,
  tunnelIdleMs: 3_600_000,
  halfClosedMs: 30_000,
};

export function prefix(value: string, action: number, more: Partial<IrMatch> = {}): IrMatch {
  return {
    path: { type: 'prefix', value },
    method: undefined,
    headers: [],
    queryParams: [],
    grpc: false,
    action,
    ...more,
  };
}

export function exact(value: string, action: number, more: Partial<IrMatch> = {}): IrMatch {
  return { ...prefix(value, action, more), path: { type: 'exact', value } };
}

export function httpListener(
  hostname: string,
  virtualHosts: readonly IrVirtualHost[],
  name = `edge/${hostname}`,
): IrHttpListener {
  return {
    kind: 'http',
    name,
    hostname,
    port: 80,
    tls: undefined,
    timeouts: TIMEOUTS,
    clientCertificate: undefined,
    trustedProxies: [],
    virtualHosts,
  };
}

export function tcpListener(action: number | undefined, name = 'edge/tcp'): IrTcpListener {
  return { kind: 'tcp', name, timeouts: TIMEOUTS, clientCertificate: undefined, action };
}

export function httpSocket(port: number, listeners: readonly number[]): IrSocket {
  const key = `tcp/127.0.0.1:${port}`;
  return { key, transport: 'tcp', ip: '127.0.0.1', port, protocol: 'http', listeners };
}

export function tcpSocket(port: number, listener: number): IrSocket {
  return { ...httpSocket(port, [listener]), protocol: 'tcp' };
}

/** An action over clusters: weights by index of the cluster. */
export function action(name: string, weights: readonly number[] = [1]): IrAction {
  const backends = weights.map((weight, cluster) => ({ kind: 'cluster', weight, cluster, filters: [] }) as const);
  return {
    name,
    requestTimeoutMs: 0,
    backendRequestTimeoutMs: 0,
    grpc: false,
    filters: [],
    retry: undefined,
    sessionPersistence: undefined,
    backends,
  };
}

export function cluster(key: string, addresses: readonly string[]): IrCluster {
  const endpoints = addresses.map((address) => {
    const colon = address.lastIndexOf(':');
    return { ip: address.slice(0, colon).replace(/[[\]]/g, ''), port: Number(address.slice(colon + 1)), weight: 1 };
  });
  return { key, endpoints, healthCheck: undefined, protocol: 'http1', tls: undefined };
}

/** An IR; what is not given is empty. */
export function ir(parts: Partial<Ir>): Ir {
  return { settings: SETTINGS, sockets: [], listeners: [], actions: [], clusters: [], certificates: [], ...parts };
}

/** One socket (port 8080) with one catch-all listener that has these virtual hosts, and actions `a0`, `a1` … as many as named. */
export function oneListener(virtualHosts: readonly IrVirtualHost[]): Ir {
  const named = virtualHosts.flatMap((host) => host.matches.map((match) => match.action));
  const actions = Array.from({ length: Math.max(-1, ...named) + 1 }, (_, i) => action(`a${i}`));
  return ir({
    sockets: [httpSocket(8080, [0])],
    listeners: [httpListener('', virtualHosts)],
    actions,
    clusters: [cluster('Service/default/web:80', ['10.0.0.1:80'])],
  });
}
