/**
 * Rules that all kinds of routes share: parents, rule names, and references to backends.
 */
import {
  GATEWAY_GROUP,
  type GRPCRoute,
  type HTTPRoute,
  type ParentReference,
  type TCPRoute,
  type TLSRoute,
  type UDPRoute,
  WEIRGATE_GROUP,
} from '../../gateway-api/index.js';
import { eachItem, eachRepeated, type Rule, type Violate } from './rule.js';

/** Any kind of route. */
export type Route = HTTPRoute | GRPCRoute | TLSRoute | TCPRoute | UDPRoute;

function parentKey({ group, kind, namespace, name }: ParentReference): string {
  return `${group} ${kind} ${namespace ?? ''} ${name}`;
}

/** References to one parent name the same kind of part: all a section, all a port, or all both. */
function checkParentParts(route: Route, violate: Violate): void {
  const first = new Map<string, ParentReference>();
  eachItem(route.spec.parentRefs, 'spec.parentRefs', (parent, path) => {
    const before = first.get(parentKey(parent));
    if (before === undefined) {
      first.set(parentKey(parent), parent);
      return;
    }
    const alike =
      (before.sectionName === undefined) === (parent.sectionName === undefined) &&
      (before.port === undefined) === (parent.port === undefined);
    if (!alike) {
      violate(
        path,
        `${parent.kind} "${parent.name}" is named more than once, not always with sectionName or port`,
        'give each of these references a sectionName or port',
      );
    }
  });
}

function checkParentsDistinct(route: Route, violate: Violate): void {
  const key = (parent: ParentReference): string =>
    `${parentKey(parent)} ${parent.sectionName ?? ''} ${parent.port ?? ''}`;
  eachRepeated(route.spec.parentRefs, 'spec.parentRefs', key, (parent, path, firstPath) => {
    violate(
      path,
      `the same part of ${parent.kind} "${parent.name}" is named twice`,
      `${firstPath} names it already; remove one, or give each its own sectionName`,
    );
  });
}

function checkRuleNames(route: Route, violate: Violate): void {
  const rules: readonly { readonly name?: string }[] = route.spec.rules ?? [];
  eachRepeated(
    rules,
    'spec.rules',
    ({ name }) => name,
    ({ name }, path, firstPath) => {
      violate(`${path}.name`, `rule name "${name}" is there twice`, `${firstPath} has it already; choose another name`);
    },
  );
}

const X_GROUP = 'gateway.networking.x-k8s.io';

interface BackendReference {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  readonly port?: number;
}

/** Reports a Service reference without port, and an XBackend reference with one. Serves filters as well. */
export function checkBackendPort({ group, kind, name, port }: BackendReference, path: string, violate: Violate): void {
  if (group === '' && kind === 'Service' && port === undefined) {
    const hint = 'add port: the port of the Service, not of its endpoints';
    violate(`${path}.port`, `Service "${name}" is named without a port`, hint);
  }
  if (group === X_GROUP && kind === 'XBackend' && port !== undefined) {
    violate(`${path}.port`, 'a reference to an XBackend has no port: it has one of its own', 'remove port');
  }
}

function checkBackendPorts(route: Route, violate: Violate): void {
  eachItem<NonNullable<Route['spec']['rules']>[number]>(route.spec.rules, 'spec.rules', (rule, path) => {
    eachItem(rule.backendRefs, `${path}.backendRefs`, (ref, refPath) => checkBackendPort(ref, refPath, violate));
  });
}

function checkUnusedPorts(route: Route, violate: Violate): void {
  eachItem<NonNullable<Route['spec']['rules']>[number]>(route.spec.rules, 'spec.rules', (rule, path) => {
    eachItem(rule.backendRefs, `${path}.backendRefs`, ({ group, kind, port }, refPath) => {
      if (group !== WEIRGATE_GROUP || kind !== 'Backend' || port === undefined) return;
      violate(`${refPath}.port`, 'port is ignored: the endpoints of a Backend have ports of their own', 'remove port');
    });
  });
}

/** A Gateway reference with a group of ours is a slip that attaches nothing. */
function checkParentGroup(route: Route, violate: Violate): void {
  eachItem(route.spec.parentRefs, 'spec.parentRefs', ({ group, kind }, path) => {
    if (kind !== 'Gateway' || group === GATEWAY_GROUP) return;
    violate(
      `${path}.group`,
      `there is no Gateway in group "${group}" that routes attach to`,
      `remove group, or write group: ${GATEWAY_GROUP}`,
    );
  });
}

/** Rules of every kind of route. */
export const ROUTE_RULES: readonly Rule<Route>[] = [
  { code: 'WG3201', says: 'references to one parent all have a sectionName or port', check: checkParentParts },
  { code: 'WG3202', says: 'no part of a parent is named twice', check: checkParentsDistinct },
  { code: 'WG3203', says: 'rule names are unique', check: checkRuleNames },
  { code: 'WG3204', says: 'a reference to a Service has a port, one to an XBackend none', check: checkBackendPorts },
  { code: 'WG3205', says: 'a reference to a Backend needs no port', severity: 'warning', check: checkUnusedPorts },
  { code: 'WG3206', says: 'Gateways are of the Gateway API', severity: 'warning', check: checkParentGroup },
];
