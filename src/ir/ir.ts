/**
 * The intermediate representation: what the data plane must do, in our own words, as plain data.
 * No Kubernetes word above `lower/` survives here except as text for logs; no byte offset below `compile/` appears here.
 * Serves `compile/` (which encodes it), `explain/` (which evaluates it) and the primary (sockets, endpoint sets, health).
 */

/** Everything one generation does. Two equal snapshots give deeply equal IRs. */
export interface Ir {
  readonly settings: IrSettings;
  /** One entry for each local address:port that is opened; sorted by `key`. */
  readonly sockets: readonly IrSocket[];
  /** Referenced by index from sockets. */
  readonly listeners: readonly IrListener[];
  /** What a matched request or connection gets; referenced by index. */
  readonly actions: readonly IrAction[];
  /** Endpoint sets; referenced by index. */
  readonly clusters: readonly IrCluster[];
}

/** Process-wide settings; every field is explicit. Times in milliseconds, sizes in bytes; 0 switches a limit off where said. */
export interface IrSettings {
  /** Worker processes; 0 means one for each usable core. */
  readonly workers: number;
  /** Largest request head (request line and fields together). */
  readonly maxHeadBytes: number;
  /** Most header fields in one head. */
  readonly maxHeaders: number;
  /** Add a `via` field (RFC 9110 §7.6.3). Off by default. */
  readonly via: boolean;
  /** Idle upstream connections kept per endpoint on the whole host. */
  readonly maxIdlePerEndpoint: number;
  readonly accessLog: IrAccessLog | undefined;
}

export interface IrAccessLog {
  /** Absolute path, or `stderr`. */
  readonly target: string;
}

export type IrTransport = 'tcp';

export interface IrSocket {
  /** `tcp/127.0.0.1:8080`, `tcp/[::]:8080`: stable identity over generations. */
  readonly key: string;
  readonly transport: IrTransport;
  /** IP literal as inet_ntop prints it; `::` means dual-stack. */
  readonly ip: string;
  readonly port: number;
  /** `http`: listeners differ by hostname. `tcp`: exactly one listener. */
  readonly protocol: 'http' | 'tcp';
  /** Indexes into `Ir.listeners`. */
  readonly listeners: readonly number[];
}

export interface IrTimeouts {
  /** Keep-alive connection without a request. */
  readonly idleMs: number;
  /** From the first byte of a head (or the accept) to its end. */
  readonly headerMs: number;
  /** Upstream connect, one try. */
  readonly connectMs: number;
  /** Gap without progress while a request or response body moves. */
  readonly streamIdleMs: number;
  /** TCP session or upgraded connection without a byte in either direction. */
  readonly tunnelIdleMs: number;
  /** One direction is closed, the other says nothing. */
  readonly halfClosedMs: number;
}

export type IrListener = IrHttpListener | IrTcpListener;

interface IrListenerBase {
  /** For people, logs and metrics: `default/edge/http`. Also the slot key. */
  readonly name: string;
  readonly timeouts: IrTimeouts;
}

export interface IrHttpListener extends IrListenerBase {
  readonly kind: 'http';
  /** `''` any name; `api.example.com` exact; `*.example.com` one or more labels. Lower case. */
  readonly hostname: string;
  /** Client networks whose x-forwarded-* values are kept and extended; CIDR text, v4 and v6. */
  readonly trustedProxies: readonly string[];
  /**
   * Most specific hostname first; a request falls through to the next when no match fits. One hostname may have several
   * virtual hosts: routes whose own hostnames rank before others that the listener narrows to the same name.
   */
  readonly virtualHosts: readonly IrVirtualHost[];
}

export interface IrTcpListener extends IrListenerBase {
  readonly kind: 'tcp';
  /** Index into `Ir.actions`; undefined: no route, connections are reset. */
  readonly action: number | undefined;
}

export interface IrVirtualHost {
  /** Same notation as the listener's; already intersected with it. */
  readonly hostname: string;
  /** Ordered by precedence: the first that matches wins. */
  readonly matches: readonly IrMatch[];
}

export interface IrMatch {
  readonly path: { readonly type: 'exact' | 'prefix'; readonly value: string };
  /** Upper case; undefined: any. */
  readonly method: string | undefined;
  /** All must match; names lower case. */
  readonly headers: readonly IrHeaderMatch[];
  /** Index into `Ir.actions`. */
  readonly action: number;
}

export interface IrHeaderMatch {
  readonly name: string;
  readonly value: string;
}

export interface IrAction {
  /** For logs and metrics: `HTTPRoute/default/hello/0` (kind, namespace, name, rule index). Also the slot key. */
  readonly name: string;
  /** Whole request, from the end of its head to the end of the response; 0: none. */
  readonly requestTimeoutMs: number;
  /** One try towards a backend; 0: none. */
  readonly backendRequestTimeoutMs: number;
  /** Weighted choice; weights already > 0. Empty: every request is answered 500 (HTTP), every connection reset (TCP). */
  readonly backends: readonly IrBackend[];
}

export type IrBackend =
  | { readonly kind: 'cluster'; readonly weight: number /** Index into `Ir.clusters`. */; readonly cluster: number }
  /** A reference that does not resolve keeps its share as errors. */
  | { readonly kind: 'invalid'; readonly weight: number; readonly status: 500 };

export interface IrCluster {
  /** `Service/default/web:8080`, `Backend/default/pool`: stable identity and metric label. */
  readonly key: string;
  /** May be empty: 503. Sorted by address. */
  readonly endpoints: readonly IrEndpoint[];
  /** undefined: passive only. */
  readonly healthCheck: IrHealthCheck | undefined;
}

export interface IrEndpoint {
  readonly ip: string;
  readonly port: number;
  /** 1..1,000,000. */
  readonly weight: number;
}

export interface IrHealthCheck {
  readonly type: 'tcp' | 'http';
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Successes in a row until an unhealthy endpoint is used again. */
  readonly healthyThreshold: number;
  /** Failures in a row until an endpoint is left out. */
  readonly unhealthyThreshold: number;
  readonly path: string;
  /** Host field of the check; `''`: the endpoint's address. */
  readonly host: string;
  /** Inclusive ranges of statuses that count as success. */
  readonly expectedStatuses: readonly { readonly from: number; readonly to: number }[];
}
