/**
 * The listeners of Gateways and ListenerSets, a line each: what they are, whether they serve, and why not. Pure. Serves `status-tables.ts`.
 */
import type { ListedObject } from '../ipc/admin-protocol.js';
import { list, number, record, text, verdictOf } from './status-columns.js';

/** Columns of a listener, NAMESPACE not among them. */
export const LISTENER_COLUMNS: readonly string[] = [
  'NAME',
  'OF',
  'PROTOCOL',
  'PORT',
  'HOSTNAME',
  'PROGRAMMED',
  'ROUTES',
];
/** Further ones of `-o wide`. */
export const LISTENER_WIDE: readonly string[] = ['ACCEPTED', 'CONFLICTED', 'RESOLVED', 'TLS', 'KINDS', 'REASON'];

/** Returns the cells of each listener of an object, in the order of its spec. */
export function listenerRows(object: ListedObject, wide: boolean): string[][] {
  const judged = new Map(list(record(object.status).listeners).map((listener) => [text(listener.name), listener]));
  return list(record(object.spec).listeners).map((listener) => {
    const { name, protocol, port, hostname, tls } = listener;
    const { attachedRoutes, supportedKinds, conditions } = judged.get(text(name)) ?? {};
    const cells = [
      text(name),
      `${object.kind}/${object.metadata.name}`,
      text(protocol),
      number(port),
      hostname === undefined ? '*' : text(hostname),
      verdictOf(conditions, 'Programmed'),
      attachedRoutes === undefined ? '-' : number(attachedRoutes),
    ];
    if (!wide) return cells;
    return [
      ...cells,
      verdictOf(conditions, 'Accepted'),
      verdictOf(conditions, 'Conflicted'),
      verdictOf(conditions, 'ResolvedRefs'),
      tls === undefined ? '-' : text(record(tls).mode),
      list(supportedKinds)
        .map(({ kind }) => text(kind))
        .join() || '-',
      reasonOf(conditions),
    ];
  });
}

/** Returns why a listener does not serve: the reason of the first condition that says so. */
function reasonOf(conditions: unknown): string {
  const all = list(conditions);
  for (const type of ['Accepted', 'ResolvedRefs', 'Programmed']) {
    const found = all.find((condition) => condition.type === type && condition.status !== 'True');
    if (found !== undefined) return text(found.reason);
  }
  return '';
}
