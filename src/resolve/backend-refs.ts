/**
 * backendRefs: from a reference to the cluster it means, or to the reason why it means none.
 * Order of the questions: kind, permission, existence. Source: BackendObjectReference and the reasons of ResolvedRefs.
 */
import type { DiagnosticCode } from '../base/index.js';
import {
  type Backend,
  GATEWAY_GROUP,
  type HTTPRoute,
  type Service,
  type ServicePort,
  type TCPRoute,
  WEIRGATE_GROUP,
} from '../gateway-api/index.js';
import { parseIpAddress } from '../model/ip-address.js';
import type { Cluster } from '../model/model.js';
import { objectName } from '../model/object-ref.js';
import type { BackendPolicies, PolicyTarget } from './backend-policies.js';
import { CODES } from './codes.js';
import type { Context } from './context.js';
import { type Findings, isFalse } from './findings.js';
import type { Inventory } from './inventory.js';
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
  /** Completes "backendRefs[0] names …". */
  readonly message: string;
  readonly hint?: string;
}

type Outcome = ResolvedBackend | Fault;

/** Protocols above TCP that a Service port may announce and that the data plane does not speak to endpoints. */
const UNSERVED_APP_PROTOCOLS: ReadonlySet<string> = new Set([
  'kubernetes.io/h2c',
  'kubernetes.io/wss',
  'https',
  'h2c',
  'grpc',
]);

/** Resolves references; the same target costs a look-up only once. */
export class BackendReferences {
  readonly #inventory: Inventory;
  readonly #grants: ReferenceGrants;
  readonly #policies: BackendPolicies;
  readonly #endpoints: ServiceEndpoints;
  readonly #findings: Findings;
  readonly #known = new Map<string, Outcome>();
  readonly #clusters = new Map<string, ResolvedBackend>();

  constructor({ inventory, grants, findings }: Context, policies: BackendPolicies) {
    this.#inventory = inventory;
    this.#grants = grants;
    this.#policies = policies;
    this.#findings = findings;
    this.#endpoints = new ServiceEndpoints(inventory, findings);
  }

  /** Returns the backend that a route refers to at `path`; adds a finding about the route and returns `undefined` if there is none. */
  resolve(route: HTTPRoute | TCPRoute, reference: BackendReference, path: string): ResolvedBackend | undefined {
    const outcome = this.#judge(route, reference);
    if (!('reason' in outcome)) return outcome;
    this.#findings.add(route, {
      code: outcome.code,
      subject: { kind: 'parents' },
      path: `${path}.${outcome.reason === 'InvalidKind' ? 'kind' : 'name'}`,
      condition: isFalse('ResolvedRefs', outcome.reason),
      message: `${path.replace(/^spec\./, '')} names ${outcome.message}`,
      hint: outcome.hint ?? '',
    });
    return undefined;
  }

  #judge(route: HTTPRoute | TCPRoute, reference: BackendReference): Outcome {
    const { group, kind, name, port } = reference;
    const from = { group: GATEWAY_GROUP, kind: route.kind, namespace: route.metadata.namespace };
    const namespace = reference.namespace ?? from.namespace;
    const isService = group === '' && kind === 'Service';
    if (!isService && !(group === WEIRGATE_GROUP && kind === 'Backend')) {
      return {
        code: CODES.backendKindInvalid,
        reason: 'InvalidKind',
        message: `the kind ${kind} of group "${group}", which is no backend`,
        hint: `use a Service, or a Backend of group "${WEIRGATE_GROUP}"`,
      };
    }
    // Permission before existence: whether an object of another namespace exists must not show without a grant.
    if (!this.#grants.permits(from, { group, kind, namespace, name })) {
      return {
        code: CODES.referenceNotPermitted,
        reason: 'RefNotPermitted',
        message: `${kind} ${objectName({ namespace, name })} of another namespace, which no ReferenceGrant permits`,
        hint: `write a ReferenceGrant in namespace ${namespace}, from ${route.kind} in ${from.namespace} to ${kind}`,
      };
    }
    const key = `${route.kind} ${kind}/${namespace}/${name}:${port ?? ''}`;
    let outcome = this.#known.get(key);
    if (outcome === undefined) {
      outcome = isService ? this.#judgeService(namespace, name, port, route.kind) : this.#judgeBackend(namespace, name);
      this.#known.set(key, outcome);
    }
    return outcome;
  }

  #notFound(kind: 'Backend' | 'Service', namespace: string, name: string): Fault {
    const absence = this.#inventory.absence(kind, namespace, name);
    const message = `${kind} ${objectName({ namespace, name })}, ${absence}`;
    return { code: CODES.backendNotFound, reason: 'BackendNotFound', message };
  }

  #judgeBackend(namespace: string, name: string): Outcome {
    const backend = this.#inventory.find('Backend', namespace, name);
    return backend === undefined ? this.#notFound('Backend', namespace, name) : this.#backendCluster(backend);
  }

  #judgeService(namespace: string, name: string, port: number | undefined, routeKind: string): Outcome {
    const object = `Service ${objectName({ namespace, name })}`;
    const service = this.#inventory.find('Service', namespace, name);
    if (service === undefined) return this.#notFound('Service', namespace, name);
    if (service.spec.type === 'ExternalName') {
      const message = `${object}, whose type ExternalName is not served`;
      return {
        code: CODES.backendKindInvalid,
        reason: 'InvalidKind',
        message,
        hint: 'write a Backend with the addresses',
      };
    }
    const servicePort = service.spec.ports.find((candidate) => candidate.port === port);
    if (servicePort === undefined) {
      const ports = service.spec.ports.map((candidate) => candidate.port).join(', ');
      const hint = ports === '' ? '' : `its ports: ${ports}`;
      const message = `port ${port ?? '(none)'} of ${object}, which does not exist`;
      return { code: CODES.backendNotFound, reason: 'BackendNotFound', message, hint };
    }
    const unserved = unservedProtocol(servicePort, routeKind);
    if (unserved === undefined) return this.#serviceCluster(service, servicePort);
    const message = `port ${servicePort.port} of ${object}, whose ${unserved} does not go with an ${routeKind}`;
    return { code: CODES.backendProtocol, reason: 'UnsupportedProtocol', message };
  }

  #serviceCluster(service: Service, port: ServicePort): ResolvedBackend {
    const { namespace, name } = service.metadata;
    const key = `Service/${namespace}/${name}:${port.port}`;
    return this.#cluster(key, { kind: 'Service', namespace, name, section: port.name ?? '' }, () => {
      const endpoints = this.#endpoints.of(service.metadata, port);
      if (endpoints.length === 0) {
        const names = this.#endpoints.portNames(service.metadata);
        this.#findings.add(service, {
          code: CODES.backendWithoutEndpoints,
          path: `spec.ports[${service.spec.ports.indexOf(port)}]`,
          message: `port ${port.port} has no ready endpoint, so what is routed to it is answered with 503`,
          hint:
            names.length === 0 || names.includes(port.name ?? '')
              ? `write an EndpointSlice with the label kubernetes.io/service-name: ${name}`
              : `its EndpointSlices name their ports ${names.map((text) => `"${text}"`).join(', ')}, this port is named "${port.name ?? ''}"`,
        });
      }
      return endpoints;
    });
  }

  #backendCluster({ metadata: { namespace, name }, spec }: Backend): ResolvedBackend {
    const key = `Backend/${namespace}/${name}`;
    return this.#cluster(key, { kind: 'Backend', namespace, name, section: '' }, () =>
      sortedEndpoints(
        spec.endpoints.flatMap(({ address: text, port, weight }) => {
          const address = parseIpAddress(text);
          return address === undefined ? [] : [{ address, port, weight }];
        }),
      ),
    );
  }

  #cluster(key: string, target: PolicyTarget, endpoints: () => Cluster['endpoints']): ResolvedBackend {
    let known = this.#clusters.get(key);
    if (known === undefined) {
      const healthCheck = this.#policies.healthCheck(target);
      known = { cluster: { key, endpoints: endpoints(), healthCheck, protocol: 'http1', tls: undefined }, target };
      this.#clusters.set(key, known);
    }
    return known;
  }
}

function unservedProtocol({ protocol, appProtocol = '' }: ServicePort, routeKind: string): string | undefined {
  if (protocol !== 'TCP') return `protocol ${protocol}`;
  const isHttp = routeKind === 'HTTPRoute';
  return isHttp && UNSERVED_APP_PROTOCOLS.has(appProtocol.toLowerCase()) ? `appProtocol ${appProtocol}` : undefined;
}
