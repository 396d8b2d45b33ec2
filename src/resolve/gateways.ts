/**
 * Gateways of our classes: parameters, addresses, listeners, and what follows for the Gateway as a whole.
 */
import { err, ok, type Result } from '../base/index.js';
import type { Gateway, WeirgateConfig } from '../gateway-api/index.js';
import type * as model from '../model/model.js';
import { objectName } from '../model/object-ref.js';
import { resolveAddresses } from './addresses.js';
import { CODES } from './codes.js';
import { resolveConflicts } from './conflicts.js';
import type { Context } from './context.js';
import type { GatewayDraft, ListenerDraft, ParentDraft } from './drafts.js';
import type { Facts } from './facts.js';
import { type Findings, isFalse, refOf } from './findings.js';
import type { ClassDraft, Classes } from './gateway-classes.js';
import type { Inventory } from './inventory.js';
import { resolveListeners } from './listeners.js';
import type { Parameters } from './parameters.js';
import { classOnlyFields, gatewaySettings } from './settings.js';
import { resolveSockets } from './sockets.js';

/** Kinds of `gateway.networking.k8s.io` that routes attach to. */
export type ParentKind = 'Gateway' | 'ListenerSet';

/** The Gateways of a snapshot, judged. */
export interface Gateways {
  /** Those of our accepted classes, in order of seniority. */
  readonly ours: readonly GatewayDraft[];
  readonly assignedAddresses: Readonly<Record<string, string>>;
  /** Those to which routes with `useDefaultGateways: All` attach, in order of seniority. */
  readonly defaults: readonly GatewayDraft[];
  /**
   * Returns the parent of that name, `'foreign'` for one that is not ours to serve, `undefined` when there is none. Its `listeners`
   * are all that a parentRef to it can select; `allowsNamespace` of each is seen from the namespace of the object in which it stands.
   */
  readonly findParent: (kind: ParentKind, namespace: string, name: string) => ParentDraft | 'foreign' | undefined;
  /** Returns our Gateway of that name, `'foreign'` for one that is not ours to serve, `undefined` when there is none. */
  readonly find: (namespace: string, name: string) => GatewayDraft | 'foreign' | undefined;
  /** See `Inventory.absence`. */
  readonly absence: (namespace: string, name: string) => string;
}

/** Judges the Gateways: alone, then together, then each as a whole. */
export function resolveGateways(context: Context, classes: Classes): Gateways {
  const { inventory, facts, findings } = context;
  const byName = new Map<string, GatewayDraft | 'foreign'>();
  for (const resource of inventory.all('Gateway')) {
    const ofClass = findClass(resource, classes, inventory, findings);
    const draft = ofClass && draftGateway(resource, ofClass, context);
    byName.set(objectName(resource.metadata), draft ?? 'foreign');
    if (draft !== undefined) draft.listeners.push(...resolveListeners(draft, context));
  }
  const ours = [...byName.values()].filter((found) => found !== 'foreign');
  const assignedAddresses = resolveAddresses(ours, facts, findings);
  resolveConflicts(ours, findings);
  resolveSockets(ours, facts, findings);
  for (const gateway of ours) summarise(gateway, findings);
  const find: Gateways['find'] = (namespace, name) => byName.get(objectName({ namespace, name }));
  return {
    ours,
    defaults: ours.filter(({ isDefault }) => isDefault),
    assignedAddresses,
    findParent: (kind, namespace, name) => (kind === 'Gateway' ? find(namespace, name) : undefined),
    find,
    absence: (namespace, name) => inventory.absence('Gateway', namespace, name),
  };
}

/** Returns what is told about a Gateway in its status; call it once all routes are attached. */
export function reportGateway({ resource, addresses, accepted, listeners }: GatewayDraft): model.Gateway {
  return {
    ref: refOf(resource),
    generation: resource.metadata.generation,
    addresses: accepted ? addresses : [],
    listeners: listeners.map(({ spec, supportedKinds, attachedRoutes }) => ({
      name: spec.name,
      supportedKinds,
      attachedRoutes,
    })),
    attachedListenerSets: 0,
  };
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
    findings.add(resource, {
      code: CODES.classNotFound,
      severity: 'error',
      path: 'spec.gatewayClassName',
      message: `gatewayClassName names GatewayClass ${gatewayClassName}, ${inventory.absence('GatewayClass', '', gatewayClassName)}`,
      hint: 'write a GatewayClass with controllerName weirgate.dev/gateway-controller, or use the name of one',
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
    accepted: ofClass.accepted && own.ok,
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
  reportUnserved(resource, findings);
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

/** Fields of the specification that this version knows and does not carry out are told, never silently ignored. */
function reportUnserved(resource: Gateway, findings: Findings): void {
  const { spec } = resource;
  const fields: string[] = [];
  if (spec.tls !== undefined) fields.push('tls');
  if (spec.allowedListeners !== undefined && spec.allowedListeners.namespaces.from !== 'None')
    fields.push('allowedListeners');
  if (spec.defaultScope === 'All') fields.push('defaultScope');
  for (const field of fields) {
    findings.add(resource, {
      code: CODES.notServedYet,
      path: `spec.${field}`,
      message: `${field} is not carried out by this version`,
    });
  }
}

/** Says what the verdicts about listeners mean for the Gateway, and what those about the Gateway mean for its listeners. */
function summarise(gateway: GatewayDraft, findings: Findings): void {
  const { resource, listeners } = gateway;
  const refused = listeners.filter(({ accepted }) => !accepted);
  const isServed = gateway.accepted && refused.length < listeners.length;
  if (refused.length > 0) {
    findings.add(resource, {
      code: CODES.listenersNotValid,
      severity: 'summary',
      condition: { type: 'Accepted', status: isServed ? 'True' : 'False', reason: 'ListenersNotValid' },
      message: notValidMessage(listeners),
    });
  }
  if (!isServed) {
    findings.add(resource, {
      code: CODES.gatewayNotProgrammed,
      severity: 'summary',
      condition: isFalse('Programmed', 'Invalid'),
      message: gateway.accepted ? 'no listener is valid' : 'the Gateway is not accepted',
    });
  }
  for (const listener of listeners) {
    if (listener.sockets.length > 0) continue;
    const message = !listener.accepted
      ? 'the listener is not accepted'
      : gateway.accepted
        ? 'the Gateway has no usable address'
        : 'the Gateway is not accepted';
    findings.add(resource, {
      code: CODES.gatewayNotProgrammed,
      severity: 'summary',
      subject: { kind: 'listener', name: listener.spec.name },
      condition: isFalse('Programmed', 'Invalid'),
      message,
    });
  }
}

function notValidMessage(listeners: readonly ListenerDraft[]): string {
  const names = (wanted: (listener: ListenerDraft) => boolean): string =>
    listeners
      .filter(wanted)
      .map(({ spec }) => spec.name)
      .join(', ');
  const conflicted = names(({ conflict }) => conflict !== undefined);
  const invalid = names(({ accepted, conflict }) => !accepted && conflict === undefined);
  const accepted = names((listener) => listener.accepted);
  const parts = [
    conflicted === '' ? '' : `conflicted listeners: ${conflicted}`,
    invalid === '' ? '' : `invalid listeners: ${invalid}`,
    `accepted listeners: ${accepted === '' ? 'none' : accepted}`,
  ];
  return parts.filter((part) => part !== '').join('; ');
}
