/**
 * Session persistence of a rule: where the name of an endpoint is carried, and for how long. Source: SessionPersistence, GEP-1619.
 */
import { createHash } from 'node:crypto';
import { durationMs, type HTTPRouteRule, type Resource } from '../gateway-api/index.js';
import type { IrSessionPersistence } from '../ir/ir.js';
import { CODES } from './codes.js';
import type { InvalidField } from './rule-faults.js';

type SessionPersistence = NonNullable<HTTPRouteRule['sessionPersistence']>;

/** Digits of the hash in a name that we make up: two rules of one host share a name once in 10^14 pairs. */
const HASH_DIGITS = 12;

/** What a cookie may have as its path: anything else would end the attribute (RFC 6265 §4.1.1). */
const COOKIE_PATH = /^[ -:<-~]*$/;

/** Says what a cookie cannot have; `undefined` when the persistence at `path`, whose names the schema has checked, can be carried out. */
export function faultOfSession({ cookie }: SessionPersistence, path: string): InvalidField | undefined {
  if (cookie !== undefined && !COOKIE_PATH.test(cookie.path)) {
    return invalidPath(`${path}.cookie.path`, cookie.path);
  }
  return undefined;
}

/** Returns the settings of the rule at `index`. A cookie without a name gets one that no other rule has. */
export function resolveSessionPersistence(
  { type, cookie, header, absoluteTimeout }: SessionPersistence,
  { kind, metadata: { namespace, name } }: Resource,
  index: number,
): IrSessionPersistence {
  const isCookie = type === 'Cookie';
  const madeUp = (): string => {
    const hash = createHash('sha256').update(`${kind}/${namespace}/${name}/${index}`).digest('hex');
    return `weirgate-${hash.slice(0, HASH_DIGITS)}`;
  };
  return {
    type: isCookie ? 'cookie' : 'header',
    name: (isCookie ? cookie?.name : header?.name.toLowerCase()) ?? madeUp(),
    path: cookie?.path ?? '/',
    isPermanent: isCookie && cookie?.lifetimeType === 'Permanent',
    absoluteTimeoutMs: durationMs(absoluteTimeout ?? '0s'),
    idleTimeoutMs: 0,
  };
}

function invalidPath(path: string, value: string): InvalidField {
  return {
    kind: 'invalid',
    code: CODES.sessionInvalid,
    reason: 'UnsupportedValue',
    path,
    message: `${path.replace(/^spec\.rules\[\d+\]\./, '')} is ${JSON.stringify(value)}, which no cookie has as its path`,
    hint: 'write a path such as "/shop", without ";"',
  };
}
