/**
 * Rules of Secret and ConfigMap. Messages name keys, never values.
 */
import { childPath } from '../../base/index.js';
import type { ConfigMap, Secret } from '../../gateway-api/index.js';
import type { Rule, Violate } from './rule.js';

/** Of all values together; the limit of an API server. */
const MAX_BYTES = 1_048_576;

/** Keys that a Secret of a certificate has. */
const TLS_KEYS = ['tls.crt', 'tls.key'] as const;

type Entries = Readonly<Record<string, string>>;

function checkCertificateKeys({ type, data, stringData = {} }: Secret, violate: Violate): void {
  if (type !== 'kubernetes.io/tls') return;
  for (const key of TLS_KEYS) {
    if (Object.hasOwn(data, key) || Object.hasOwn(stringData, key)) continue;
    violate(
      childPath('data', key),
      `a Secret of type ${type} needs the key "${key}"`,
      'add it in base64, or as plain text under stringData',
    );
  }
}

function checkSecretSize({ data, stringData = {} }: Secret, violate: Violate): void {
  const plain = Object.keys(stringData);
  const encoded = Object.entries(data).filter(([key]) => !plain.includes(key));
  checkSize(decodedBytes(Object.fromEntries(encoded)) + textBytes(stringData), violate);
}

function checkConfigMapSize({ data, binaryData }: ConfigMap, violate: Violate): void {
  checkSize(textBytes(data) + decodedBytes(binaryData), violate);
}

function checkSize(bytes: number, violate: Violate): void {
  if (bytes > MAX_BYTES) violate('data', `${bytes} bytes, at most ${MAX_BYTES} are allowed`, 'split the object');
}

function textBytes(entries: Entries): number {
  return Object.values(entries).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function decodedBytes(entries: Entries): number {
  return Object.values(entries).reduce((sum, text) => sum + Buffer.byteLength(text, 'base64'), 0);
}

function checkKeysOnce({ data, binaryData }: ConfigMap, violate: Violate): void {
  for (const key of Object.keys(data)) {
    if (!Object.hasOwn(binaryData, key)) continue;
    violate(childPath('data', key), `key "${key}" stands in data and in binaryData`, 'keep one of them');
  }
}

/** The rules of Secret. */
export const SECRET_RULES: readonly Rule<Secret>[] = [
  { code: 'WG3521', says: 'a Secret of a certificate has certificate and key', check: checkCertificateKeys },
  { code: 'WG3522', says: 'the values of a Secret have at most 1 MiB together', check: checkSecretSize },
];

/** The rules of ConfigMap. */
export const CONFIG_MAP_RULES: readonly Rule<ConfigMap>[] = [
  { code: 'WG3531', says: 'a key stands in data or in binaryData', check: checkKeysOnce },
  { code: 'WG3532', says: 'the values of a ConfigMap have at most 1 MiB together', check: checkConfigMapSize },
];
