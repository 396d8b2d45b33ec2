/**
 * The rules of each kind. A new kind is a file of rules and an entry here.
 */
import { assertNever } from '../../base/index.js';
import type { Resource } from '../../gateway-api/index.js';
import { BACKEND_TLS_POLICY_RULES } from './backend-tls-policy.js';
import { ENDPOINT_SLICE_RULES } from './endpoint-slice.js';
import { FILTER_RULES } from './filters.js';
import { GATEWAY_RULES } from './gateway.js';
import { GRPC_ROUTE_RULES } from './grpc-route.js';
import { HTTP_FILTER_RULES } from './http-filters.js';
import { HTTP_PATH_RULES } from './http-path.js';
import { HTTP_ROUTE_RULES } from './http-route.js';
import { LISTENER_RULES } from './listeners.js';
import { METADATA_RULES } from './metadata.js';
import { ROUTE_RULES } from './route.js';
import type { Rule, Violation } from './rule.js';
import { CONFIG_MAP_RULES, SECRET_RULES } from './secret.js';
import { SERVICE_RULES } from './service.js';
import { SESSION_RULES } from './session-persistence.js';
import { ALPHA2_STREAM_RULES, TLS_ROUTE_RULES } from './stream-routes.js';
import { BACKEND_POLICY_RULES, WEIRGATE_CONFIG_RULES } from './weirgate.js';

/** A violation together with the rule that found it. */
export interface BrokenRule extends Violation {
  readonly code: Rule<never>['code'];
  readonly severity: 'error' | 'warning';
}

const ALL_GATEWAY_RULES = [...GATEWAY_RULES, ...LISTENER_RULES];
const ALL_HTTP_ROUTE_RULES = [
  ...ROUTE_RULES,
  ...HTTP_ROUTE_RULES,
  ...SESSION_RULES,
  ...HTTP_PATH_RULES,
  ...FILTER_RULES,
  ...HTTP_FILTER_RULES,
];
const ALL_GRPC_ROUTE_RULES = [...ROUTE_RULES, ...GRPC_ROUTE_RULES, ...SESSION_RULES, ...FILTER_RULES];
const ALL_TLS_ROUTE_RULES = [...ROUTE_RULES, ...TLS_ROUTE_RULES];
const ALPHA2_ROUTE_RULES = [...ROUTE_RULES, ...ALPHA2_STREAM_RULES];

/**
 * Returns what an object does against the rules of its kind. Types must be right, values may be out of bounds.
 * `version`: the one that the file says; v1alpha2 has other rules. Cost: linear in the object.
 */
export function brokenRules(resource: Resource, version: string): BrokenRule[] {
  return [...apply(METADATA_RULES, resource), ...brokenRulesOfKind(resource, version)];
}

function brokenRulesOfKind(resource: Resource, version: string): BrokenRule[] {
  switch (resource.kind) {
    case 'Gateway':
      return apply(ALL_GATEWAY_RULES, resource);
    case 'ListenerSet':
      return apply(LISTENER_RULES, resource);
    case 'HTTPRoute':
      return apply(ALL_HTTP_ROUTE_RULES, resource);
    case 'GRPCRoute':
      return apply(ALL_GRPC_ROUTE_RULES, resource);
    case 'TLSRoute':
      return apply(version === 'v1alpha2' ? ALPHA2_ROUTE_RULES : ALL_TLS_ROUTE_RULES, resource);
    case 'TCPRoute':
    case 'UDPRoute':
      return apply(version === 'v1alpha2' ? ALPHA2_ROUTE_RULES : ROUTE_RULES, resource);
    case 'BackendTLSPolicy':
      return apply(BACKEND_TLS_POLICY_RULES, resource);
    case 'Service':
      return apply(SERVICE_RULES, resource);
    case 'EndpointSlice':
      return apply(ENDPOINT_SLICE_RULES, resource);
    case 'BackendPolicy':
      return apply(BACKEND_POLICY_RULES, resource);
    case 'WeirgateConfig':
      return apply(WEIRGATE_CONFIG_RULES, resource);
    case 'Secret':
      return apply(SECRET_RULES, resource);
    case 'ConfigMap':
      return apply(CONFIG_MAP_RULES, resource);
    // The one rule of GatewayClass is about two states of an object: see `refuse-changes.ts`.
    case 'GatewayClass':
    case 'ReferenceGrant':
    case 'Namespace':
    case 'Backend':
      return [];
    default:
      return assertNever(resource);
  }
}

function apply<R>(rules: readonly Rule<R>[], resource: R): BrokenRule[] {
  const broken: BrokenRule[] = [];
  for (const { code, severity = 'error', check } of rules) {
    check(resource, (path, message, hint = '') => broken.push({ code, severity, path, message, hint }));
  }
  return broken;
}
