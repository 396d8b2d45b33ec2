/**
 * The overview of an instance for people: a few facts, its workers, what gets no traffic. Pure. Serves `status.ts`.
 */
import { compareStrings, formatSpan } from '../base/index.js';
import type { Overview } from '../ipc/admin-protocol.js';
import { type Cell, counted, formatColumns } from './output.js';
import { duration, type TableOptions } from './status-tables.js';

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
