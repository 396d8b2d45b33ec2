/**
 * Policies of backends: health checks (BackendPolicy) and TLS (BackendTLSPolicy), found by what they are attached to.
 */
import { type BackendPolicy, durationMs, type HealthCheck } from '../gateway-api/index.js';
import type { IrHealthCheck } from '../ir/ir.js';
import type * as model from '../model/model.js';
import { type BackendTls, BackendTlsPolicies } from './backend-tls-policies.js';
import type { Context } from './context.js';
import type { GatewayDraft } from './drafts.js';
import type { Findings } from './findings.js';
import { reportPolicies } from './policy-ancestors.js';
import { type PolicyTarget, PolicyTargets } from './policy-targets.js';

export type { PolicyTarget } from './policy-targets.js';

/** All policies of a snapshot. */
export class BackendPolicies {
  readonly #findings: Findings;
  readonly #checks: PolicyTargets<BackendPolicy>;
  readonly #tls: BackendTlsPolicies;

  constructor(context: Context) {
    this.#findings = context.findings;
    this.#checks = new PolicyTargets(context.inventory.all('BackendPolicy'), context.inventory);
    this.#tls = new BackendTlsPolicies(context);
  }

  /** Returns the check that holds for a port of a Service, or for a Backend. */
  healthCheck(target: PolicyTarget): IrHealthCheck | undefined {
    const check = this.#checks.winner(target)?.spec.healthCheck;
    return check && lowerHealthCheck(check);
  }

  /** Returns how connections to a port of a Service, or to a Backend, are secured. */
  tls(target: PolicyTarget): BackendTls {
    return this.#tls.tls(target);
  }

  /** Notes that traffic of the Gateway reaches the target. */
  use(target: PolicyTarget, gateway: GatewayDraft): void {
    this.#checks.use(target, gateway);
    this.#tls.use(target, gateway);
  }

  /** Returns the policies with their ancestors and says what is wrong with them; call it once all routes are attached. */
  report(): model.Policy[] {
    return [...reportPolicies(this.#checks, () => [], this.#findings), ...this.#tls.report()];
  }
}

function lowerHealthCheck({ type, interval, timeout, ...thresholds }: HealthCheck): IrHealthCheck {
  const { healthyThreshold, unhealthyThreshold, http } = thresholds;
  return {
    type: type === 'HTTP' ? 'http' : 'tcp',
    intervalMs: durationMs(interval),
    timeoutMs: durationMs(timeout),
    healthyThreshold,
    unhealthyThreshold,
    path: http?.path ?? '/',
    host: http?.host ?? '',
    expectedStatuses: http?.expectedStatuses ?? DEFAULT_STATUSES,
  };
}

/** Of a check of type HTTP without details: the schema's default for `http.expectedStatuses`. */
const DEFAULT_STATUSES = [{ from: 200, to: 399 }] as const;
