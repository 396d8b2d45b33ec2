/**
 * Status: the model and its findings as the API shows them. Decides nothing; what stands here was found in `resolve/`.
 */
import { CONTROLLER_NAME, GATEWAY_GROUP } from '../gateway-api/index.js';
import type { Finding, FindingCondition } from '../model/finding.js';
import type {
  Gateway,
  GatewayClass,
  ListenerReport,
  ListenerSet,
  Model,
  Policy,
  Route,
  StatusOwner,
} from '../model/model.js';
import { objectKey } from '../model/object-ref.js';
import { type Condition, mergeConditions } from './conditions.js';

/** The status of one object, as it would be written to an API server. */
export interface ObjectStatus {
  readonly apiVersion: string;
  readonly kind: string;
  /** `''` for kinds without a namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly status: StatusBody;
}

/** Which parts there are depends on the kind; conditions carry no `lastTransitionTime`: whoever has a clock adds it. */
export interface StatusBody {
  readonly conditions?: readonly Condition[];
  readonly supportedFeatures?: readonly { readonly name: string }[];
  readonly addresses?: readonly { readonly type: 'IPAddress'; readonly value: string }[];
  readonly listeners?: readonly ListenerStatus[];
  readonly attachedListenerSets?: number;
  readonly parents?: readonly ParentStatus[];
  readonly ancestors?: readonly AncestorStatus[];
}

export interface ListenerStatus {
  readonly name: string;
  readonly supportedKinds: readonly { readonly group: string; readonly kind: string }[];
  readonly attachedRoutes: number;
  readonly conditions: readonly Condition[];
}

export interface ParentStatus {
  readonly parentRef: Readonly<Record<string, string | number>>;
  readonly controllerName: string;
  readonly conditions: readonly Condition[];
}

export interface AncestorStatus {
  readonly ancestorRef: Readonly<Record<string, string | number>>;
  readonly controllerName: string;
  readonly conditions: readonly Condition[];
}

const ACCEPTED = { type: 'Accepted', status: 'True', reason: 'Accepted' } as const satisfies FindingCondition;
const PROGRAMMED = { type: 'Programmed', status: 'True', reason: 'Programmed' } as const satisfies FindingCondition;
const RESOLVED = { type: 'ResolvedRefs', status: 'True', reason: 'ResolvedRefs' } as const satisfies FindingCondition;
const DISTINCT = { type: 'Conflicted', status: 'False', reason: 'NoConflicts' } as const satisfies FindingCondition;

const OBJECT_CONDITIONS = [ACCEPTED];
const GATEWAY_CONDITIONS = [ACCEPTED, PROGRAMMED, RESOLVED];
const LISTENER_SET_CONDITIONS = [ACCEPTED, PROGRAMMED];
const LISTENER_CONDITIONS = [ACCEPTED, DISTINCT, PROGRAMMED, RESOLVED];
const PARENT_CONDITIONS = [ACCEPTED, RESOLVED];
const TLS_POLICY_CONDITIONS = [ACCEPTED, RESOLVED];

/** The statuses of routes without findings, by their very objects: a later call takes them over. Belongs to one caller. */
export type StatusMemo = WeakMap<Route, ObjectStatus>;

/**
 * Returns the status of every object that gets one: classes, Gateways, ListenerSets, routes, backends, policies, in this order.
 * `memo` never changes what is returned.
 */
export function buildStatus(
  model: Model,
  findings: readonly Finding[],
  memo: StatusMemo = new WeakMap(),
): ObjectStatus[] {
  const byObject = groupByObject(findings);
  const about = (owner: StatusOwner): readonly Finding[] => byObject.get(objectKey(owner.ref)) ?? NONE;
  return [
    ...model.classes.map((owner) => statusOf(owner, classStatus(owner, about(owner)))),
    ...model.gateways.map((owner) => statusOf(owner, gatewayStatus(owner, about(owner)))),
    ...model.listenerSets.map((owner) => statusOf(owner, listenerSetStatus(owner, about(owner)))),
    ...model.routes.map((owner) => routeStatusOf(owner, byObject, memo)),
    ...model.backends.map((owner) =>
      statusOf(owner, { conditions: conditionsOf(OBJECT_CONDITIONS, owner, about(owner)) }),
    ),
    ...model.policies.map((owner) => statusOf(owner, policyStatus(owner, about(owner)))),
  ];
}

function routeStatusOf(
  owner: Route,
  byObject: ReadonlyMap<string, readonly Finding[]>,
  memo: StatusMemo,
): ObjectStatus {
  const findings = (byObject.size > 0 && byObject.get(objectKey(owner.ref))) || NONE;
  const known = findings === NONE ? memo.get(owner) : undefined;
  if (known !== undefined) return known;
  const status = statusOf(owner, routeStatus(owner, findings));
  if (findings === NONE) memo.set(owner, status);
  return status;
}

const NONE: readonly Finding[] = [];

function groupByObject(findings: readonly Finding[]): Map<string, Finding[]> {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const key = objectKey(finding.object);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [finding]);
    else group.push(finding);
  }
  return groups;
}

function statusOf({ ref, generation }: StatusOwner, status: StatusBody): ObjectStatus {
  return { ...ref, generation, status };
}

function conditionsOf(
  usual: readonly FindingCondition[],
  owner: StatusOwner,
  findings: readonly Finding[],
): readonly Condition[] {
  const own = findings.filter(({ subject }) => subject.kind === 'object');
  return mergeConditions(usual, own, owner.generation);
}

function classStatus(owner: GatewayClass, findings: readonly Finding[]): StatusBody {
  return {
    conditions: conditionsOf(OBJECT_CONDITIONS, owner, findings),
    supportedFeatures: owner.supportedFeatures.map((name) => ({ name })),
  };
}

function gatewayStatus(owner: Gateway, findings: readonly Finding[]): StatusBody {
  return {
    addresses: owner.addresses.map((value) => ({ type: 'IPAddress', value })),
    conditions: conditionsOf(GATEWAY_CONDITIONS, owner, findings),
    listeners: listenerStatuses(owner, findings),
    attachedListenerSets: owner.attachedListenerSets,
  };
}

function listenerSetStatus(owner: ListenerSet, findings: readonly Finding[]): StatusBody {
  return {
    conditions: conditionsOf(LISTENER_SET_CONDITIONS, owner, findings),
    listeners: listenerStatuses(owner, findings),
  };
}

function listenerStatuses(
  owner: StatusOwner & { readonly listeners: readonly ListenerReport[] },
  findings: readonly Finding[],
): ListenerStatus[] {
  return owner.listeners.map(({ name, supportedKinds, attachedRoutes }) => ({
    name,
    supportedKinds: supportedKinds.map((kind) => ({ group: GATEWAY_GROUP, kind })),
    attachedRoutes,
    conditions: mergeConditions(
      LISTENER_CONDITIONS,
      findings.filter(({ subject }) => subject.kind === 'listener' && subject.name === name),
      owner.generation,
    ),
  }));
}

function routeStatus(owner: Route, findings: readonly Finding[]): StatusBody {
  return {
    parents: owner.parents.map(({ index, parentRef }) => ({
      parentRef: { ...parentRef },
      controllerName: CONTROLLER_NAME,
      conditions: mergeConditions(
        PARENT_CONDITIONS,
        findings.filter(
          ({ subject }) => subject.kind === 'parents' || (subject.kind === 'parent' && subject.index === index),
        ),
        owner.generation,
      ),
    })),
  };
}

function policyStatus(owner: Policy, findings: readonly Finding[]): StatusBody {
  return {
    ancestors: owner.ancestors.map(({ key, ancestorRef }) => ({
      ancestorRef: { ...ancestorRef },
      controllerName: CONTROLLER_NAME,
      conditions: mergeConditions(
        owner.ref.kind === 'BackendTLSPolicy' ? TLS_POLICY_CONDITIONS : OBJECT_CONDITIONS,
        findings.filter(({ subject }) => subject.kind === 'ancestor' && subject.key === key),
        owner.generation,
      ),
    })),
  };
}
