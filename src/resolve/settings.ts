/**
 * Settings from `WeirgateConfig`: of the process (GatewayClass) and of one Gateway, all defaults filled in.
 */
import { DEFAULT_TIMEOUTS, durationMs, type WeirgateConfig, type WeirgateTimeouts } from '../gateway-api/index.js';
import type { IrSettings } from '../ir/ir.js';
import type { GatewaySettings } from '../model/settings.js';

/** In force without any `WeirgateConfig`; the numbers are the schema's defaults. */
const DEFAULT_LIMITS = { headBytes: 65_536, headers: 100, idlePerEndpoint: 256 } as const;

/** Returns the settings of the process as the config of a class gives them; without one, the defaults. */
export function processSettings(config: WeirgateConfig | undefined): IrSettings {
  const spec = config?.spec;
  const limits = spec?.limits ?? DEFAULT_LIMITS;
  return {
    workers: spec?.workers ?? 0,
    maxHeadBytes: limits.headBytes,
    maxHeaders: limits.headers,
    via: spec?.via ?? false,
    maxIdlePerEndpoint: limits.idlePerEndpoint,
    accessLog: spec?.accessLog === undefined ? undefined : { target: spec.accessLog.target },
  };
}

/** Returns the settings of a Gateway: each field from its own config, else from its class's, else the default. */
export function gatewaySettings(
  ofClass: WeirgateConfig | undefined,
  ofGateway: WeirgateConfig | undefined,
): GatewaySettings {
  const timeouts = { ...DEFAULT_TIMEOUTS, ...ofClass?.spec.timeouts, ...ofGateway?.spec.timeouts };
  return {
    timeouts: timeoutsMs(timeouts),
    trustedProxies: ofGateway?.spec.trustedProxies ?? ofClass?.spec.trustedProxies ?? [],
  };
}

/** Names the fields of a Gateway's config that only a GatewayClass's config can set, and that this one sets all the same. */
export function classOnlyFields({ spec }: WeirgateConfig): string[] {
  const fields: string[] = [];
  if (spec.workers !== undefined) fields.push('workers');
  if (
    Object.entries(DEFAULT_LIMITS).some(([name, value]) => spec.limits[name as keyof typeof DEFAULT_LIMITS] !== value)
  ) {
    fields.push('limits');
  }
  if (spec.via) fields.push('via');
  if (spec.accessLog !== undefined) fields.push('accessLog');
  if (spec.addressPool !== undefined) fields.push('addressPool');
  return fields;
}

function timeoutsMs(timeouts: Required<WeirgateTimeouts>): GatewaySettings['timeouts'] {
  return {
    idleMs: durationMs(timeouts.idle),
    headerMs: durationMs(timeouts.header),
    connectMs: durationMs(timeouts.connect),
    streamIdleMs: durationMs(timeouts.streamIdle),
    tunnelIdleMs: durationMs(timeouts.tunnelIdle),
    halfClosedMs: durationMs(timeouts.halfClosed),
  };
}
