/**
 * ListenerSets: which Gateway each wants to belong to, and whether that Gateway takes it. Source: ListenerSet, GEP-1713.
 */
import { GATEWAY_GROUP, type ListenerSet, objectLabel } from '../gateway-api/index.js';
import { objectName } from '../model/object-ref.js';
import { CODES } from './codes.js';
import type { Context } from './context.js';
import type { GatewayDraft, ListenerSetDraft } from './drafts.js';
import { isFalse } from './findings.js';
import { resolveListeners, SELECTOR_HINT } from './listeners.js';
import { allowsNamespace, selectorFault } from './selectors.js';

/** Returns our Gateway of that name, `'foreign'` for one that is not ours to serve, `undefined` when there is none. */
export type FindGateway = (namespace: string, name: string) => GatewayDraft | 'foreign' | undefined;

/** The ListenerSets of a snapshot by name; `'foreign'` are those of Gateways that are not ours, or that are not there. */
export type ListenerSets = ReadonlyMap<string, ListenerSetDraft | 'foreign'>;

/**
 * Returns the ListenerSets in order of seniority, with the drafts of their listeners as far as their Gateway takes them.
 * Cost: O(sets + listeners).
 */
export function draftListenerSets(find: FindGateway, context: Context): ListenerSets {
  const allows = new Map<GatewayDraft, (namespace: string) => boolean>();
  const sets = new Map<string, ListenerSetDraft | 'foreign'>();
  for (const resource of context.inventory.all('ListenerSet')) {
    const gateway = findGateway(resource, find, context);
    const draft = gateway && draftListenerSet(resource, gateway, allows, context);
    sets.set(objectName(resource.metadata), draft ?? 'foreign');
  }
  return sets;
}

function findGateway(
  resource: ListenerSet,
  find: FindGateway,
  { inventory, findings }: Context,
): GatewayDraft | undefined {
  const { group, kind, namespace = resource.metadata.namespace, name } = resource.spec.parentRef;
  if (group !== GATEWAY_GROUP || kind !== 'Gateway') {
    findings.add(resource, {
      code: CODES.setParentKindUnknown,
      path: 'spec.parentRef.kind',
      message: `parentRef names the kind ${kind} of group "${group}", so no Gateway of ours serves the listeners`,
      hint: 'listeners are added to a Gateway',
    });
    return undefined;
  }
  const gateway = find(namespace, name);
  if (gateway === undefined) {
    findings.add(resource, {
      code: CODES.setParentNotFound,
      severity: 'error',
      path: 'spec.parentRef.name',
      message: `parentRef names ${objectLabel(kind, namespace, name)}, ${inventory.absence('Gateway', namespace, name)}`,
    });
  }
  return gateway === 'foreign' ? undefined : gateway;
}

function draftListenerSet(
  resource: ListenerSet,
  gateway: GatewayDraft,
  allows: Map<GatewayDraft, (namespace: string) => boolean>,
  context: Context,
): ListenerSetDraft {
  const isAllowed = takes(gateway, allows, context)(resource.metadata.namespace);
  const draft: ListenerSetDraft = {
    resource,
    name: objectName(resource.metadata),
    gateway,
    isAllowed,
    accepted: isAllowed,
    listeners: isAllowed ? resolveListeners(gateway, resource, context) : [],
  };
  if (!isAllowed) reportNotAllowed(draft, context);
  return draft;
}

/** Returns the test for the namespaces whose sets a Gateway takes; one for each Gateway, because it remembers its answers. */
function takes(
  gateway: GatewayDraft,
  known: Map<GatewayDraft, (namespace: string) => boolean>,
  { inventory, findings }: Context,
): (namespace: string) => boolean {
  let test = known.get(gateway);
  if (test === undefined) {
    const { spec, metadata } = gateway.resource;
    const { from = 'None', ...rest } = spec.allowedListeners?.namespaces ?? {};
    const namespaces = from === 'None' ? undefined : { from, ...rest };
    test = namespaces === undefined ? () => false : allowsNamespace(namespaces, metadata.namespace, inventory);
    known.set(gateway, test);
    const fault = namespaces && selectorFault(namespaces);
    if (fault !== undefined) {
      findings.add(gateway.resource, {
        code: CODES.selectorInvalid,
        path: 'spec.allowedListeners.namespaces.selector',
        message: `the selector of allowedListeners ${fault}`,
        hint: SELECTOR_HINT,
      });
    }
  }
  return test;
}

function reportNotAllowed({ resource, gateway }: ListenerSetDraft, { findings }: Context): void {
  const { from } = gateway.resource.spec.allowedListeners?.namespaces ?? { from: 'None' as const };
  const { namespace } = resource.metadata;
  const why = {
    None: 'takes no ListenerSets',
    Same: `takes ListenerSets of its own namespace only, not of ${namespace}`,
    Selector: `selects namespaces by labels that ${namespace} does not have`,
    All: 'takes ListenerSets of all namespaces',
  }[from];
  for (const type of ['Accepted', 'Programmed']) {
    findings.add(resource, {
      code: CODES.setNotAllowed,
      severity: type === 'Accepted' ? 'error' : 'summary',
      path: 'spec.parentRef',
      condition: isFalse(type, 'NotAllowed'),
      message: `Gateway ${gateway.name} ${why}`,
      hint: 'set allowedListeners of the Gateway',
    });
  }
}
