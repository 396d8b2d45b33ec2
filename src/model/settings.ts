/**
 * Settings of one Gateway after all defaults; those of the process are `IrSettings`.
 */
import type { IrTimeouts } from '../ir/ir.js';

/** The Gateway's own `WeirgateConfig` over the one of its class over the defaults: nothing is optional. */
export interface GatewaySettings {
  readonly timeouts: IrTimeouts;
  /** CIDR text of the networks whose forwarded-for fields are believed. */
  readonly trustedProxies: readonly string[];
}
