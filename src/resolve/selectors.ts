/**
 * Which namespaces a listener takes routes from.
 */
import type { AllowedRoutes, LabelSelector } from '../gateway-api/index.js';
import type { Inventory } from './inventory.js';

/** The label that an API server gives to every namespace; in files it holds without being written. */
const NAME_LABEL = 'kubernetes.io/metadata.name';

type Labels = Readonly<Record<string, string>>;

/** Returns the test for the namespaces of routes; answers are remembered, so it costs O(1) after the first of a namespace. */
export function allowsNamespace(
  { from, selector }: AllowedRoutes['namespaces'],
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

/** True when all requirements of the selector hold; an empty selector selects everything. */
export function selects({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((requirement) => meets(requirement, labels))
  );
}

type Requirement = NonNullable<LabelSelector['matchExpressions']>[number];

function meets({ key, operator, values = [] }: Requirement, labels: Labels): boolean {
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
