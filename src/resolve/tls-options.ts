/**
 * Options of TLS listeners under keys of ours: versions, cipher suites, ALPN. Keys of other people's are none of our business, but told.
 * Source: ListenerTLSConfig.options.
 */
import { WEIRGATE_GROUP } from '../gateway-api/index.js';
import type { IrTlsVersion } from '../ir/ir.js';
import type { TlsTermination } from '../model/model.js';

/** What options say, defaults filled in. */
export type TlsSettings = Pick<TlsTermination, 'minVersion' | 'maxVersion' | 'cipherSuites' | 'alpn'>;

/** An option that cannot be carried out. */
export interface OptionFault {
  /** `undefined`: several keys contradict one another. */
  readonly key: string | undefined;
  readonly message: string;
  readonly hint: string;
}

/** The options of a listener, read. */
export interface ReadOptions {
  readonly settings: TlsSettings;
  readonly faults: readonly OptionFault[];
  /** Keys without our prefix, sorted. */
  readonly foreign: readonly string[];
}

const PREFIX = `${WEIRGATE_GROUP}/`;
const MIN_VERSION = `${PREFIX}min-tls-version`;
const MAX_VERSION = `${PREFIX}max-tls-version`;
const CIPHER_SUITES = `${PREFIX}cipher-suites`;
const ALPN = `${PREFIX}alpn`;

const VERSIONS: readonly IrTlsVersion[] = ['1.2', '1.3'];

/** Suites by the version that they belong to; IANA names. All give forward secrecy and are free of known faults. */
const SUITES: Readonly<Record<IrTlsVersion, readonly string[]>> = {
  '1.2': [
    'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
    'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
    'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
    'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
    'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
    'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
  ],
  '1.3': ['TLS_AES_256_GCM_SHA384', 'TLS_AES_128_GCM_SHA256', 'TLS_CHACHA20_POLY1305_SHA256'],
};

/** What an HTTPS listener can speak. */
const HTTP_PROTOCOLS: readonly string[] = ['h2', 'http/1.1'];
/** Identifiers that can be written in a list: RFC 7301 allows any bytes, in use are printable ones. */
const PROTOCOL_ID = /^[!-+\--~]{1,255}$/;

/** Returns what the options of an HTTPS or TLS listener mean. A faulty option leaves the default in `settings`. */
export function readTlsOptions(
  options: Readonly<Record<string, string>> | undefined,
  protocol: 'HTTPS' | 'TLS',
): ReadOptions {
  const faults: OptionFault[] = [];
  const foreign: string[] = [];
  let minVersion: IrTlsVersion = '1.2';
  let maxVersion: IrTlsVersion = '1.3';
  let cipherSuites: readonly string[] = [];
  let alpn: readonly string[] = protocol === 'HTTPS' ? HTTP_PROTOCOLS : [];
  for (const [key, value] of Object.entries(options ?? {})) {
    const use = <T>(read: T | OptionFault, set: (value: T) => void): void => {
      if (isFault(read)) faults.push(read);
      else set(read);
    };
    switch (key) {
      case MIN_VERSION:
        use(readVersion(key, value), (version) => {
          minVersion = version;
        });
        break;
      case MAX_VERSION:
        use(readVersion(key, value), (version) => {
          maxVersion = version;
        });
        break;
      case CIPHER_SUITES:
        use(readSuites(key, value), (suites) => {
          cipherSuites = suites;
        });
        break;
      case ALPN:
        use(readAlpn(key, value, protocol), (protocols) => {
          alpn = protocols;
        });
        break;
      default:
        if (key.startsWith(PREFIX)) faults.push(unknownKey(key));
        else foreign.push(key);
    }
  }
  const settings: TlsSettings = { minVersion, maxVersion, cipherSuites, alpn };
  if (faults.length === 0) faults.push(...contradictions(settings));
  return { settings, faults, foreign: foreign.sort() };
}

/** True for a key that is ours to know. */
export function isOwnOption(key: string): boolean {
  return key.startsWith(PREFIX);
}

function isFault(read: unknown): read is OptionFault {
  return typeof read === 'object' && read !== null && 'message' in read;
}

function unknownKey(key: string): OptionFault {
  const hint = `options of this version: ${[MIN_VERSION, MAX_VERSION, CIPHER_SUITES, ALPN].join(', ')}`;
  return { key, message: `option ${key} is not known`, hint };
}

function readVersion(key: string, value: string): IrTlsVersion | OptionFault {
  const version = VERSIONS.find((candidate) => candidate === value);
  const message = `option ${key} is "${value}", which is no version that is served`;
  return version ?? { key, message, hint: `${VERSIONS.join(' and ')} are` };
}

function readSuites(key: string, value: string): readonly string[] | OptionFault {
  const suites = listOf(value);
  const known = Object.values(SUITES).flat();
  const unknown = suites.find((suite) => !known.includes(suite));
  if (unknown === undefined) return suites;
  const message = `option ${key} names ${unknown === '' ? 'an empty cipher suite' : `the cipher suite ${unknown}`}, which is not served`;
  return { key, message, hint: `served are ${known.join(', ')}` };
}

function readAlpn(key: string, value: string, protocol: 'HTTPS' | 'TLS'): readonly string[] | OptionFault {
  const protocols = listOf(value);
  const isServed = (id: string): boolean => (protocol === 'HTTPS' ? HTTP_PROTOCOLS.includes(id) : PROTOCOL_ID.test(id));
  const unserved = protocols.find((id) => !isServed(id));
  if (unserved === undefined) return protocols;
  const hint =
    protocol === 'HTTPS' ? `${HTTP_PROTOCOLS.join(' and ')} are served` : 'names of protocols, separated by commas';
  return { key, message: `option ${key} names the protocol "${unserved}", which is not served`, hint };
}

/** Separated by commas; each once, in order of preference. */
function listOf(value: string): readonly string[] {
  return [...new Set(value.split(',').map((item) => item.trim()))];
}

function contradictions({ minVersion, maxVersion, cipherSuites }: TlsSettings): OptionFault[] {
  if (minVersion > maxVersion) {
    const message = `the lowest TLS version, ${minVersion}, is above the highest, ${maxVersion}`;
    return [
      {
        key: undefined,
        message,
        hint: `${MIN_VERSION} is ${VERSIONS[0]} unless it is given, ${MAX_VERSION} ${VERSIONS[1]}`,
      },
    ];
  }
  const versions = VERSIONS.filter((version) => version >= minVersion && version <= maxVersion);
  const isPossible = versions.some((version) => SUITES[version].some((suite) => cipherSuites.includes(suite)));
  if (cipherSuites.length === 0 || isPossible) return [];
  const message = `no cipher suite of ${CIPHER_SUITES} can be used with TLS ${versions.join(' or ')}`;
  return [
    { key: CIPHER_SUITES, message, hint: `for example ${versions.map((version) => SUITES[version][0]).join(' and ')}` },
  ];
}
