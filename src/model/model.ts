/**
 * The validated model: what Weirgate will do with a snapshot, in the words of the Gateway API.
 * Everything here has passed the rules; what has not is a `Finding`. Made by `resolve/`, read by `status/` and `lower/`.
 */
import type {
  IrClientValidation,
  IrExternalAuth,
  IrHealthCheck,
  IrMirror,
  IrPlainFilter,
  IrRetry,
  IrSessionPersistence,
  IrSettings,
  IrTlsVersion,
  IrUpstreamTls,
  IrValueMatch,
} from '../ir/ir.js';
import type { ObjectRef, Seniority } from './object-ref.js';
import type { GatewaySettings } from './settings.js';

export interface Model {
  readonly settings: IrSettings;
  /** Classes whose controllerName is ours, in order of seniority. */
  readonly classes: readonly GatewayClass[];
  /** Gateways of our accepted classes, in order of seniority. */
  readonly gateways: readonly Gateway[];
  /** ListenerSets that name a Gateway of ours, in order of seniority. */
  readonly listenerSets: readonly ListenerSet[];
  /** Routes with at least one parent of ours, in order of seniority by kind. */
  readonly routes: readonly Route[];
  readonly backends: readonly StatusOwner[];
  readonly policies: readonly Policy[];
  /** Listeners that take traffic, grouped by nothing, in order of their Gateways. */
  readonly listeners: readonly ServedListener[];
  /** Address of each Gateway that has one from the pool, by `namespace/name`; to be given back with the next facts. */
  readonly assignedAddresses: Readonly<Record<string, string>>;
}

/** An object that gets a status. */
export interface StatusOwner {
  readonly ref: ObjectRef;
  /** `metadata.generation`. */
  readonly generation: number;
}

export interface GatewayClass extends StatusOwner {
  /** Sorted by name. */
  readonly supportedFeatures: readonly string[];
}

export interface Gateway extends StatusOwner {
  /** Addresses that clients may use, for `status.addresses`; IP literals. */
  readonly addresses: readonly string[];
  /** In the order of `spec.listeners`. */
  readonly listeners: readonly ListenerReport[];
  /** ListenerSets that are attached and accepted. */
  readonly attachedListenerSets: number;
  /** Wanted on everything that is made for the Gateway; see `spec.infrastructure`. */
  readonly infrastructure: Infrastructure;
}

export interface Infrastructure {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface ListenerSet extends StatusOwner {
  /** In the order of `spec.listeners`; empty when the parent does not take the set. */
  readonly listeners: readonly ListenerReport[];
}

/** What is told about a listener, whether it serves or not. */
export interface ListenerReport {
  readonly name: string;
  /** Kinds of `gateway.networking.k8s.io` that may attach. */
  readonly supportedKinds: readonly RouteKind[];
  /** Routes whose Accepted is True here. */
  readonly attachedRoutes: number;
}

export type RouteKind = 'HTTPRoute' | 'GRPCRoute' | 'TLSRoute' | 'TCPRoute' | 'UDPRoute';

export interface Route extends StatusOwner {
  readonly parents: readonly RouteParent[];
}

/** An entry of `spec.parentRefs` that names a Gateway of ours or a ListenerSet of one. */
export interface RouteParent {
  /** Index in `spec.parentRefs`. */
  readonly index: number;
  /** As the object says, defaults filled in. */
  readonly parentRef: ParentRef;
}

export interface ParentRef {
  readonly group: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly sectionName?: string;
  readonly port?: number;
}

export interface Policy extends StatusOwner {
  readonly ancestors: readonly PolicyAncestor[];
}

export interface PolicyAncestor {
  /** Named by findings about this entry. */
  readonly key: string;
  readonly ancestorRef: ParentRef;
}

/** A local address and port that is opened. */
export interface BindAddress {
  /** `tcp/127.0.0.1:8080`, `udp/[::]:53`. */
  readonly key: string;
  /** IP literal; `::` is dual-stack. */
  readonly ip: string;
  readonly port: number;
}

export type ServedListener = HttpListener | TlsListener | StreamListener;

interface ServedListenerBase {
  /** `namespace/gateway/listener`; of a ListenerSet `namespace/gateway/setNamespace/set/listener`. */
  readonly name: string;
  /** At least one. */
  readonly sockets: readonly BindAddress[];
  readonly settings: GatewaySettings;
  /** Of the Gateway, towards endpoints. */
  readonly clientCertificate: Certificate | undefined;
}

export interface HttpListener extends ServedListenerBase {
  readonly kind: 'http';
  /** See `hostname.ts`. */
  readonly hostname: string;
  /** `spec.listeners[].port`. */
  readonly port: number;
  /** `undefined`: clear text. */
  readonly tls: TlsTermination | undefined;
  /** In order of the routes' seniority, those of GRPCRoutes among them. */
  readonly attachments: readonly HttpAttachment[];
}

export interface TlsListener extends ServedListenerBase {
  readonly kind: 'tls';
  /** Of the server name. */
  readonly hostname: string;
  /** `undefined`: passed through. */
  readonly termination: TlsTermination | undefined;
  /** TLSRoutes in order of seniority. */
  readonly attachments: readonly StreamAttachment[];
  /** The most senior TCPRoute, for what no TLSRoute takes; only with `termination`. */
  readonly route: StreamRoute | undefined;
}

export interface StreamListener extends ServedListenerBase {
  readonly kind: 'tcp' | 'udp';
  /** The most senior route; `undefined`: none is attached. */
  readonly route: StreamRoute | undefined;
}

/** How a listener ends TLS. */
export interface TlsTermination {
  /** In the order of `certificateRefs`; at least one. */
  readonly certificates: readonly Certificate[];
  readonly minVersion: IrTlsVersion;
  readonly maxVersion: IrTlsVersion;
  /** IANA names in order of preference; empty: the library's choice. */
  readonly cipherSuites: readonly string[];
  /** In order of preference. */
  readonly alpn: readonly string[];
  readonly clientValidation: IrClientValidation | undefined;
}

/** A certificate with its key, from a Secret of type kubernetes.io/tls. Equal keys are the same object. */
export interface Certificate {
  /** `Secret/default/shop`. */
  readonly key: string;
  /** DNS names, lower case, sorted. */
  readonly names: readonly string[];
  /** PEM, leaf first. */
  readonly chain: string;
  /** PEM. */
  readonly privateKey: string;
}

/** An accepted HTTPRoute or GRPCRoute on one listener, with the names it serves there: at least one. */
export interface HttpAttachment {
  readonly route: HttpRoute;
  readonly hostnames: readonly AttachedHostname[];
}

/** An accepted TLSRoute on one listener, with the server names that it serves there: at least one. */
export interface StreamAttachment {
  readonly route: StreamRoute;
  readonly hostnames: readonly AttachedHostname[];
}

export interface AttachedHostname {
  /** Intersection with the listener's hostname: what limits traffic. */
  readonly hostname: string;
  /** The route's own hostname: what ranks routes. */
  readonly original: string;
}

/** An HTTPRoute, or a GRPCRoute as what it means in HTTP. */
export interface HttpRoute {
  readonly ref: ObjectRef;
  readonly seniority: Seniority;
  readonly rules: readonly HttpRule[];
}

export interface HttpRule {
  /** Index in `spec.rules`. */
  readonly index: number;
  /** Empty when none of them can be carried out. */
  readonly matches: readonly HttpMatch[];
  /** In order; only those that can be carried out. */
  readonly filters: readonly HttpFilter[];
  readonly retry: IrRetry | undefined;
  readonly sessionPersistence: IrSessionPersistence | undefined;
  readonly backends: readonly WeightedBackend[];
  /** 0: none. */
  readonly requestTimeoutMs: number;
  /** 0: none. */
  readonly backendRequestTimeoutMs: number;
}

export interface HttpMatch {
  /** Index in the rule's `matches`. */
  readonly index: number;
  /** A prefix carries no trailing slash, save the root `/`. */
  readonly path: { readonly type: 'exact' | 'prefix' | 'regex'; readonly value: string };
  readonly method: string | undefined;
  /** Names in lower case, sorted, each once. */
  readonly headers: readonly IrValueMatch[];
  /** Sorted by name, each once. */
  readonly queryParams: readonly IrValueMatch[];
  /** Of a GRPCRoute: how many characters of service and method it names, which ranks it. */
  readonly grpc: { readonly service: number; readonly method: number } | undefined;
}

/** What happens to requests and answers on their way. */
export type HttpFilter = IrPlainFilter | MirrorFilter | ExternalAuthFilter;

export type MirrorFilter = OverCluster<IrMirror>;

export type ExternalAuthFilter = OverCluster<IrExternalAuth>;

/** A filter of the IR with the cluster itself in place of its index. */
type OverCluster<F extends IrMirror | IrExternalAuth> = Omit<F, 'cluster'> & { readonly cluster: Cluster };

/** A TCPRoute, UDPRoute or TLSRoute: whole connections or flows. */
export interface StreamRoute {
  readonly ref: ObjectRef;
  readonly seniority: Seniority;
  readonly backends: readonly WeightedBackend[];
}

/** One share of the traffic of a rule; weight > 0. No cluster: the reference does not resolve, the share is answered with errors. */
export interface WeightedBackend {
  readonly weight: number;
  readonly cluster: Cluster | undefined;
  /** Filters of this backend only, after those of the rule. */
  readonly filters: readonly HttpFilter[];
}

/** A group of endpoints and how to treat them. Equal keys are the same object. */
export interface Cluster {
  /** `Service/default/web:8080`, `Backend/default/pool`. */
  readonly key: string;
  /** Sorted by address and port; may be empty. */
  readonly endpoints: readonly Endpoint[];
  /** `undefined`: passive only. */
  readonly healthCheck: IrHealthCheck | undefined;
  /** From the `appProtocol` of the port. */
  readonly protocol: 'http1' | 'http2';
  /** From the BackendTLSPolicy that holds for it; `undefined`: clear text. */
  readonly tls: IrUpstreamTls | undefined;
}

export interface Endpoint {
  /** Canonical IP literal. */
  readonly ip: string;
  readonly port: number;
  /** 1..1,000,000. */
  readonly weight: number;
}
