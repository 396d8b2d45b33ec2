/**
 * Objects and the overview as tables, with the columns that kubectl users know. Pure. Serves `status.ts`.
 */
import { compareStrings, formatSpan } from '../base/index.js';
import type { Fault, ListedObject, Overview } from '../ipc/admin-protocol.js';
import { type Cell, counted, formatColumns, type Painter } from './output.js';

/** How much a table shows. */
export interface TableOptions {
  readonly wide: boolean;
  readonly now: Date;
  readonly paint: Painter;
}

type Row = (object: ListedObject) => Cell[];

interface Columns {
  readonly names: readonly string[];
  readonly row: Row;
  /** Further columns of `-o wide`. */
  readonly wide?: { readonly names: readonly string[]; readonly row: Row };
}

/** Columns beside NAME and AGE, by kind; kinds that are not here have none. */
const COLUMNS: Readonly<Record<string, Columns>> = {
  GatewayClass: {
    names: ['CONTROLLER', 'ACCEPTED'],
    row: (object) => [text(spec(object).controllerName), verdict(own(object), 'Accepted')],
  },
  Gateway: {
    names: ['CLASS', 'ADDRESS', 'PROGRAMMED'],
    row: (object) => [
      text(spec(object).gatewayClassName),
      list(status(object).addresses)
        .map((address) => text(address.value))
        .join(','),
      verdict(own(object), 'Programmed'),
    ],
    wide: {
      names: ['ACCEPTED', 'PORTS', 'LISTENERS', 'ROUTES'],
      row: (object) => {
        const listeners = list(status(object).listeners);
        const routes = listeners.reduce((sum, { attachedRoutes }) => sum + Number(attachedRoutes ?? 0), 0);
        const ports = new Set(list(spec(object).listeners).map(({ port }) => String(port)));
        return [verdict(own(object), 'Accepted'), [...ports].join(','), String(listeners.length), String(routes)];
      },
    },
  },
  HTTPRoute: {
    names: ['HOSTNAMES', 'ACCEPTED', 'RESOLVED'],
    row: (object) => [hostnames(object), ...parentVerdicts(object)],
    wide: { names: ['PARENT REFS', 'RULES'], row: (object) => [parentRefs(object), rules(object)] },
  },
  TCPRoute: {
    names: ['ACCEPTED', 'RESOLVED'],
    row: parentVerdicts,
    wide: { names: ['PARENT REFS', 'RULES'], row: (object) => [parentRefs(object), rules(object)] },
  },
  Backend: {
    names: ['ENDPOINTS', 'ACCEPTED'],
    row: (object) => [String(list(spec(object).endpoints).length), verdict(own(object), 'Accepted')],
  },
  BackendPolicy: {
    names: ['TARGETS', 'ACCEPTED'],
    row: (object) => [
      list(spec(object).targetRefs)
        .map(({ kind, name }) => `${text(kind)}/${text(name)}`)
        .join(','),
      worst(list(status(object).ancestors).map(({ conditions }) => verdict(list(conditions), 'Accepted'))),
    ],
  },
};

/** Returns one table for objects of one kind; with a column NAMESPACE when they are in more than one, or `all` says so. */
export function formatObjects(objects: readonly ListedObject[], all: boolean, options: TableOptions): string {
  const first = objects[0];
  if (first === undefined) return '';
  const columns = COLUMNS[first.kind];
  const namespaces = new Set(objects.map(({ metadata }) => metadata.namespace));
  const named = (all || namespaces.size > 1) && first.metadata.namespace !== undefined;
  const wide = options.wide ? columns?.wide : undefined;
  const header: Cell[] = [
    ...(named ? ['NAMESPACE'] : []),
    'NAME',
    ...(columns?.names ?? []),
    'AGE',
    ...(wide?.names ?? []),
  ].map((name) => ({ text: name, style: 'bold' }));
  const rows = objects.map((object) => [
    ...(named ? [object.metadata.namespace ?? ''] : []),
    object.metadata.name,
    ...(columns?.row(object) ?? []).map(paintVerdict),
    age(object.metadata.creationTimestamp, options.now),
    ...(wide?.row(object) ?? []).map(paintVerdict),
  ]);
  return formatColumns([header, ...rows], options.paint);
}

/** Returns the faults, each on a line that says what and why; `''` without any. */
export function formatFaults(faults: readonly Fault[], total: number, paint: Painter): string {
  const lines = faults.map(({ object, part, condition, reason, message }) => {
    const where = part === '' ? object : `${object}, ${part}`;
    return `${paint('red', '✗')} ${where}: ${condition} ${reason}: ${message}\n`;
  });
  if (total > faults.length) lines.push(`… and ${total - faults.length} more\n`);
  return lines.join('');
}

/** Returns what an instance is and does, in a few lines and a table of its workers. */
export function formatOverview(overview: Overview, { paint, now }: TableOptions): string {
  const { version, phase, generation, pid, workers, reload, endpoints } = overview;
  const serving = workers.list.filter((worker) => worker.phase === 'serving').length;
  const spares = workers.list.filter((worker) => worker.phase === 'spare').length;
  const facts: Cell[][] = [
    ['Instance', `weirgate ${version}, pid ${pid}, ${phase} for ${duration(overview.uptimeSeconds)}`],
    ['Sources', overview.sources.join(', ')],
    ['Generation', generation === 0 ? 'none yet' : String(generation)],
    ['Reload', describeReload(reload, now)],
    [
      'Workers',
      `${serving} of ${workers.wanted} serving, ${counted(spares, 'spare')}, ${counted(workers.restarts, 'restart')}`,
    ],
    ['Listening', overview.sockets.map(({ key }) => key).join(', ') || 'nowhere'],
    ['Objects', describeObjects(overview.objects)],
    ['Endpoints', describeEndpoints(endpoints)],
  ];
  const header = ['WORKER', 'PID', 'PHASE', 'GENERATION', 'CONNECTIONS', 'REQUESTS', 'ACCEPTED'];
  const rows = workers.list.map((worker) => [
    String(worker.id),
    String(worker.pid),
    worker.paused ? `${worker.phase} (paused)` : worker.phase,
    worker.generation === 0 ? '-' : String(worker.generation),
    String(worker.connections),
    String(worker.requestsInFlight),
    String(worker.accepts),
  ]);
  const table = formatColumns([header.map((name): Cell => ({ text: name, style: 'bold' })), ...rows], paint);
  const down = endpoints.unusable.map(
    ({ cluster, address, detail }) => `${paint('red', '✗')} ${cluster} ${address} gets no traffic: ${detail}\n`,
  );
  return [formatColumns(facts, paint), '\n', table, ...(down.length > 0 ? ['\n', ...down] : [])].join('');
}

function describeReload({ outcome, at, message, diagnostics }: Overview['reload'], now: Date): string {
  if (outcome === 'none') return 'none yet';
  const when = `${duration((now.getTime() - Date.parse(at)) / 1000)} ago`;
  if (outcome !== 'refused') return message === '' ? `${outcome} ${when}` : `${outcome} ${when}, in part: ${message}`;
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const first = errors[0];
  const why = message !== '' || first === undefined ? message : `${formatSpan(first.span)}: ${first.message}`;
  const more = errors.length > 1 ? ` (and ${counted(errors.length - 1, 'error')} more)` : '';
  return `REFUSED ${when}, the generation before goes on serving: ${why}${more}`;
}

function describeObjects(objects: Overview['objects']): string {
  const kinds = Object.entries(objects).sort(([a], [b]) => compareStrings(a, b));
  return kinds.map(([kind, count]) => `${count} ${kind}`).join(', ') || 'none';
}

function describeEndpoints({ total, unusable }: Overview['endpoints']): string {
  return unusable.length === 0 ? `${total}, all usable` : `${total}, ${unusable.length} without traffic`;
}

/** Returns a time span in its two largest units, as kubectl does: `45s`, `3m12s`, `5h3m`, `12d`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m${whole % 60 === 0 ? '' : `${whole % 60}s`}`;
  const hours = Math.floor(whole / 3600);
  if (hours < 48)
    return `${hours}h${Math.floor((whole % 3600) / 60) === 0 ? '' : `${Math.floor((whole % 3600) / 60)}m`}`;
  return `${Math.floor(hours / 24)}d`;
}

/** Files carry no age unless somebody wrote one. */
function age(created: string | undefined, now: Date): string {
  return created === undefined ? '-' : duration((now.getTime() - Date.parse(created)) / 1000);
}

function hostnames(object: ListedObject): string {
  const names = spec(object).hostnames;
  return Array.isArray(names) && names.length > 0 ? names.join(',') : '*';
}

function parentVerdicts(object: ListedObject): string[] {
  const parents = list(status(object).parents);
  return ['Accepted', 'ResolvedRefs'].map((type) =>
    worst(parents.map(({ conditions }) => verdict(list(conditions), type))),
  );
}

function parentRefs(object: ListedObject): string {
  return list(spec(object).parentRefs)
    .map(({ name, sectionName }) => (sectionName === undefined ? text(name) : `${text(name)}/${text(sectionName)}`))
    .join(',');
}

function rules(object: ListedObject): string {
  return String(list(spec(object).rules).length);
}

/** Returns `True`, `False` or `Unknown`; `-` without the condition. */
function verdict(conditions: readonly Record<string, unknown>[], type: string): string {
  const found = conditions.find((condition) => condition.type === type);
  return found === undefined ? '-' : text(found.status);
}

function worst(verdicts: readonly string[]): string {
  return ['False', 'Unknown', '-', 'True'].find((word) => verdicts.includes(word)) ?? '-';
}

function paintVerdict(cell: Cell): Cell {
  if (cell === 'True') return { text: cell, style: 'green' };
  return cell === 'False' || cell === 'Unknown' ? { text: cell, style: 'red' } : cell;
}

function own(object: ListedObject): Record<string, unknown>[] {
  return list(status(object).conditions);
}

function spec(object: ListedObject): Record<string, unknown> {
  return record(object.spec);
}

function status(object: ListedObject): Record<string, unknown> {
  return record(object.status);
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(record) : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
