/**
 * Gateways of our classes: parameters, addresses, listeners, and what follows for the Gateway as a whole.
 */
import { err, ok, type Result } from '../base/index.js';
import type { Gateway, WeirgateConfig } from '../gateway-api/index.js';
import type * as model from '../model/model.js';
import { objectName } from '../model/object-ref.js';
import { resolveAddresses } from './addresses.js';
import { CODES } from './codes.js';
import { resolveGatewayConflicts, resolveSetConflicts } from './conflicts.js';
import type { Context } from './context.js';
import type { GatewayDraft, ListenerDraft, ListenerSetDraft, ParentDraft } from './drafts.js';
import type { Facts } from './facts.js';
import { type Findings, isFalse, isTrue, refOf } from './findings.js';
import type { ClassDraft, Classes } from './gateway-classes.js';
import { infrastructureOf, reportIdleInfrastructure } from './infrastructure.js';
import type { Inventory } from './inventory.js';
import { draftListenerSets, type FindGateway } from './listener-sets.js';
import { summariseGateway, summariseSet } from './listener-summary.js';
import { resolveListeners } from './listeners.js';
import type { Parameters } from './parameters.js';
import { reportUnresolvedListeners } from './resolved-refs.js';
import { classOnlyFields, gatewaySettings } from './settings.js';
import { Sockets } from './sockets.js';
import { resolveTls } from './tls-listeners.js';

/** Kinds of `gateway.networking.k8s.io` that routes attach to. */
export type ParentKind = 'Gateway' | 'ListenerSet';

/** The Gateways of a snapshot, judged. */
export interface Gateways {
  /** Those of our accepted classes, in order of seniority. */
  readonly ours: readonly GatewayDraft[];
  readonly assignedAddresses: Readonly<Record<string, string>>;
  /** The ListenerSets that name one of them, in order of seniority. */
  readonly sets: readonly ListenerSetDraft[];
  /** Of all these Gateways and ListenerSets. */
  readonly listeners: readonly ListenerDraft[];
  /** Those to which routes with `useDefaultGateways: All` attach, in order of seniority. */
  readonly defaults: readonly GatewayDraft[];
  /**
   * Returns the parent of that name, `'foreign'` for one that is not ours to serve, `undefined` when there is none. Its `listeners`
   * are all that a parentRef to it can select; `allowsNamespace` of each is seen from the namespace of the object in which it stands.
   */
  readonly findParent: (kind: ParentKind, namespace: string, name: string) => ParentDraft | 'foreign' | undefined;
}

/** Judges Gateways and their ListenerSets: alone, then together, then each as a whole. Cost: O(listeners × addresses). */
export function resolveGateways(context: Context, classes: Classes): Gateways {
  const { inventory, facts, findings } = context;
  const byName = new Map<string, GatewayDraft | 'foreign'>();
  for (const resource of inventory.all('Gateway')) {
    const ofClass = findClass(resource, classes, inventory, findings);
    const draft = ofClass && draftGateway(resource, ofClass, context);
    byName.set(objectName(resource.metadata), draft ?? 'foreign');
    if (draft !== undefined) draft.listeners.push(...resolveListeners(draft, resource, context));
  }
  const find: FindGateway = (namespace, name) => byName.get(objectName({ namespace, name }));
  const setsByName = draftListenerSets(find, context);
  const ours = [...byName.values()].filter((found) => found !== 'foreign');
  const sets = [...setsByName.values()].filter((found) => found !== 'foreign');
  const listeners = [...ours, ...sets].flatMap((parent) => parent.listeners);
  const assignedAddresses = resolveAddresses(ours, facts, findings);
  resolveTls(ours, listeners, context);
  judgeListeners(ours, sets, facts, findings);
  reportUnresolvedListeners(ours, findings);
  return {
    ours,
    sets,
    listeners,
    defaults: ours.filter(({ isDefault }) => isDefault),
    assignedAddresses,
    findParent: (kind, namespace, name) =>
      kind === 'Gateway' ? find(namespace, name) : setsByName.get(objectName({ namespace, name })),
  };
}

/** Gateways first: whether their ListenerSets may serve at all depends on them. */
function judgeListeners(
  gateways: readonly GatewayDraft[],
  sets: readonly ListenerSetDraft[],
  facts: Facts,
  findings: Findings,
): void {
  const sockets = new Sockets(facts, findings);
  const claims = resolveGatewayConflicts(gateways, findings);
  for (const gateway of gateways) {
    if (gateway.accepted) sockets.open(gateway.listeners);
    summariseGateway(gateway, findings);
  }
  const serving = sets.filter(({ gateway }) => gateway.serves);
  resolveSetConflicts(serving, claims, findings);
  for (const { listeners } of serving) sockets.open(listeners);
  for (const set of sets) if (set.isAllowed) summariseSet(set, findings);
  sockets.share();
}

/** Returns what is told about Gateways and ListenerSets in their status; call it once all routes are attached. */
export function reportGateways({ ours, sets }: Gateways): Pick<model.Model, 'gateways' | 'listenerSets'> {
  const attached = new Map<GatewayDraft, number>();
  for (const { gateway, accepted } of sets) if (accepted) attached.set(gateway, (attached.get(gateway) ?? 0) + 1);
  return {
    gateways: ours.map((gateway) => reportGateway(gateway, attached.get(gateway) ?? 0)),
    listenerSets: sets.map(({ resource, listeners }) => ({
      ref: refOf(resource),
      generation: resource.metadata.generation,
      listeners: listeners.map(reportListener),
    })),
  };
}

function reportGateway({ resource, addresses, accepted, listeners }: GatewayDraft, sets: number): model.Gateway {
  return {
    ref: refOf(resource),
    generation: resource.metadata.generation,
    addresses: accepted ? addresses : [],
    listeners: listeners.map(reportListener),
    attachedListenerSets: sets,
    infrastructure: infrastructureOf(resource),
  };
}

function reportListener({ spec, supportedKinds, attachedRoutes }: ListenerDraft): model.ListenerReport {
  return { name: spec.name, supportedKinds, attachedRoutes };
}

/** Returns our accepted class of the Gateway. Without one the Gateway is another controller's, or waits. */
function findClass(
  resource: Gateway,
  classes: Classes,
  inventory: Inventory,
  findings: Findings,
): ClassDraft | undefined {
  const { gatewayClassName } = resource.spec;
  const found = classes.find(gatewayClassName);
  if (found === undefined) {
    const suggestion = inventory.suggestion('GatewayClass', '', gatewayClassName);
    const isNear = suggestion.endsWith('?');
    findings.add(resource, {
      code: CODES.classNotFound,
      severity: 'error',
      path: 'spec.gatewayClassName',
      message: `gatewayClassName names GatewayClass ${gatewayClassName}, ${inventory.absence('GatewayClass', '', gatewayClassName)}`,
      hint: isNear
        ? suggestion
        : 'write a GatewayClass with controllerName weirgate.dev/gateway-controller, or use the name of one',
    });
  }
  return found === 'foreign' ? undefined : found;
}

function draftGateway(resource: Gateway, ofClass: ClassDraft, context: Context): GatewayDraft {
  const { parameters, facts, findings } = context;
  const own = findOwnConfig(resource, parameters);
  const draft: GatewayDraft = {
    resource,
    name: objectName(resource.metadata),
    settings: gatewaySettings(ofClass.config, own.ok ? own.value : undefined),
    pool: poolOf(ofClass.config, facts),
    isDefault: resource.spec.defaultScope === 'All',
    isPending: !ofClass.accepted,
    accepted: ofClass.accepted && own.ok,
    programmed: true,
    serves: false,
    binds: [],
    addresses: [],
    listeners: [],
    clientCertificate: undefined,
  };
  if (!ofClass.accepted) {
    const message = `GatewayClass ${resource.spec.gatewayClassName} is not accepted`;
    for (const type of ['Accepted', 'Programmed']) {
      findings.add(resource, {
        code: CODES.classNotAccepted,
        severity: type === 'Accepted' ? 'error' : 'summary',
        path: 'spec.gatewayClassName',
        condition: { type, status: 'Unknown', reason: 'Pending' },
        message,
        hint: 'its own finding says why',
      });
    }
  }
  if (!own.ok) {
    findings.add(resource, {
      code: CODES.gatewayParameters,
      path: 'spec.infrastructure.parametersRef',
      condition: isFalse('Accepted', 'InvalidParameters'),
      message: `infrastructure.parametersRef ${own.error}`,
    });
  } else if (own.value !== undefined) {
    reportIgnoredFields(own.value, resource, findings);
  }
  reportDefault(draft, findings);
  reportIdleInfrastructure(resource, findings);
  return draft;
}

function findOwnConfig(resource: Gateway, parameters: Parameters): Result<WeirgateConfig | undefined, string> {
  const reference = resource.spec.infrastructure?.parametersRef;
  if (reference === undefined) return ok(undefined);
  const found = parameters.find({ ...reference, namespace: resource.metadata.namespace });
  return found.ok ? found : err(found.error);
}

function poolOf(config: WeirgateConfig | undefined, { addressPool }: Facts): readonly string[] | undefined {
  if (addressPool === undefined) return config?.spec.addressPool;
  return addressPool.split(',').map((network) => network.trim());
}

function reportIgnoredFields(config: WeirgateConfig, gateway: Gateway, findings: Findings): void {
  const fields = classOnlyFields(config);
  if (fields.length === 0) return;
  findings.add(config, {
    code: CODES.settingsIgnored,
    path: `spec.${fields[0]}`,
    message: `${fields.join(', ')} cannot be set for the single Gateway ${objectName(gateway.metadata)} and is not used`,
    hint: 'set it in the WeirgateConfig that the GatewayClass names',
  });
}

/** Source: GEP-3793, "MUST update its own status with a condition of type DefaultGateway"; the reason is the scope. */
function reportDefault({ resource, isDefault }: GatewayDraft, findings: Findings): void {
  if (!isDefault) return;
  findings.add(resource, {
    code: CODES.defaultGateway,
    severity: 'summary',
    condition: isTrue('DefaultGateway', 'All'),
    message: 'routes with useDefaultGateways: All attach to this Gateway',
  });
}
