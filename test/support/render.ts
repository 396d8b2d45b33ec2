/**
 * Results of a build as short text that a person can judge. What is as usual is left out, what is not is written in full.
 */
import { stringify } from 'yaml';
import { formatSpan } from '../../src/base/index.js';
import type { Plan } from '../../src/pipeline.js';
import type { Condition, ObjectStatus } from '../../src/status/index.js';

/** One block an object; a condition is `status/reason: message`, and conditions that are as everybody wants them are `ok`. */
export function renderStatus(objects: readonly ObjectStatus[]): string {
  const blocks = objects.map((object) => [`${object.kind} ${nameOf(object)}`, renderBody(object)]);
  return stringify(Object.fromEntries(blocks), { lineWidth: 120 });
}

/** `place severity code object: message (hint)`, a line each. */
export function renderDiagnostics({ diagnostics }: Pick<Plan, 'diagnostics'>): string {
  return diagnostics
    .map(({ span, severity, code, object, message, hint }) => {
      const note = hint === '' ? '' : ` (${hint})`;
      return `${formatSpan(span)} ${severity} ${code} ${object}: ${message}${note}\n`;
    })
    .join('');
}

function renderBody({ status }: ObjectStatus): unknown {
  const { conditions, addresses, listeners, attachedListenerSets = 0, parents, ancestors } = status;
  if (parents !== undefined) {
    return parents.map(({ parentRef, conditions: own }) => ({ [renderReference(parentRef)]: renderConditions(own) }));
  }
  if (ancestors !== undefined) {
    return ancestors.map(({ ancestorRef, conditions: own }) => ({
      [renderReference(ancestorRef)]: renderConditions(own),
    }));
  }
  if (listeners === undefined) return renderConditions(conditions ?? []);
  return {
    addresses: addresses?.map(({ value }) => value).join(' '),
    conditions: renderConditions(conditions ?? []),
    ...(attachedListenerSets > 0 && { attachedListenerSets }),
    listeners: Object.fromEntries(
      listeners.map(({ name, supportedKinds, attachedRoutes, conditions: own }) => [
        `${name} (${supportedKinds.map(({ kind }) => kind).join(' ') || 'no kind'}, ${attachedRoutes} attached)`,
        renderConditions(own),
      ]),
    ),
  };
}

/** `ok`, or the conditions that are not as everybody wants them. */
function renderConditions(conditions: readonly Condition[]): unknown {
  const unusual = conditions.filter(({ type, status, reason }) =>
    type === 'Conflicted' ? status !== 'False' : status !== 'True' || reason !== type,
  );
  if (unusual.length === 0) return 'ok';
  return Object.fromEntries(
    unusual.map(({ type, status, reason, message }) => [
      type,
      `${status}/${reason}${message === '' ? '' : `: ${message}`}`,
    ]),
  );
}

function renderReference({
  kind,
  namespace,
  name,
  sectionName,
  port,
}: Readonly<Record<string, string | number>>): string {
  const owner = namespace === undefined ? name : `${namespace}/${name}`;
  return [kind, owner, sectionName && `section ${sectionName}`, port && `port ${port}`].filter(Boolean).join(' ');
}

function nameOf({ namespace, name }: ObjectStatus): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
