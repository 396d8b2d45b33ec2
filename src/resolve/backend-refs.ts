/**
 * backendRefs: from a reference to the cluster it means, or to the reason why it means none.
 * Order of the questions: kind, permission, existence. Source: BackendObjectReference and the reasons of ResolvedRefs.
 */

import { nearestWord } from '../admit/index.js';
import type { DiagnosticCode } from '../base/index.js';
import {
  type Backend,
  GATEWAY_GROUP,
  type Resource,
  type Service,
  type ServicePort,
  WEIRGATE_GROUP,
} from '../gateway-api/index.js';
import type { Capabilities } from '../model/capabilities.js';
import { parseIpAddress } from '../model/ip-address.js';
import type { Cluster } from '../model/model.js';
import { objectName } from '../model/object-ref.js';
import { MAX_ENDPOINTS } from '../native/layout.gen.js';
import type { BackendPolicies, PolicyTarget } from './backend-policies.js';
import { type Payload, protocolFault, spokenProtocol, transportOf } from './backend-protocols.js';
import type { BackendTls } from './backend-tls-policies.js';
import { CODES } from './codes.js';
import type { Context } from './context.js';
import { type Findings, isFalse } from './findings.js';
import type { Inventory } from './inventory.js';
import type { ResolveMemo, RouteTrace } from './memo.js';
import { shortList } from './near-names.js';
import type { ReferenceGrants } from './reference-grants.js';
import { ServiceEndpoints, sortedEndpoints } from './services.js';

export interface BackendReference {
  readonly group: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly port?: number;
}

/** A backend that exists, and what policies call it. */
export interface ResolvedBackend {
  /** `undefined`: its BackendTLSPolicy cannot be carried out. Its share is answered with errors, and the route is none the worse for it. */
  readonly cluster: Cluster | undefined;
  readonly target: PolicyTarget;
}

interface Fault {
  readonly code: DiagnosticCode;
  readonly reason: 'InvalidKind' | 'RefNotPermitted' | 'BackendNotFound' | 'UnsupportedProtocol';
  /** Field of the reference that is wrong. */
  readonly field: 'kind' | 'name' | 'port';
  /** Completes "backendRefs[0] names …". */
  readonly message: string;
  readonly hint: string;
}

type Outcome = ResolvedBackend | Fault;

/** What is asked for: a kind of ours, permitted, by its full name. */
export interface Question {
  /** Equal for questions with the same answer. */
  readonly key: string;
  readonly kind: 'Backend' | 'Service';
  readonly routeKind: string;
  readonly payload: Payload;
  readonly namespace: string;
  readonly name: string;
  readonly port: number | undefined;
  /** Whether the asker may see what else there is in the namespace. */
  readonly isOwnNamespace: boolean;
}

/** Kinds of other people's that are backends elsewhere, with what stands for them here. */
const FOREIGN_KINDS: Readonly<Record<string, string>> = {
  XBackend: `this version has no XBackend: write a Backend of group "${WEIRGATE_GROUP}" with the addresses`,
  ServiceImport: 'there is one cluster here: use a Service with EndpointSlices',
  Pod: 'use a Service, or a Backend with the address',
};

/** What becomes of traffic to a port without endpoints. */
const WITHOUT_ENDPOINT: Readonly<Record<Payload, string>> = {
  http: 'what is routed to it is answered with 503',
  grpc: 'calls that are routed to it are answered with UNAVAILABLE',
  bytes: 'connections that are routed to it are reset',
  datagrams: 'datagrams that are routed to it are dropped',
};

/** Resolves references; the same target costs a look-up only once. */
export class BackendReferences {
  readonly #inventory: Inventory;
  readonly #grants: ReferenceGrants;
  readonly #policies: BackendPolicies;
  readonly #endpoints: ServiceEndpoints;
  readonly #capabilities: Capabilities;
  readonly #findings: Findings;
  /** By number: a Service may have thousands of ports, and as many references. */
  readonly #ports = new Map<Service, ReadonlyMap<number, readonly ServicePort[]>>();
  readonly #known = new Map<string, Outcome>();
  readonly #clusters = new Map<string, ResolvedBackend>();
  readonly #memo: ResolveMemo;
  readonly #alone = new WeakMap<ResolvedBackend, RouteTrace['answers']>();
  #heard: Heard[] | undefined;

  constructor({ inventory, grants, capabilities, findings }: Context, policies: BackendPolicies, memo: ResolveMemo) {
    this.#memo = memo;
    this.#inventory = inventory;
    this.#grants = grants;
    this.#policies = policies;
    this.#capabilities = capabilities;
    this.#findings = findings;
    this.#endpoints = new ServiceEndpoints(inventory, findings);
  }

  /**
   * Returns the backend that a route refers to at `path` and sends `payload` to; adds a finding about the route, for all of its
   * parents, and returns `undefined` if there is none.
   */
  resolve(route: Resource, reference: BackendReference, payload: Payload, path: string): ResolvedBackend | undefined {
    const outcome = this.#judge(route, reference, payload);
    if (!('reason' in outcome)) return outcome;
    this.#findings.add(route, {
      code: outcome.code,
      subject: { kind: 'parents' },
      path: `${path}.${outcome.field}`,
      condition: isFalse('ResolvedRefs', outcome.reason),
      message: `${path.replace(/^spec\./, '')} names ${outcome.message}`,
      hint: outcome.hint,
    });
    return undefined;
  }

  /** Runs `task` and returns which backends it found, or `undefined` when not all of them are of the route's own namespace. */
  overhear(task: () => void): RouteTrace['answers'] | undefined {
    this.#heard = [];
    task();
    const heard = this.#heard;
    this.#heard = undefined;
    const answers = heard.flatMap(({ question, outcome }) =>
      'reason' in outcome || !question.isOwnNamespace ? [] : [{ question, backend: outcome }],
    );
    if (answers.length !== heard.length) return undefined;
    // Many routes name one and the same backend: their list is the same, too.
    const [only] = answers;
    if (only === undefined || answers.length > 1) return answers;
    const known = this.#alone.get(only.backend);
    if (known?.[0]?.question.key === only.question.key) return known;
    this.#alone.set(only.backend, answers);
    return answers;
  }

  /** Returns whether a question has the very answer that it had the last time. */
  isStill({ question, backend }: RouteTrace['answers'][number]): boolean {
    return this.#ask(question) === backend;
  }

  /** Hands the backends of this resolution to the next one. */
  keep(): void {
    this.#memo.keepBackends(this.#clusters);
  }

  #judge(route: Resource, reference: BackendReference, payload: Payload): Outcome {
    const { group, kind, name, port } = reference;
    const from = { group: GATEWAY_GROUP, kind: route.kind, namespace: route.metadata.namespace };
    const namespace = reference.namespace ?? from.namespace;
    const isService = group === '' && kind === 'Service';
    if (!isService && !(group === WEIRGATE_GROUP && kind === 'Backend')) return invalidKind(group, kind);
    // Permission before existence: whether an object of another namespace exists must not show without a grant.
    if (!this.#grants.permits(from, { group, kind, namespace, name })) {
      return {
        code: CODES.referenceNotPermitted,
        reason: 'RefNotPermitted',
        field: 'name',
        message: `${kind} ${objectName({ namespace, name })} of another namespace, which no ReferenceGrant permits`,
        hint: `write a ReferenceGrant in namespace ${namespace}, from ${route.kind} in ${from.namespace} to ${kind}`,
      };
    }
    const isOwnNamespace = namespace === from.namespace;
    const key = `${route.kind} ${payload} ${isOwnNamespace} ${kind}/${namespace}/${name}:${port ?? ''}`;
    const question: Question = { key, kind, routeKind: route.kind, payload, namespace, name, port, isOwnNamespace };
    const outcome = this.#ask(question);
    this.#heard?.push({ question, outcome });
    return outcome;
  }

  #ask(question: Question): Outcome {
    let outcome = this.#known.get(question.key);
    if (outcome === undefined) {
      outcome = question.kind === 'Service' ? this.#judgeService(question) : this.#judgeBackend(question);
      this.#known.set(question.key, outcome);
    }
    return outcome;
  }

  #notFound(kind: 'Backend' | 'Service', { namespace, name, isOwnNamespace }: Question): Fault {
    const absence = this.#inventory.absence(kind, namespace, name);
    return {
      code: CODES.backendNotFound,
      reason: 'BackendNotFound',
      field: 'name',
      message: `${kind} ${objectName({ namespace, name })}, ${absence}`,
      hint: isOwnNamespace ? this.#inventory.suggestion(kind, namespace, name) : '',
    };
  }

  #judgeBackend(question: Question): Outcome {
    const backend = this.#inventory.find('Backend', question.namespace, question.name);
    return backend === undefined ? this.#notFound('Backend', question) : this.#backendCluster(backend);
  }

  #judgeService(question: Question): Outcome {
    const { namespace, name, port, payload, routeKind } = question;
    const object = `Service ${objectName({ namespace, name })}`;
    const service = this.#inventory.find('Service', namespace, name);
    if (service === undefined) return this.#notFound('Service', question);
    if (service.spec.type === 'ExternalName') {
      return {
        code: CODES.backendKindInvalid,
        reason: 'InvalidKind',
        field: 'kind',
        message: `${object}, whose type ExternalName is not served`,
        hint: 'write a Backend with the addresses',
      };
    }
    // One number may be there twice, for TCP and for UDP.
    const byNumber = this.#portsOf(service);
    const numbered = byNumber.get(port ?? 0) ?? [];
    const servicePort = numbered.find(({ protocol }) => protocol === transportOf(payload)) ?? numbered[0];
    if (servicePort === undefined) {
      const ports = shortList(byNumber);
      return {
        code: CODES.backendNotFound,
        reason: 'BackendNotFound',
        field: 'port',
        message: `port ${port ?? '(none)'} of ${object}, which does not exist`,
        hint: ports === '' ? 'the Service has no ports' : `its ports: ${ports}`,
      };
    }
    const hasTls = (): boolean => {
      const { cluster } = this.#serviceCluster(service, servicePort, payload);
      return cluster === undefined || cluster.tls !== undefined;
    };
    const fault = protocolFault(servicePort, payload, routeKind, hasTls, this.#capabilities);
    if (fault === undefined) return this.#serviceCluster(service, servicePort, payload);
    return {
      code: CODES.backendProtocol,
      reason: 'UnsupportedProtocol',
      field: 'port',
      message: `port ${servicePort.port} of ${object}, whose ${fault.message}`,
      hint: fault.hint,
    };
  }

  #portsOf(service: Service): ReadonlyMap<number, readonly ServicePort[]> {
    let ports = this.#ports.get(service);
    if (ports === undefined) {
      ports = groupByNumber(service);
      this.#ports.set(service, ports);
    }
    return ports;
  }

  #serviceCluster(service: Service, port: ServicePort, payload: Payload): ResolvedBackend {
    const { namespace, name } = service.metadata;
    const isUdp = port.protocol === 'UDP';
    const key = `Service/${namespace}/${name}:${port.port}${isUdp ? '/udp' : ''}`;
    const target: PolicyTarget = { kind: 'Service', namespace, name, section: port.name ?? '' };
    // Datagrams have no TLS, whatever a policy for the whole Service says about its other ports.
    const security = isUdp ? 'clear' : this.#policies.tls(target);
    return this.#cluster(key, target, spokenProtocol(port, this.#capabilities), security, () => {
      const endpoints = this.#endpoints.of(service.metadata, port);
      if (endpoints.length === 0) {
        const names = this.#endpoints.portNames(service.metadata);
        this.#findings.add(service, {
          code: CODES.backendWithoutEndpoints,
          path: `spec.ports[${service.spec.ports.indexOf(port)}]`,
          message: `port ${port.port} has no ready endpoint, so ${WITHOUT_ENDPOINT[payload]}`,
          hint:
            names.size === 0 || names.has(port.name ?? '')
              ? `write an EndpointSlice with the label kubernetes.io/service-name: ${name}`
              : `its EndpointSlices name their ports ${shortList(names, (text) => `"${text}"`)}, this port is named "${port.name ?? ''}"`,
        });
      }
      if (endpoints.length <= MAX_ENDPOINTS) return endpoints;
      this.#findings.add(service, {
        code: CODES.endpointIgnored,
        path: `spec.ports[${service.spec.ports.indexOf(port)}]`,
        message: `port ${port.port} has ${endpoints.length} ready endpoints, of which the first ${MAX_ENDPOINTS} by address are served`,
        hint: 'spread them over several Services',
      });
      return endpoints.slice(0, MAX_ENDPOINTS);
    });
  }

  #backendCluster({ metadata: { namespace, name }, spec }: Backend): ResolvedBackend {
    const key = `Backend/${namespace}/${name}`;
    const target: PolicyTarget = { kind: 'Backend', namespace, name, section: '' };
    return this.#cluster(key, target, 'http1', this.#policies.tls(target), () =>
      sortedEndpoints(
        spec.endpoints.flatMap(({ address: text, port, weight }) => {
          const address = parseIpAddress(text);
          return address === undefined ? [] : [{ address, port, weight }];
        }),
      ),
    );
  }

  #cluster(
    key: string,
    target: PolicyTarget,
    protocol: Cluster['protocol'],
    security: BackendTls,
    endpoints: () => Cluster['endpoints'],
  ): ResolvedBackend {
    let known = this.#clusters.get(key);
    if (known === undefined) {
      known = { cluster: undefined, target };
      if (security !== 'refused') {
        const healthCheck = this.#policies.healthCheck(target);
        const tls = security === 'clear' ? undefined : security;
        known = { cluster: { key, endpoints: endpoints(), healthCheck, protocol, tls }, target };
      }
      known = this.#asBefore(key, known);
      this.#clusters.set(key, known);
    }
    return known;
  }

  /** A backend that equals the one of the last time is that one: whatever was made with it can stay. */
  #asBefore(key: string, backend: ResolvedBackend): ResolvedBackend {
    const before = this.#memo.backend(key);
    return before !== undefined && isEqualData(before, backend) ? before : backend;
  }
}

/** Compares plain data. */
function isEqualData(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => isEqualData((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]));
}

interface Heard {
  readonly question: Question;
  readonly outcome: Outcome;
}

function groupByNumber({ spec }: Service): Map<number, ServicePort[]> {
  const ports = new Map<number, ServicePort[]>();
  for (const port of spec.ports) {
    const known = ports.get(port.port);
    if (known === undefined) ports.set(port.port, [port]);
    else known.push(port);
  }
  return ports;
}

function invalidKind(group: string, kind: string): Fault {
  const near = nearestWord(kind, ['Service', 'Backend']);
  const meant =
    near === 'Service'
      ? 'did you mean Service, of group ""?'
      : near === 'Backend'
        ? `did you mean Backend, of group "${WEIRGATE_GROUP}"?`
        : `use a Service, or a Backend of group "${WEIRGATE_GROUP}"`;
  return {
    code: CODES.backendKindInvalid,
    reason: 'InvalidKind',
    field: 'kind',
    message: `the kind ${kind} of group "${group}", which is no backend`,
    hint: Object.hasOwn(FOREIGN_KINDS, kind) ? (FOREIGN_KINDS[kind] ?? meant) : meant,
  };
}
