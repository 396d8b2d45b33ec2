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
  /** Certificates with their keys; referenced by index. Sorted by `key`. */
  readonly certificates: readonly IrCertificate[];
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

export type IrTransport = 'tcp' | 'udp';

export interface IrSocket {
  /** `tcp/127.0.0.1:8080`, `udp/[::]:53`: stable identity over generations. */
  readonly key: string;
  readonly transport: IrTransport;
  /** IP literal as inet_ntop prints it; `::` means dual-stack. */
  readonly ip: string;
  readonly port: number;
  /**
   * `http`: listeners differ by hostname. `tls`: the ClientHello is read first, its server name chooses among `http` listeners that
   * have `tls` and `tls` listeners. `tcp`, `udp`: exactly one listener.
   */
  readonly protocol: 'http' | 'tls' | 'tcp' | 'udp';
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

export type IrListener = IrHttpListener | IrTlsListener | IrTcpListener | IrUdpListener;

interface IrListenerBase {
  /** For people, logs and metrics: `default/edge/http`. Also the slot key. */
  readonly name: string;
  readonly timeouts: IrTimeouts;
  /** Index into `Ir.certificates`: shown to endpoints that ask for a client certificate. */
  readonly clientCertificate: number | undefined;
}

export interface IrHttpListener extends IrListenerBase {
  readonly kind: 'http';
  /** `''` any name; `api.example.com` exact; `*.example.com` one or more labels. Lower case. Of the server name as well, with `tls`. */
  readonly hostname: string;
  /** As clients know it: redirects without scheme and port lead here, whatever the socket's number. */
  readonly port: number;
  /** `undefined`: clear text. */
  readonly tls: IrTermination | undefined;
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

export interface IrUdpListener extends IrListenerBase {
  readonly kind: 'udp';
  /** Index into `Ir.actions`; undefined: no route, datagrams are dropped. */
  readonly action: number | undefined;
}

export interface IrTlsListener extends IrListenerBase {
  readonly kind: 'tls';
  /** Server names that it takes; notation as for HTTP. A client without a server name reaches only `''`. */
  readonly hostname: string;
  /** `undefined`: the bytes of the client pass through as they are, whatever `IrCluster.tls` says. */
  readonly termination: IrTermination | undefined;
  /** Most specific hostname first, the first that covers the server name wins; none: the handshake is refused. */
  readonly routes: readonly { readonly hostname: string /** Index into `Ir.actions`. */; readonly action: number }[];
}

/** How TLS of clients is ended. */
export interface IrTermination {
  /** Indexes into `Ir.certificates`; the client's server name and algorithms choose. At least one. */
  readonly certificates: readonly number[];
  readonly minVersion: IrTlsVersion;
  readonly maxVersion: IrTlsVersion;
  /** IANA names in order of preference; empty: the library's choice. */
  readonly cipherSuites: readonly string[];
  /** Protocols offered by ALPN, in order of preference. */
  readonly alpn: readonly string[];
  readonly clientValidation: IrClientValidation | undefined;
}

export type IrTlsVersion = '1.2' | '1.3';

export interface IrClientValidation {
  /** PEM texts of the authorities. */
  readonly authorities: readonly string[];
  /** `require`: a valid certificate or no handshake. `allow`: clients without a valid one get in as well. */
  readonly mode: 'require' | 'allow';
}

export interface IrCertificate {
  /** `Secret/default/shop`: stable identity. */
  readonly key: string;
  /** DNS names of the certificate, lower case, sorted. */
  readonly names: readonly string[];
  /** PEM, leaf first. */
  readonly chain: string;
  /** PEM. Never printed. */
  readonly privateKey: string;
}

export interface IrVirtualHost {
  /** Same notation as the listener's; already intersected with it. */
  readonly hostname: string;
  /** Ordered by precedence: the first that matches wins. */
  readonly matches: readonly IrMatch[];
}

export interface IrMatch {
  /** `regex` must match the whole path, in the syntax of Rust's `regex` crate. */
  readonly path: { readonly type: 'exact' | 'prefix' | 'regex'; readonly value: string };
  /** Upper case; undefined: any. */
  readonly method: string | undefined;
  /** All must match; names lower case. */
  readonly headers: readonly IrValueMatch[];
  /** All must match; names as they are, the first value of a name counts. */
  readonly queryParams: readonly IrValueMatch[];
  /** Matches gRPC requests only: content-type `application/grpc`, with or without a suffix. */
  readonly grpc: boolean;
  /** Index into `Ir.actions`. */
  readonly action: number;
}

export interface IrValueMatch {
  readonly name: string;
  /** `regex` must match the whole value. */
  readonly type: 'exact' | 'regex';
  readonly value: string;
}

export interface IrAction {
  /** For logs and metrics: `HTTPRoute/default/hello/0` (kind, namespace, name, rule index). Also the slot key. */
  readonly name: string;
  /** Whole request, from the end of its head to the end of the response; 0: none. */
  readonly requestTimeoutMs: number;
  /** One try towards a backend; 0: none. */
  readonly backendRequestTimeoutMs: number;
  /** gRPC: endpoints are spoken to with HTTP/2, own answers are gRPC statuses. */
  readonly grpc: boolean;
  /** In order. A redirect answers, so nothing behind it and no backend is asked. */
  readonly filters: readonly IrFilter[];
  readonly retry: IrRetry | undefined;
  readonly sessionPersistence: IrSessionPersistence | undefined;
  /**
   * Weighted choice; weights already > 0. Empty: every request is answered 500 (gRPC: UNAVAILABLE), every connection reset, every
   * datagram dropped.
   */
  readonly backends: readonly IrBackend[];
}

export type IrBackend =
  | {
      readonly kind: 'cluster';
      readonly weight: number;
      /** Index into `Ir.clusters`. */
      readonly cluster: number;
      /** After those of the action. */
      readonly filters: readonly IrFilter[];
    }
  /** A reference that does not resolve keeps its share as errors. */
  | { readonly kind: 'invalid'; readonly weight: number; readonly status: 500 };

export interface IrRetry {
  /** Statuses that are tried again, besides what is always safe; sorted. */
  readonly statuses: readonly number[];
  /** Further tries after the first. */
  readonly attempts: number;
  /** Shortest wait before a further try, milliseconds. */
  readonly backoffMs: number;
}

export interface IrSessionPersistence {
  readonly type: 'cookie' | 'header';
  readonly name: string;
  /** Path of the cookie. */
  readonly path: string;
  /** True: the cookie outlives the browser's session, for `absoluteTimeoutMs`. */
  readonly isPermanent: boolean;
  /** 0: none. */
  readonly absoluteTimeoutMs: number;
  /** 0: none. */
  readonly idleTimeoutMs: number;
}

export type IrFilter = IrPlainFilter | IrMirror | IrExternalAuth;

/** Filters that name no cluster. */
export type IrPlainFilter = IrHeaderFilter | IrRedirect | IrRewrite | IrCors;

export interface IrHeaderFilter {
  readonly kind: 'requestHeaders' | 'responseHeaders';
  /** Names in lower case, each in one of the three lists only. */
  readonly set: readonly IrHeaderValue[];
  readonly add: readonly IrHeaderValue[];
  readonly remove: readonly string[];
}

export interface IrHeaderValue {
  readonly name: string;
  readonly value: string;
}

export interface IrRedirect {
  readonly kind: 'redirect';
  readonly status: 301 | 302 | 303 | 307 | 308;
  /** undefined: that of the request. */
  readonly scheme: 'http' | 'https' | undefined;
  /** undefined: that of the request. */
  readonly hostname: string | undefined;
  /** undefined: with `scheme` its well-known port, else that of the listener. A port that goes without saying is left out. */
  readonly port: number | undefined;
  readonly path: IrPathChange | undefined;
}

export interface IrRewrite {
  readonly kind: 'rewrite';
  readonly hostname: string | undefined;
  readonly path: IrPathChange | undefined;
}

export type IrPathChange =
  | { readonly type: 'full'; readonly value: string }
  /** Replaces the elements of `prefix` (as matched, without trailing slash) by those of `value`; the path never becomes empty. */
  | { readonly type: 'prefix'; readonly prefix: string; readonly value: string };

export interface IrCors {
  readonly kind: 'cors';
  /** `*` alone: all. Else origins, the host may begin with `*.`. */
  readonly origins: readonly string[];
  readonly allowCredentials: boolean;
  readonly methods: readonly string[];
  readonly headers: readonly string[];
  readonly exposeHeaders: readonly string[];
  readonly maxAgeSeconds: number;
}

export interface IrMirror {
  readonly kind: 'mirror';
  /** Index into `Ir.clusters`. */
  readonly cluster: number;
  /** Share of the requests: `numerator / denominator`. */
  readonly numerator: number;
  readonly denominator: number;
}

export interface IrExternalAuth {
  readonly kind: 'externalAuth';
  readonly protocol: 'http' | 'grpc';
  /** Index into `Ir.clusters`. */
  readonly cluster: number;
  /** Put before the path of the request (HTTP). */
  readonly path: string;
  /** Names in lower case that are sent along; empty: all of them (gRPC), or those only that always are (HTTP). */
  readonly allowedHeaders: readonly string[];
  /** Names in lower case that are taken over from the answer; empty: all but `host`. */
  readonly allowedResponseHeaders: readonly string[];
  /** Bytes of the body that are sent along; 0: none. */
  readonly maxBodyBytes: number;
}

export interface IrCluster {
  /** `Service/default/web:8080`, `Backend/default/pool`: stable identity and metric label. */
  readonly key: string;
  /** May be empty: 503. Sorted by address. */
  readonly endpoints: readonly IrEndpoint[];
  /** undefined: passive only. */
  readonly healthCheck: IrHealthCheck | undefined;
  /** What endpoints are spoken to with, unless the action is gRPC. With `tls`, `http2` is offered by ALPN. */
  readonly protocol: 'http1' | 'http2';
  /** undefined: clear text. Of no meaning for what a `tls` listener passes through. */
  readonly tls: IrUpstreamTls | undefined;
}

/** TLS towards endpoints: always verified. */
export interface IrUpstreamTls {
  /** Sent as server name. */
  readonly serverName: string;
  /** One of them must be in the endpoint's certificate. */
  readonly names: readonly { readonly type: 'hostname' | 'uri'; readonly value: string }[];
  /** `system`: the authorities of the host; else PEM texts. */
  readonly authorities: 'system' | readonly string[];
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
