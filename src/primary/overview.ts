/**
 * The overview of an instance, put together from its parts when someone asks. Reads, decides nothing. Serves `primary.ts`.
 */
import type { LastReload, Overview, OverviewWorker } from '../ipc/admin-protocol.js';
import type { WorkerControl } from '../native/addon.js';
import type { StatusSummary } from './build-state.js';
import type { Crew } from './crew.js';
import type { Endpoints } from './endpoints.js';
import type { Sockets } from './sockets.js';
import type { WorkerView } from './supervisor.js';

/** What never changes while the instance runs. */
export interface Identity {
  readonly version: string;
  readonly layoutHash: string;
  readonly pid: number;
  readonly startedAt: Date;
  readonly sources: readonly string[];
}

export interface OverviewParts {
  readonly identity: Identity;
  readonly phase: Overview['phase'];
  readonly generation: number;
  readonly reload: LastReload;
  readonly workersWanted: number;
  readonly crew: Pick<Crew, 'view' | 'restarts' | 'pid'>;
  readonly sockets: Pick<Sockets, 'overview'>;
  readonly endpoints: Pick<Endpoints, 'overview'>;
  readonly summary: StatusSummary;
  readonly readControl: (column: number) => WorkerControl;
  readonly nowMs: number;
  readonly monotonicMs: number;
}

/** Endpoints without traffic that are listed by name. */
const MOST_ENDPOINTS = 50;

/** Returns the overview as of now. */
export function composeOverview(parts: OverviewParts): Overview {
  const { identity, crew, summary } = parts;
  const { version, layoutHash, pid, startedAt, sources } = identity;
  return {
    version,
    layoutHash,
    pid,
    startedAt: startedAt.toISOString(),
    uptimeSeconds: Math.max(0, Math.round((parts.nowMs - startedAt.getTime()) / 1000)),
    phase: parts.phase,
    generation: parts.generation,
    sources,
    reload: parts.reload,
    workers: {
      wanted: parts.workersWanted,
      restarts: crew.restarts,
      list: crew.view().map((worker) => describeWorker(worker, parts)),
    },
    sockets: parts.sockets.overview(),
    objects: summary.objects,
    endpoints: parts.endpoints.overview(MOST_ENDPOINTS),
    faults: summary.faults,
    faultCount: summary.faultCount,
  };
}

function describeWorker({ id, phase, column }: WorkerView, parts: OverviewParts): OverviewWorker {
  const control = column === undefined ? undefined : parts.readControl(column);
  const heartbeatMs = control?.heartbeatMs ?? 0;
  return {
    id,
    pid: parts.crew.pid(id) ?? 0,
    phase,
    generation: control?.generation ?? 0,
    connections: control?.connections ?? 0,
    requestsInFlight: control?.requestsInflight ?? 0,
    accepts: control?.accepts ?? 0,
    paused: control?.paused ?? false,
    heartbeatAgeMs: heartbeatMs === 0 ? -1 : Math.max(0, Math.round(parts.monotonicMs - heartbeatMs)),
  };
}
