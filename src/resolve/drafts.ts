/**
 * Gateways and listeners while they are being judged. Only `resolve/` sees them; the model is what is left in the end.
 */
import type { Gateway, Listener, ListenerSet } from '../gateway-api/index.js';
import type {
  BindAddress,
  Certificate,
  HttpAttachment,
  RouteKind,
  StreamAttachment,
  StreamRoute,
  TlsTermination,
} from '../model/model.js';
import { objectName } from '../model/object-ref.js';
import type { GatewaySettings } from '../model/settings.js';

export interface GatewayDraft {
  readonly resource: Gateway;
  /** `namespace/name`. */
  readonly name: string;
  readonly settings: GatewaySettings;
  /** Networks of the class's config; `undefined`: no pool. */
  readonly pool: readonly string[] | undefined;
  /** With `defaultScope: All`: routes with `useDefaultGateways: All` attach as if they named it. */
  readonly isDefault: boolean;
  /** The class is not accepted, so nothing is decided yet. */
  readonly isPending: boolean;
  /** False as soon as a finding says so: then it opens nothing. */
  accepted: boolean;
  /** False as soon as a finding says so; ListenerSets then say that their parent is not programmed. */
  programmed: boolean;
  /** Whether it is accepted and one of its own listeners can serve: else its ListenerSets are refused as well. */
  serves: boolean;
  /** Canonical IP literals that the listeners bind; none of them covers another. */
  binds: readonly string[];
  /** For `status.addresses`. */
  addresses: readonly string[];
  readonly listeners: ListenerDraft[];
  /** Shown to endpoints that ask for one; see `spec.tls.backend`. */
  clientCertificate: Certificate | undefined;
}

/** A ListenerSet that names a Gateway of ours, while it is being judged. */
export interface ListenerSetDraft {
  readonly resource: ListenerSet;
  /** `namespace/name`. */
  readonly name: string;
  readonly gateway: GatewayDraft;
  /** False: `allowedListeners` of the Gateway does not take it, and it has no listeners. */
  readonly isAllowed: boolean;
  /** False as soon as a finding says so: then it is not attached. */
  accepted: boolean;
  readonly listeners: ListenerDraft[];
}

/** What a route may name as its parent: it attaches to the listeners of this object only, never to those of its relatives. */
export type ParentDraft = GatewayDraft | ListenerSetDraft;

/** Protocols of the Gateway API; `undefined` in a draft means any other word, or one that the data plane does not serve. */
export type Protocol = 'HTTP' | 'HTTPS' | 'TLS' | 'TCP' | 'UDP';

/** Reasons of the Conflicted condition. */
export type ConflictReason = 'HostnameConflict' | 'ProtocolConflict' | 'ListenerConflict';

export interface ListenerDraft {
  readonly gateway: GatewayDraft;
  /** In whose `spec.listeners` it stands: findings about the listener are findings about this object. */
  readonly owner: Gateway | ListenerSet;
  readonly spec: Listener;
  /** `spec.listeners[2]`. */
  readonly path: string;
  /** `namespace/gateway/listener`; of a ListenerSet `namespace/gateway/setNamespace/set/listener`. */
  readonly name: string;
  readonly protocol: Protocol | undefined;
  /** See `model/hostname.ts`; `''` for protocols without one. */
  readonly hostname: string;
  readonly supportedKinds: readonly RouteKind[];
  readonly allowsNamespace: (namespace: string) => boolean;
  /** False as soon as a finding says so. */
  accepted: boolean;
  /** What the Conflicted condition says, if anything. */
  conflict: ConflictReason | undefined;
  /** None of its sockets can be opened. */
  portUnavailable: boolean;
  /** HTTPS, and TLS with mode Terminate, once the certificates are found. Without one such a listener takes no traffic. */
  termination: TlsTermination | undefined;
  /** What it opens in the end; empty when it takes no traffic. */
  sockets: readonly BindAddress[];
  attachedRoutes: number;
  /** In order of seniority. Grows while routes attach; see `ResolveMemo.settle` for afterwards. */
  httpAttachments: readonly HttpAttachment[];
  /** TLSRoutes in order of seniority. */
  readonly streamAttachments: StreamAttachment[];
  /** The most senior TCPRoute or UDPRoute. */
  streamRoute: StreamRoute | undefined;
}

/** True when it ends TLS of clients, so that it serves nothing without a certificate. */
export function endsTls({ protocol, spec }: ListenerDraft): boolean {
  return protocol === 'HTTPS' || (protocol === 'TLS' && tlsModeOf(spec) === 'Terminate');
}

/** Returns the mode in force; admission demands one for protocol TLS, older API servers do not. */
export function tlsModeOf({ tls }: Listener): NonNullable<Listener['tls']>['mode'] {
  return tls?.mode ?? 'Terminate';
}

/** True when nothing but an address can keep it from taking traffic. */
export function isValid(listener: ListenerDraft): boolean {
  return listener.accepted && (!endsTls(listener) || listener.termination !== undefined);
}

/** Returns how messages name a listener of another object: `"http" of Gateway default/edge`. */
export function listenerText({ spec, owner }: ListenerDraft): string {
  return `"${spec.name}" of ${owner.kind} ${objectName(owner.metadata)}`;
}
