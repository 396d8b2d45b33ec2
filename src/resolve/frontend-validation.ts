/**
 * Client certificates: what a Gateway demands of the clients of its HTTPS listeners. It holds for a port, whatever the hostname, because
 * one connection may be used for several listeners of the port. Source: FrontendTLSConfig and FrontendTLSValidation.
 */
import { GATEWAY_GROUP } from '../gateway-api/index.js';
import type { IrClientValidation } from '../ir/ir.js';
import type { FindingCondition } from '../model/finding.js';
import type { CredentialFault } from './certificates.js';
import { CODES } from './codes.js';
import type { Context } from './context.js';
import type { GatewayDraft, ListenerDraft } from './drafts.js';
import { isFalse, isTrue } from './findings.js';

/** What holds for a listener. `refused`: nobody may get in, because nobody could be judged. */
export type ClientValidation = IrClientValidation | 'none' | 'refused';

type FrontendTls = NonNullable<NonNullable<GatewayDraft['resource']['spec']['tls']>['frontend']>;
type Validation = NonNullable<FrontendTls['default']['validation']>;

interface PortValidation {
  readonly spec: Validation;
  /** Field path of `spec` in the Gateway. */
  readonly path: string;
  readonly authorities: readonly string[];
  readonly faults: readonly { readonly index: number; readonly fault: CredentialFault }[];
}

/** The demands of one Gateway; each port is read once. */
export class FrontendValidation {
  readonly #gateway: GatewayDraft;
  readonly #context: Context;
  readonly #frontend: FrontendTls | undefined;
  readonly #byPath = new Map<string, PortValidation>();

  constructor(gateway: GatewayDraft, context: Context) {
    this.#gateway = gateway;
    this.#context = context;
    this.#frontend = gateway.resource.spec.tls?.frontend;
  }

  /** Returns what holds for an HTTPS listener of the Gateway or of a ListenerSet of it; adds findings about it. */
  of(listener: ListenerDraft): ClientValidation {
    const validation = this.#ofPort(listener.spec.port);
    if (validation === undefined) return 'none';
    if (!this.#context.capabilities.has('tls/clientValidation')) {
      const message = 'client certificates are not verified by this version';
      this.#tell(listener, isFalse('Accepted', 'UnsupportedValue'), validation.path, message);
      return this.#refuse(listener);
    }
    const { authorities, faults, spec, path } = validation;
    for (const { index, fault } of faults) {
      const condition = isFalse('ResolvedRefs', RESOLVED_REFS_REASONS[fault.kind]);
      this.#tell(listener, condition, `${path}.caCertificateRefs[${index}]`, faultText(index, fault));
    }
    if (authorities.length > 0) {
      return { authorities, mode: spec.mode === 'AllowInsecureFallback' ? 'allow' : 'require' };
    }
    const message = `no reference of caCertificateRefs for port ${listener.spec.port} leads to an authority`;
    this.#tell(listener, isFalse('Accepted', 'NoValidCACertificate'), path, message);
    return this.#refuse(listener);
  }

  /** Says what concerns the Gateway as a whole. `ports`: of its HTTPS listeners, served or not, those of its ListenerSets among them. */
  report(ports: ReadonlySet<number>): void {
    const { perPort = [] } = this.#frontend ?? {};
    const { findings } = this.#context;
    const { resource } = this.#gateway;
    const lenient = [
      ...(isLenient(this.#frontend?.default.validation) ? ['ports without an entry in perPort'] : []),
      ...perPort.filter(({ tls }) => isLenient(tls.validation)).map(({ port }) => `port ${port}`),
    ];
    if (lenient.length > 0) {
      findings.add(resource, {
        code: CODES.clientValidation,
        severity: 'warning',
        path: 'spec.tls.frontend',
        condition: isTrue('InsecureFrontendValidationMode', 'ConfigurationChanged'),
        message: `clients without a valid certificate get in on ${lenient.join(', ')}`,
        hint: 'with mode AllowValidOnly they do not',
      });
    }
    for (const [index, { port }] of perPort.entries()) {
      if (ports.has(port)) continue;
      findings.add(resource, {
        code: CODES.clientValidation,
        path: `spec.tls.frontend.perPort[${index}].port`,
        message: `no HTTPS listener has port ${port}, so this entry has no effect`,
      });
    }
  }

  /** An entry for the port replaces the default even when it demands nothing. */
  #ofPort(port: number): PortValidation | undefined {
    const { perPort = [] } = this.#frontend ?? {};
    const index = perPort.findIndex((entry) => entry.port === port);
    return index < 0
      ? this.#read(this.#frontend?.default.validation, 'spec.tls.frontend.default.validation')
      : this.#read(perPort[index]?.tls.validation, `spec.tls.frontend.perPort[${index}].tls.validation`);
  }

  #read(spec: Validation | undefined, path: string): PortValidation | undefined {
    if (spec === undefined) return undefined;
    let validation = this.#byPath.get(path);
    if (validation === undefined) {
      const { kind, metadata } = this.#gateway.resource;
      const from = { group: GATEWAY_GROUP, kind, namespace: metadata.namespace };
      const found = spec.caCertificateRefs.map((reference) => this.#context.certificates.authorities(from, reference));
      validation = {
        spec,
        path,
        authorities: [...new Set(found.flatMap((one) => (one.ok ? one.value : [])))],
        faults: found.flatMap((one, index) => (one.ok ? [] : [{ index, fault: one.error }])),
      };
      this.#byPath.set(path, validation);
      this.#reportFaults(validation);
    }
    return validation;
  }

  /** Once for the Gateway, where it is to be corrected; its listeners only repeat it in their conditions. */
  #reportFaults({ path, faults }: PortValidation): void {
    for (const { index, fault } of faults) {
      this.#context.findings.add(this.#gateway.resource, {
        code: CODES.clientAuthorityInvalid,
        severity: 'error',
        path: `${path}.caCertificateRefs[${index}].${fault.field}`,
        message: faultText(index, fault),
        hint: fault.hint,
      });
    }
  }

  #refuse(listener: ListenerDraft): 'refused' {
    listener.accepted = false;
    return 'refused';
  }

  /** What a Gateway refers to is not for the status of a ListenerSet, whose readers may not see it otherwise. */
  #tell({ owner, spec, path }: ListenerDraft, condition: FindingCondition, place: string, message: string): void {
    const isOwn = owner === this.#gateway.resource;
    this.#context.findings.add(owner, {
      code: CODES.clientAuthorityInvalid,
      severity: condition.reason === 'UnsupportedValue' ? 'error' : 'summary',
      subject: { kind: 'listener', name: spec.name },
      condition,
      path: isOwn ? place : `${path}.port`,
      message: isOwn ? message : `Gateway ${this.#gateway.name} demands client certificates that it cannot verify`,
    });
  }
}

function faultText(index: number, fault: CredentialFault): string {
  return `caCertificateRefs[${index}] names ${fault.message}`;
}

const RESOLVED_REFS_REASONS: Readonly<Record<CredentialFault['kind'], string>> = {
  notPermitted: 'RefNotPermitted',
  wrongKind: 'InvalidCACertificateKind',
  unusable: 'InvalidCACertificateRef',
};

function isLenient(validation: Validation | undefined): boolean {
  return validation?.mode === 'AllowInsecureFallback';
}
