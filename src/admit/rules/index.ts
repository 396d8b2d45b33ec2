/**
 * The rules of each kind. A new kind is a file of rules and an entry here.
 */
import { assertNever } from '../../base/index.js';
import type { Resource } from '../../gateway-api/index.js';
import { ENDPOINT_SLICE_RULES, SERVICE_RULES } from './core.js';
import { GATEWAY_RULES } from './gateway.js';
import { HTTP_FILTER_RULES } from './http-filters.js';
import { HTTP_PATH_RULES } from './http-path.js';
import { HTTP_ROUTE_RULES } from './http-route.js';
import { ROUTE_RULES } from './route.js';
import type { Rule, Violation } from './rule.js';
import { BACKEND_POLICY_RULES, WEIRGATE_CONFIG_RULES } from './weirgate.js';

/** A violation together with the rule that found it. */
export interface BrokenRule extends Violation {
  readonly code: Rule<never>['code'];
  readonly severity: 'error' | 'warning';
}

const ALL_HTTP_ROUTE_RULES = [...ROUTE_RULES, ...HTTP_ROUTE_RULES, ...HTTP_PATH_RULES, ...HTTP_FILTER_RULES];

/** Returns what a structurally valid object does against the rules of its kind. Cost: linear in the object. */
export function brokenRules(resource: Resource): BrokenRule[] {
  switch (resource.kind) {
    case 'Gateway':
      return apply(GATEWAY_RULES, resource);
    case 'HTTPRoute':
      return apply(ALL_HTTP_ROUTE_RULES, resource);
    case 'GRPCRoute':
    case 'TLSRoute':
    case 'TCPRoute':
    case 'UDPRoute':
      return apply(ROUTE_RULES, resource);
    case 'Service':
      return apply(SERVICE_RULES, resource);
    case 'EndpointSlice':
      return apply(ENDPOINT_SLICE_RULES, resource);
    case 'BackendPolicy':
      return apply(BACKEND_POLICY_RULES, resource);
    case 'WeirgateConfig':
      return apply(WEIRGATE_CONFIG_RULES, resource);
    // GatewayClass has one rule (controllerName never changes), which an API server judges between two versions.
    case 'GatewayClass':
    case 'ReferenceGrant':
    case 'Namespace':
    case 'Backend':
    case 'ListenerSet':
    case 'BackendTLSPolicy':
    case 'Secret':
    case 'ConfigMap':
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
