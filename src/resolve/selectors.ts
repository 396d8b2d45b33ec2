/**
 * Which namespaces a listener takes routes from, and a Gateway its ListenerSets.
 */
import type { AllowedRoutes, LabelSelector } from '../gateway-api/index.js';
import type { Inventory } from './inventory.js';

/** The label that an API server gives to every namespace; in files it holds without being written. */
const NAME_LABEL = 'kubernetes.io/metadata.name';

type Labels = Readonly<Record<string, string>>;

/** Namespaces that something is taken from: `allowedRoutes.namespaces`, or `allowedListeners.namespaces` without `None`. */
type Namespaces = AllowedRoutes['namespaces'];

/** Returns the test for namespaces; answers are remembered, so it costs O(1) after the first of a namespace. */
export function allowsNamespace(
  { from, selector }: Namespaces,
  own: string,
  inventory: Inventory,
): (namespace: string) => boolean {
  if (from === 'All') return () => true;
  if (from === 'Same') return (namespace) => namespace === own;
  const known = new Map<string, boolean>();
  return (namespace) => {
    let answer = known.get(namespace);
    if (answer === undefined) {
      answer = selector !== undefined && selects(selector, labelsOf(namespace, inventory));
      known.set(namespace, answer);
    }
    return answer;
  };
}

/** Returns why a selector can select nothing whatever the labels are, as a sentence without its subject; `undefined` when it can. */
export function selectorFault({ from, selector }: Namespaces): string | undefined {
  if (from !== 'Selector') return undefined;
  if (selector === undefined) return 'is missing, so no namespace is selected';
  for (const [index, { operator, values = [] }] of (selector.matchExpressions ?? []).entries()) {
    const text = `matchExpressions[${index}]`;
    const wantsValues = WANTS_VALUES.get(operator);
    if (wantsValues === undefined) return `has the operator ${operator} in ${text}, so no namespace is selected`;
    if (wantsValues && values.length === 0)
      return `has no values for ${operator} in ${text}, so no namespace is selected`;
    if (!wantsValues && values.length > 0) return `has values for ${operator} in ${text}, so no namespace is selected`;
  }
  return undefined;
}

/** The operators; an API server takes any word, so that it is for us to refuse others. */
const WANTS_VALUES: ReadonlyMap<string, boolean> = new Map([
  ['In', true],
  ['NotIn', true],
  ['Exists', false],
  ['DoesNotExist', false],
]);

/** True when all requirements of the selector hold; an empty selector selects everything. */
export function selects({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((requirement) => meets(requirement, labels))
  );
}

type Requirement = NonNullable<LabelSelector['matchExpressions']>[number];

function meets({ key, operator, values = [] }: Requirement, labels: Labels): boolean {
  if (WANTS_VALUES.get(operator) !== values.length > 0) return false;
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    // Unknown operators pass admission, as they do in an API server.
    default:
      return false;
  }
}

function labelsOf(namespace: string, inventory: Inventory): Labels {
  const labels = inventory.find('Namespace', '', namespace)?.metadata.labels;
  return { ...labels, [NAME_LABEL]: namespace };
}
