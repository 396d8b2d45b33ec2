/**
 * TLS of listeners: certificates, options and client certificates, put together to what a listener ends TLS with; and TLS of the
 * Gateways above them. A listener that cannot say who it is, or whom it lets in, serves nothing. Source: ListenerTLSConfig, GatewayTLSConfig.
 */
import { childPath } from '../base/index.js';
import { GATEWAY_GROUP } from '../gateway-api/index.js';
import type { Certificate } from '../model/model.js';
import type { CredentialFault } from './certificates.js';
import { CODES } from './codes.js';
import type { Context } from './context.js';
import { endsTls, type GatewayDraft, type ListenerDraft, tlsModeOf } from './drafts.js';
import { type FindingDraft, isFalse } from './findings.js';
import { FrontendValidation } from './frontend-validation.js';
import { isOwnOption, type OptionFault, readTlsOptions, type TlsSettings } from './tls-options.js';

/**
 * Fills in `termination` of the listeners that end TLS and `clientCertificate` of the Gateways. `listeners` are those of the Gateways and
 * of the ListenerSets that they take; call it before conflicts are judged. Cost: O(listeners × references).
 */
export function resolveTls(
  gateways: readonly GatewayDraft[],
  listeners: Iterable<ListenerDraft>,
  context: Context,
): void {
  const validations = new Map(gateways.map((gateway) => [gateway, new FrontendValidation(gateway, context)]));
  const ports = new Map(gateways.map((gateway) => [gateway, new Set<number>()]));
  for (const gateway of gateways) resolveClientCertificate(gateway, context);
  for (const listener of listeners) {
    if (listener.spec.protocol === 'HTTPS') ports.get(listener.gateway)?.add(listener.spec.port);
    if (endsTls(listener)) terminate(listener, validations.get(listener.gateway), context);
    else if (listener.protocol === 'TLS') reportIgnored(listener, context);
    else keepCertificates(listener, context);
  }
  for (const [gateway, validation] of validations) validation.report(ports.get(gateway) ?? new Set());
}

/** What a listener names that is not served is not judged, and is there for the version that serves it. */
function keepCertificates({ owner, spec }: ListenerDraft, { certificates }: Context): void {
  const from = { group: GATEWAY_GROUP, kind: owner.kind, namespace: owner.metadata.namespace };
  for (const reference of spec.tls?.certificateRefs ?? []) certificates.keepNamed(from, reference);
}

function terminate(listener: ListenerDraft, validation: FrontendValidation | undefined, context: Context): void {
  const settings = resolveOptions(listener, context);
  const certificates = resolveCertificates(listener, context);
  const clients = listener.protocol === 'HTTPS' ? (validation?.of(listener) ?? 'none') : 'none';
  if (settings === undefined || certificates.length === 0 || clients === 'refused') return;
  listener.termination = { certificates, ...settings, clientValidation: clients === 'none' ? undefined : clients };
}

/** Returns what the options say; `undefined` when one of them cannot be carried out, and then the listener is not accepted. */
function resolveOptions(listener: ListenerDraft, context: Context): TlsSettings | undefined {
  const { spec, path } = listener;
  const { settings, faults, foreign } = readTlsOptions(spec.tls?.options, spec.protocol === 'HTTPS' ? 'HTTPS' : 'TLS');
  for (const key of foreign) {
    add(listener, context, {
      code: CODES.tlsOptionIgnored,
      path: childPath(`${path}.tls.options`, key),
      message: `option ${key} is not one of ours and has no effect`,
    });
  }
  const refused = faults.map((fault): [OptionFault, string] => [fault, 'UnsupportedValue']);
  const unspeakable = faults.length === 0 ? withoutHttp2(listener, settings) : undefined;
  if (unspeakable !== undefined) refused.push([unspeakable, 'UnsupportedProtocol']);
  for (const [{ key, message, hint }, reason] of refused) {
    listener.accepted = false;
    add(listener, context, {
      code: CODES.tlsOptionUnsupported,
      path: key === undefined ? `${path}.tls.options` : childPath(`${path}.tls.options`, key),
      condition: isFalse('Accepted', reason),
      message,
      hint,
    });
  }
  return refused.length === 0 ? settings : undefined;
}

/** Calls of gRPC need HTTP/2. Source: GRPCRoute, "Implementations supporting GRPCRoute with the HTTPS ProtocolType". */
function withoutHttp2({ protocol, supportedKinds }: ListenerDraft, { alpn }: TlsSettings): OptionFault | undefined {
  const isGrpcOnly = supportedKinds.length > 0 && supportedKinds.every((kind) => kind === 'GRPCRoute');
  if (protocol !== 'HTTPS' || !isGrpcOnly || alpn.includes('h2')) return undefined;
  const message = 'the listener takes GRPCRoutes only, and its options leave out HTTP/2, which they need';
  return { key: 'weirgate.dev/alpn', message, hint: 'add h2' };
}

/** Returns the certificates that can be used, in the order of the references, each once; the others are told. */
function resolveCertificates(listener: ListenerDraft, context: Context): readonly Certificate[] {
  const { owner, spec, path } = listener;
  const references = spec.tls?.certificateRefs ?? [];
  const from = { group: GATEWAY_GROUP, kind: owner.kind, namespace: owner.metadata.namespace };
  const certificates = new Set<Certificate>();
  for (const [index, reference] of references.entries()) {
    const found = context.certificates.keyPair(from, reference);
    if (found.ok) {
      certificates.add(found.value);
      continue;
    }
    const place = `certificateRefs[${index}]`;
    add(listener, context, {
      code: CODES.certificateInvalid,
      path: `${path}.tls.${place}.${found.error.field}`,
      condition: isFalse('ResolvedRefs', reasonOf(found.error, 'InvalidCertificateRef')),
      message: `tls.${place} names ${found.error.message}`,
      hint: found.error.hint,
    });
  }
  if (references.length === 0) {
    add(listener, context, {
      code: CODES.certificateMissing,
      path: spec.tls === undefined ? path : `${path}.tls`,
      condition: isFalse('ResolvedRefs', 'InvalidCertificateRef'),
      message: `a listener with protocol ${spec.protocol} needs a certificate, and ${spec.tls === undefined ? 'it has no tls' : 'tls names none'}`,
      hint: 'name a Secret of type kubernetes.io/tls in tls.certificateRefs',
    });
  }
  return [...certificates];
}

/** Of a passthrough listener the backend answers for certificates and options. */
function reportIgnored(listener: ListenerDraft, context: Context): void {
  const { spec, path } = listener;
  const { certificateRefs = [], options = {} } = spec.tls ?? {};
  if (tlsModeOf(spec) !== 'Passthrough') return;
  const fields = certificateRefs.length === 0 ? [] : ['certificateRefs'];
  if (Object.keys(options).some(isOwnOption)) fields.push('options');
  for (const field of fields) {
    add(listener, context, {
      code: CODES.tlsOptionIgnored,
      path: `${path}.tls.${field}`,
      message: `tls.${field} has no effect with mode Passthrough: the backend ends TLS`,
    });
  }
}

/**
 * A client certificate that cannot be used is left out: endpoints are verified all the same and see nothing that is not theirs, and one
 * that insists on a certificate refuses us. To refuse every backend with TLS would harm those that do not insist.
 * Source: GatewayBackendTLS; the condition "does not directly impact the Gateway's Accepted or Programmed conditions".
 */
function resolveClientCertificate(gateway: GatewayDraft, { certificates, capabilities, findings }: Context): void {
  const { resource } = gateway;
  const reference = resource.spec.tls?.backend?.clientCertificateRef;
  if (reference === undefined) return;
  const path = 'spec.tls.backend.clientCertificateRef';
  const from = { group: GATEWAY_GROUP, kind: resource.kind, namespace: resource.metadata.namespace };
  const found = certificates.keyPair(from, reference);
  if (!found.ok) {
    findings.add(resource, {
      code: CODES.clientCertificate,
      path: `${path}.${found.error.field}`,
      condition: isFalse('ResolvedRefs', reasonOf(found.error, 'InvalidClientCertificateRef')),
      message: `tls.backend.clientCertificateRef names ${found.error.message}; backends see no client certificate`,
      hint: found.error.hint,
    });
  } else if (!capabilities.has('upstream/clientCertificate')) {
    findings.add(resource, {
      code: CODES.notServedYet,
      path,
      message: 'client certificates towards backends are not carried out by this version',
    });
  } else {
    gateway.clientCertificate = found.value;
  }
}

function reasonOf({ kind }: CredentialFault, otherwise: string): string {
  return kind === 'notPermitted' ? 'RefNotPermitted' : otherwise;
}

function add({ owner, spec }: ListenerDraft, { findings }: Context, draft: Omit<FindingDraft, 'subject'>): void {
  findings.add(owner, { ...draft, subject: { kind: 'listener', name: spec.name } });
}
