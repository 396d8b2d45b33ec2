/**
 * The validated model: what Weirgate will do with a snapshot, in the words of the Gateway API.
 * Everything here has passed the rules; what has not is a `Finding`. Made by `resolve/`, read by `status/` and `lower/`.
 */
import type { IrHealthCheck, IrSettings } from '../ir/ir.js';
import type { ObjectRef, Seniority } from './object-ref.js';
import type { GatewaySettings } from './settings.js';

export interface Model {
  readonly settings: IrSettings;
  /** Classes whose controllerName is ours, in order of seniority. */
  readonly classes: readonly GatewayClass[];
  /** Gateways of our accepted classes, in order of seniority. */
  readonly gateways: readonly Gateway[];
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
}

/** What is told about a listener, whether it serves or not. */
export interface ListenerReport {
  readonly name: string;
  /** Kinds of `gateway.networking.k8s.io` that may attach. */
  readonly supportedKinds: readonly RouteKind[];
  /** Routes whose Accepted is True here. */
  readonly attachedRoutes: number;
}

export type RouteKind = 'HTTPRoute' | 'TCPRoute';

export interface Route extends StatusOwner {
  readonly parents: readonly RouteParent[];
}

/** An entry of `spec.parentRefs` that names a Gateway of ours. */
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
  /** `tcp/127.0.0.1:8080`, `tcp/[::]:8080`. */
  readonly key: string;
  /** IP literal; `::` is dual-stack. */
  readonly ip: string;
  readonly port: number;
}

export type ServedListener = HttpListener | TcpListener;

interface ServedListenerBase {
  /** `namespace/gateway/listener`. */
  readonly name: string;
  /** At least one. */
  readonly sockets: readonly BindAddress[];
  readonly settings: GatewaySettings;
}

export interface HttpListener extends ServedListenerBase {
  readonly kind: 'http';
  /** See `hostname.ts`. */
  readonly hostname: string;
  /** In order of the routes' seniority. */
  readonly attachments: readonly HttpAttachment[];
}

export interface TcpListener extends ServedListenerBase {
  readonly kind: 'tcp';
  /** The most senior route; `undefined`: none is attached. */
  readonly route: TcpRoute | undefined;
}

/** An accepted HTTPRoute on one listener, with the names it serves there: at least one. */
export interface HttpAttachment {
  readonly route: HttpRoute;
  readonly hostnames: readonly AttachedHostname[];
}

export interface AttachedHostname {
  /** Intersection with the listener's hostname: what limits traffic. */
  readonly hostname: string;
  /** The route's own hostname: what ranks routes. */
  readonly original: string;
}

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
  readonly path: { readonly type: 'exact' | 'prefix'; readonly value: string };
  readonly method: string | undefined;
  /** Names in lower case, sorted, each once. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

export interface TcpRoute {
  readonly ref: ObjectRef;
  readonly seniority: Seniority;
  readonly backends: readonly WeightedBackend[];
}

/** One share of the traffic of a rule; weight > 0. No cluster: the reference does not resolve, the share is answered with errors. */
export interface WeightedBackend {
  readonly weight: number;
  readonly cluster: Cluster | undefined;
}

/** A group of endpoints and how to treat them. Equal keys are the same object. */
export interface Cluster {
  /** `Service/default/web:8080`, `Backend/default/pool`. */
  readonly key: string;
  /** Sorted by address and port; may be empty. */
  readonly endpoints: readonly Endpoint[];
  /** `undefined`: passive only. */
  readonly healthCheck: IrHealthCheck | undefined;
}

export interface Endpoint {
  /** Canonical IP literal. */
  readonly ip: string;
  readonly port: number;
  /** 1..1,000,000. */
  readonly weight: number;
}
