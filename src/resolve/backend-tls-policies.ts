/**
 * BackendTLSPolicies: how endpoints of a Service or Backend prove who they are. A policy that cannot be carried out takes its backend
 * away: requests to it are answered with errors, never sent in clear text and never to somebody unverified.
 * Source: BackendTLSPolicy, GEP-1897.
 */
import { childPath } from '../base/index.js';
import { type BackendTLSPolicy, GATEWAY_GROUP } from '../gateway-api/index.js';
import type { IrUpstreamTls } from '../ir/ir.js';
import type * as model from '../model/model.js';
import type { CredentialFault } from './certificates.js';
import { CODES } from './codes.js';
import type { Context } from './context.js';
import type { GatewayDraft } from './drafts.js';
import { isFalse } from './findings.js';
import { type PolicyFault, reportPolicies } from './policy-ancestors.js';
import { type PolicyTarget, PolicyTargets } from './policy-targets.js';
import { isOwnOption } from './tls-options.js';

/** What holds for a backend. `refused`: a policy is there and cannot be carried out. */
export type BackendTls = IrUpstreamTls | 'clear' | 'refused';

interface JudgedPolicy {
  readonly tls: IrUpstreamTls | 'refused';
  readonly faults: readonly PolicyFault[];
}

/** All BackendTLSPolicies of a snapshot. */
export class BackendTlsPolicies {
  readonly #context: Context;
  readonly #targets: PolicyTargets<BackendTLSPolicy>;
  readonly #judged = new Map<BackendTLSPolicy, JudgedPolicy>();

  constructor(context: Context) {
    this.#context = context;
    this.#targets = new PolicyTargets(context.inventory.all('BackendTLSPolicy'), context.inventory);
    for (const policy of this.#targets.verdicts.keys()) this.#judged.set(policy, this.#judge(policy));
  }

  /** Returns how connections to a port of a Service, or to a Backend, are secured. */
  tls(target: PolicyTarget): BackendTls {
    const winner = this.#targets.winner(target);
    return winner === undefined ? 'clear' : (this.#judged.get(winner)?.tls ?? 'refused');
  }

  /** Notes that traffic of the Gateway reaches the target. */
  use(target: PolicyTarget, gateway: GatewayDraft): void {
    this.#targets.use(target, gateway);
  }

  /** Returns the policies with their ancestors and says what is wrong with them; call it once all routes are attached. */
  report(): model.Policy[] {
    const { findings } = this.#context;
    for (const policy of this.#targets.verdicts.keys()) {
      for (const key of Object.keys(policy.spec.options ?? {}).sort()) {
        if (isOwnOption(key)) continue;
        findings.add(policy, {
          code: CODES.tlsOptionIgnored,
          path: childPath('spec.options', key),
          message: `option ${key} is not one of ours and has no effect`,
        });
      }
    }
    return reportPolicies(this.#targets, (policy) => this.#judged.get(policy)?.faults ?? [], findings);
  }

  #judge(policy: BackendTLSPolicy): JudgedPolicy {
    const faults: PolicyFault[] = [];
    if (!this.#context.capabilities.has('upstream/tls')) {
      faults.push(
        invalid(
          'spec.validation',
          'TLS towards backends is not carried out by this version',
          'what goes to the targets is answered with errors',
        ),
      );
    }
    for (const key of Object.keys(policy.spec.options ?? {}).filter(isOwnOption)) {
      faults.push(
        invalid(childPath('spec.options', key), `option ${key} is not known`, 'there are no options for backends'),
      );
    }
    const authorities = this.#authorities(policy, faults);
    const isRefused = faults.some(({ condition }) => condition.type === 'Accepted');
    return { tls: isRefused ? 'refused' : upstreamTls(policy, authorities), faults };
  }

  #authorities(policy: BackendTLSPolicy, faults: PolicyFault[]): IrUpstreamTls['authorities'] {
    const { caCertificateRefs = [], wellKnownCACertificates } = policy.spec.validation;
    const path = 'spec.validation';
    if (caCertificateRefs.length === 0) {
      if (wellKnownCACertificates === 'System') return 'system';
      const what = `wellKnownCACertificates is ${wellKnownCACertificates ?? '(none)'}, which is not known`;
      faults.push(invalid(`${path}.wellKnownCACertificates`, what, 'System is the set of authorities of this host'));
      return [];
    }
    const from = { group: GATEWAY_GROUP, kind: policy.kind, namespace: policy.metadata.namespace };
    const authorities = new Set<string>();
    for (const [index, reference] of caCertificateRefs.entries()) {
      const found = this.#context.certificates.authorities(from, reference);
      if (found.ok) {
        for (const authority of found.value) authorities.add(authority);
        continue;
      }
      const place = `caCertificateRefs[${index}]`;
      faults.push({
        code: CODES.backendAuthorityInvalid,
        severity: 'error',
        condition: isFalse('ResolvedRefs', REASONS[found.error.kind]),
        path: `${path}.${place}.${found.error.field}`,
        message: `validation.${place} names ${found.error.message}`,
        hint: found.error.hint,
      });
    }
    if (authorities.size === 0) {
      faults.push({
        code: CODES.backendAuthorityInvalid,
        severity: 'summary',
        condition: isFalse('Accepted', 'NoValidCACertificate'),
        path: `${path}.caCertificateRefs`,
        message:
          'no reference of caCertificateRefs leads to an authority, so what goes to the targets is answered with errors',
        hint: '',
      });
    }
    return [...authorities];
  }
}

/** References of a policy have no namespace, so `notPermitted` cannot come about. */
const REASONS: Readonly<Record<CredentialFault['kind'], string>> = {
  notPermitted: 'InvalidCACertificateRef',
  wrongKind: 'InvalidKind',
  unusable: 'InvalidCACertificateRef',
};

function invalid(path: string, message: string, hint: string): PolicyFault {
  const condition = isFalse('Accepted', 'Invalid');
  return { code: CODES.backendTlsUnsupported, severity: 'error', condition, path, message, hint };
}

/** With subjectAltNames the hostname is sent as server name and proves nothing. Source: BackendTLSPolicyValidation.hostname. */
function upstreamTls({ spec }: BackendTLSPolicy, authorities: IrUpstreamTls['authorities']): IrUpstreamTls {
  const { hostname, subjectAltNames = [] } = spec.validation;
  const names = subjectAltNames.map(({ type, hostname: host = '', uri = '' }) =>
    type === 'URI' ? ({ type: 'uri', value: uri } as const) : ({ type: 'hostname', value: host } as const),
  );
  return {
    serverName: hostname,
    names: names.length > 0 ? names : [{ type: 'hostname', value: hostname }],
    authorities,
  };
}
