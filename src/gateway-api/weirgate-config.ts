/**
 * WeirgateConfig (weirgate.dev): settings of a GatewayClass (parametersRef) or of one Gateway (infrastructure.parametersRef).
 * Process-wide fields (workers, limits, via, accessLog, addressPool) count from the GatewayClass's parametersRef only;
 * timeouts and trustedProxies may be set again for one Gateway.
 */
import { duration } from './references.js';
import { array, boolean, described, type Infer, integer, object, optional, string, withDefault } from './schema.js';

const cidr = string('network', { format: 'cidr' });

/** Every field is optional here: a Gateway's own values lie over the class's, those over `DEFAULT_TIMEOUTS`. */
export const weirgateTimeouts = object('limits in time; 0s switches one off', {
  idle: optional(described(duration, 'keep-alive connection without a request (60s)')),
  header: optional(described(duration, 'from the first byte of a request head to its end (10s)')),
  connect: optional(described(duration, 'one try to connect to an endpoint (5s)')),
  streamIdle: optional(described(duration, 'a body that makes no progress (60s)')),
  tunnelIdle: optional(described(duration, 'TCP session or upgraded connection without a byte (1h)')),
  halfClosed: optional(described(duration, 'one direction is closed, the other silent (60s)')),
});
export type WeirgateTimeouts = Infer<typeof weirgateTimeouts>;

/** Timeouts in force where nobody sets one. */
export const DEFAULT_TIMEOUTS = {
  idle: '60s',
  header: '10s',
  connect: '5s',
  streamIdle: '60s',
  tunnelIdle: '1h',
  halfClosed: '60s',
} as const satisfies Required<WeirgateTimeouts>;

export const weirgateLimits = object('limits in size', {
  headBytes: withDefault(integer('bytes of a request head, 1024 to 262144', { min: 1024, max: 262_144 }), 65_536),
  headers: withDefault(integer('header fields in a head, 8 to 1000', { min: 8, max: 1000 }), 100),
  idlePerEndpoint: withDefault(
    integer('idle connections kept per endpoint on the whole host, 0 to 65536', { min: 0, max: 65_536 }),
    256,
  ),
});
export type WeirgateLimits = Infer<typeof weirgateLimits>;

export const weirgateConfigSpec = object('settings of Weirgate', {
  workers: optional(
    integer('worker processes, 1 to 64; without it one for each usable core (class only)', { min: 1, max: 64 }),
  ),
  timeouts: withDefault(weirgateTimeouts, {}),
  limits: withDefault(described(weirgateLimits, 'limits in size (class only)'), {
    headBytes: 65_536,
    headers: 100,
    idlePerEndpoint: 256,
  }),
  via: withDefault(boolean('add a via field to what is forwarded (class only)'), false),
  trustedProxies: optional(
    array('networks whose x-forwarded-* fields are kept and extended', cidr, { maxItems: 256, set: true }),
  ),
  accessLog: optional(
    object('one JSON line per request or session (class only)', {
      target: string('"stderr" or an absolute file path', { minLength: 1, maxLength: 4096, format: 'logTarget' }),
    }),
  ),
  addressPool: optional(
    array('networks from which each Gateway gets its own address (class only)', cidr, {
      minItems: 1,
      maxItems: 16,
      set: true,
    }),
  ),
});
export type WeirgateConfigSpec = Infer<typeof weirgateConfigSpec>;
