/**
 * Certificates, keys and authorities: from a reference to what it names, or to the reason why that cannot be used.
 * Order of the questions: permission, kind, existence, content; whether an object of another namespace exists must not show without a grant.
 * Source: ListenerTLSConfig.certificateRefs, GatewayBackendTLS.clientCertificateRef, FrontendTLSValidation and BackendTLSPolicyValidation.
 */
import { err, ok, type Result } from '../base/index.js';
import { type ConfigMap, objectLabel, type Secret } from '../gateway-api/index.js';
import { type Lifetime, parseAuthorities, parseKeyPair } from '../model/certificate.js';
import type { Certificate } from '../model/model.js';
import { CODES } from './codes.js';
import type { Findings } from './findings.js';
import type { Inventory } from './inventory.js';
import type { ReferenceGrants, Referrer } from './reference-grants.js';

/** What names a Secret or ConfigMap. */
export interface CredentialReference {
  readonly group: string;
  readonly kind: string;
  /** Usually that of the referrer. */
  readonly namespace?: string;
  readonly name: string;
}

/** Why a reference leads to nothing that can be used. */
export interface CredentialFault {
  readonly kind: 'notPermitted' | 'wrongKind' | 'unusable';
  /** Field of the reference that is wrong. */
  readonly field: 'kind' | 'name';
  /** Completes "certificateRefs[0] names …"; holds nothing of what is in a Secret. */
  readonly message: string;
  readonly hint: string;
}

/** The one type of Secret that holds a certificate with its key. */
const TLS_SECRET = 'kubernetes.io/tls';
const CERTIFICATE_ENTRY = 'tls.crt';
const KEY_ENTRY = 'tls.key';
const AUTHORITIES_ENTRY = 'ca.crt';

const PAIR_HINT = `a Secret of type ${TLS_SECRET} holds the chain, leaf first, under ${CERTIFICATE_ENTRY} and its key under ${KEY_ENTRY}, both as PEM`;
const AUTHORITIES_HINT = `${AUTHORITIES_ENTRY} holds the certificates of authorities as PEM`;

type Kind = 'Secret' | 'ConfigMap';

/** A certificate of a Secret, and when it holds. */
export interface HeldCertificate {
  readonly certificate: Certificate;
  readonly lifetime: Lifetime;
}

/**
 * What objects hold, by object: resources live on over builds as long as their file does not change, and reading a key takes a third of
 * a millisecond. Entries go with their objects.
 */
const PAIRS = new WeakMap<Secret, Result<HeldCertificate, string>>();
const AUTHORITIES = new WeakMap<Secret | ConfigMap, Result<readonly string[], string>>();

/** Answers in O(1) for objects that were read before; remembers which Secrets were of use. */
export class Certificates {
  readonly #inventory: Inventory;
  readonly #grants: ReferenceGrants;
  readonly #used = new Set<Secret>();

  constructor(inventory: Inventory, grants: ReferenceGrants) {
    this.#inventory = inventory;
    this.#grants = grants;
  }

  /** Returns the certificate and key of a Secret. Equal Secrets give the same object. Cost: about 0.5 ms for a new Secret. */
  keyPair(from: Referrer, reference: CredentialReference): Result<Certificate, CredentialFault> {
    const secret = this.#find(from, reference, ['Secret']);
    if (!secret.ok) return secret;
    const held = heldBy(secret.value as Secret);
    return held.ok ? ok(held.value.certificate) : err(unusable(secret.value, held.error, PAIR_HINT));
  }

  /**
   * Returns the authorities under `ca.crt` as PEM texts. Core of the API is a ConfigMap; a Secret does as well, because that is where
   * issuers put the authority beside the certificate. Cost: about 0.1 ms for each authority of a new object.
   */
  authorities(from: Referrer, reference: CredentialReference): Result<readonly string[], CredentialFault> {
    const holder = this.#find(from, reference, ['ConfigMap', 'Secret']);
    if (!holder.ok) return holder;
    let authorities = AUTHORITIES.get(holder.value);
    if (authorities === undefined) {
      authorities = readAuthorities(holder.value);
      AUTHORITIES.set(holder.value, authorities);
    }
    return authorities.ok ? authorities : err(unusable(holder.value, authorities.error, AUTHORITIES_HINT));
  }

  /** Notes that a reference which is not carried out names a Secret, so that nobody is told to remove it. */
  keepNamed(from: Referrer, reference: CredentialReference): void {
    this.#find(from, reference, ['Secret']);
  }

  /** Says which Secrets with a certificate nobody names; call it once all references are judged. */
  reportUnused(findings: Findings): void {
    for (const secret of this.#inventory.all('Secret')) {
      if (secret.type !== TLS_SECRET || this.#used.has(secret)) continue;
      findings.add(secret, {
        code: CODES.certificateUnused,
        message: 'nothing names this certificate, so it has no effect',
        hint: 'name it in tls.certificateRefs of a listener, or remove it',
      });
    }
  }

  #find(
    from: Referrer,
    reference: CredentialReference,
    kinds: readonly Kind[],
  ): Result<Secret | ConfigMap, CredentialFault> {
    const { group, kind, namespace = from.namespace, name } = reference;
    const label = objectLabel(kind, namespace, name);
    if (!this.#grants.permits(from, { group, kind, namespace, name })) {
      return err({
        kind: 'notPermitted',
        field: 'name',
        message: `${label} of another namespace, which no ReferenceGrant permits`,
        hint: `write a ReferenceGrant in namespace ${namespace}, from ${from.kind} in ${from.namespace} to ${kind}`,
      });
    }
    const known = group === '' ? kinds.find((candidate) => candidate === kind) : undefined;
    if (known === undefined) {
      return err({
        kind: 'wrongKind',
        field: 'kind',
        message: `the kind ${kind} of group "${group}", which does not hold ${kinds.length === 1 ? 'certificates' : 'authorities'} here`,
        hint: `use a ${kinds.join(' or ')} of group ""`,
      });
    }
    const object = this.#inventory.find(known, namespace, name);
    if (object === undefined) {
      return err({
        kind: 'unusable',
        field: 'name',
        message: `${label}, ${this.#inventory.absence(known, namespace, name)}`,
        hint: namespace === from.namespace ? this.#inventory.suggestion(known, namespace, name) : '',
      });
    }
    if (object.kind === 'Secret') this.#used.add(object);
    return ok(object);
  }
}

function unusable({ kind, metadata }: Secret | ConfigMap, error: string, hint: string): CredentialFault {
  return {
    kind: 'unusable',
    field: 'name',
    message: `${objectLabel(kind, metadata.namespace, metadata.name)}, which cannot be used: ${error}`,
    hint,
  };
}

/** Returns the certificate and key of a Secret, or what is wrong with it. Cost: O(1) after the first time. */
export function heldBy(secret: Secret): Result<HeldCertificate, string> {
  let held = PAIRS.get(secret);
  if (held === undefined) {
    held = readKeyPair(secret);
    PAIRS.set(secret, held);
  }
  return held;
}

function readKeyPair(secret: Secret): Result<HeldCertificate, string> {
  if (secret.type !== TLS_SECRET) return err(`its type is ${secret.type}, not ${TLS_SECRET}`);
  const chain = entryOf(secret, CERTIFICATE_ENTRY);
  const key = entryOf(secret, KEY_ENTRY);
  if (chain === undefined || key === undefined) {
    return err(`it has no ${chain === undefined ? CERTIFICATE_ENTRY : KEY_ENTRY}`);
  }
  const pair = parseKeyPair(chain, key, CERTIFICATE_ENTRY, KEY_ENTRY);
  if (!pair.ok) return pair;
  const { names, chain: pem, privateKey, ...lifetime } = pair.value;
  return ok({ certificate: { key: keyOf(secret), names, chain: pem, privateKey }, lifetime });
}

function readAuthorities(holder: Secret | ConfigMap): Result<readonly string[], string> {
  const text = entryOf(holder, AUTHORITIES_ENTRY);
  return text === undefined ? err(`it has no ${AUTHORITIES_ENTRY}`) : parseAuthorities(text, AUTHORITIES_ENTRY);
}

/** Returns a text that an object holds. Admission has put the plain text of a Secret into `data`. */
function entryOf(holder: Secret | ConfigMap, name: string): string | undefined {
  const own = (texts: Readonly<Record<string, string>>): string | undefined =>
    Object.hasOwn(texts, name) ? texts[name] : undefined;
  const plain = holder.kind === 'ConfigMap' ? own(holder.data) : undefined;
  if (plain !== undefined) return plain;
  const encoded = own(holder.kind === 'Secret' ? holder.data : holder.binaryData);
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
}

/** Returns the key by which model and IR know the certificate of a Secret. */
export function keyOf({ metadata: { namespace, name } }: Secret): string {
  return `Secret/${namespace}/${name}`;
}
