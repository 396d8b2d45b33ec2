/**
 * Certificates and keys as people hand them over: PEM texts in, what TLS needs out, or the one fact that is wrong.
 * Pure computation: whether a certificate has expired is judged where there is a clock, see `certificate-lifetime.ts`.
 * No error ever contains a part of a key.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { err, ok, type Result } from '../base/index.js';
import { dnsNames } from './certificate-names.js';
import { formatPem, ordinal, type PemBlock, parsePem } from './certificate-pem.js';

/** When a certificate holds, milliseconds since 1970, both ends included. */
export interface Lifetime {
  readonly notBefore: number;
  readonly notAfter: number;
}

/** A certificate with the key that belongs to it. */
export interface KeyPair extends Lifetime {
  /** DNS names, lower case, sorted; see `dnsNames`. */
  readonly names: readonly string[];
  /** PEM, leaf first, one way of writing for one content. */
  readonly chain: string;
  /** PEM, PKCS #8. */
  readonly privateKey: string;
}

/** Curves that TLS 1.2 and 1.3 sign with, as OpenSSL calls them. */
const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

/** Shorter RSA keys are refused by current clients. */
const MIN_RSA_BITS = 2048;

const KEY_LABELS: ReadonlySet<string> = new Set([
  'PRIVATE KEY',
  'RSA PRIVATE KEY',
  'EC PRIVATE KEY',
  'ENCRYPTED PRIVATE KEY',
]);

/**
 * Returns certificate and key of a server or client. `chainName` and `keyName` say in the error which text is meant (`tls.crt`).
 * Checked: both can be read, the key signs what TLS needs, it belongs to the first certificate. Cost: about 0.5 ms.
 */
export function parseKeyPair(
  chainText: string,
  keyText: string,
  chainName: string,
  keyName: string,
): Result<KeyPair, string> {
  const chain = parseCertificates(chainText, chainName);
  if (!chain.ok) return chain;
  const [leaf] = chain.value;
  if (leaf === undefined) return err(`${chainName} holds no certificate`);
  const key = parseKey(keyText, keyName);
  if (!key.ok) return key;
  if (!leaf.checkPrivateKey(key.value)) return err(explainMismatch(chain.value, key.value, chainName, keyName));
  return ok({
    names: dnsNames(leaf.subjectAltName),
    chain: chain.value.map(({ raw }) => formatPem('CERTIFICATE', raw)).join(''),
    privateKey: key.value.export({ type: 'pkcs8', format: 'pem' }).toString(),
    notBefore: Date.parse(leaf.validFrom),
    notAfter: Date.parse(leaf.validTo),
  });
}

/** Returns the authorities of a bundle as PEM texts, each once, in their order; at least one. Cost: about 0.1 ms each. */
export function parseAuthorities(text: string, name: string): Result<readonly string[], string> {
  const certificates = parseCertificates(text, name);
  if (!certificates.ok) return certificates;
  return ok([...new Set(certificates.value.map(({ raw }) => formatPem('CERTIFICATE', raw)))]);
}

function parseCertificates(text: string, name: string): Result<readonly X509Certificate[], string> {
  const blocks = parsePem(text);
  if (!blocks.ok) return err(`${name}: ${blocks.error}`);
  const certificates: X509Certificate[] = [];
  for (const { label, der } of blocks.value) {
    // Keys and parameters beside the certificates are usual in files that were made by joining others.
    if (label !== 'CERTIFICATE') continue;
    const certificate = attempt(() => new X509Certificate(der));
    if (certificate === undefined)
      return err(`the ${ordinal(certificates.length + 1)} certificate of ${name} cannot be read`);
    certificates.push(certificate);
  }
  return certificates.length > 0 ? ok(certificates) : err(`${name} holds ${insteadOf(blocks.value)}no certificate`);
}

function parseKey(text: string, name: string): Result<KeyObject, string> {
  const blocks = parsePem(text);
  if (!blocks.ok) return err(`${name}: ${blocks.error}`);
  const block = blocks.value.find(({ label }) => KEY_LABELS.has(label));
  if (block === undefined) return err(`${name} holds ${insteadOf(blocks.value)}no private key`);
  if (block.isEncrypted || block.label === 'ENCRYPTED PRIVATE KEY') {
    return err(`the key of ${name} is encrypted; only keys without a passphrase can be used`);
  }
  const key = attempt(() => createPrivateKey(formatPem(block.label, block.der)));
  if (key === undefined) return err(`the key of ${name} cannot be read`);
  const unfit = unfitness(key);
  return unfit === undefined ? ok(key) : err(`the key of ${name} is ${unfit}`);
}

/** What a text holds in place of what is looked for: `blocks of type X509 CRL, but `. */
function insteadOf(blocks: readonly PemBlock[]): string {
  const labels = [...new Set(blocks.map(({ label }) => label))].slice(0, 3);
  return labels.length === 0 ? 'no PEM block, so ' : `PEM blocks of type ${labels.join(', ')}, but `;
}

/** Returns why TLS cannot use a key. */
function unfitness({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): string | undefined {
  switch (type) {
    case 'rsa': {
      const bits = details?.modulusLength ?? 0;
      return bits < MIN_RSA_BITS ? `an RSA key of ${bits} bits; ${MIN_RSA_BITS} are the least` : undefined;
    }
    case 'ec':
      return CURVES.has(details?.namedCurve ?? '') ? undefined : `on a curve that is not used: P-256, P-384, P-521 are`;
    case 'ed25519':
      return undefined;
    default:
      return `of type ${type ?? 'unknown'}; RSA, ECDSA and Ed25519 can be used`;
  }
}

function explainMismatch(
  chain: readonly X509Certificate[],
  key: KeyObject,
  chainName: string,
  keyName: string,
): string {
  const place = chain.findIndex((certificate) => certificate.checkPrivateKey(key));
  return place < 0
    ? `the key of ${keyName} does not belong to the first certificate of ${chainName}`
    : `the key of ${keyName} belongs to the ${ordinal(place + 1)} certificate of ${chainName}, which must come first`;
}

/** Node throws for what OpenSSL cannot read; its texts are for experts, so ours say it. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
