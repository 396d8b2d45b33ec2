/**
 * The metrics of an instance: which families there are, from shared counters and from what the primary knows.
 * Pure but for the reads that its source offers. Serves `primary/admin.ts`. Names follow the Prometheus rules: base
 * units, `_total` for counters, no label that a client can choose.
 */
import { CLOSE_REASONS, COUNTER_CELLS, type CounterCell } from '../native/counters.gen.js';
import { ENGINE_CELLS_FIRST, SLOT_CELLS } from '../native/layout.gen.js';
import type { Family, Sample } from './openmetrics.js';
import type { CountedKind, SlotRegistry } from './slot-registry.js';

/** One worker that has a column. */
export interface WorkerMetrics {
  readonly column: number;
  readonly connections: number;
  readonly requestsInFlight: number;
  readonly generation: number;
  readonly paused: boolean;
  readonly heartbeatAgeMs: number;
}

/** One endpoint of the generation that serves. */
export interface EndpointMetrics {
  readonly cluster: string;
  readonly address: string;
  readonly usable: boolean;
  /** Undefined: not checked. */
  readonly checks: { readonly good: number; readonly bad: number; readonly lastMs: number } | undefined;
}

/** Counter cells of all workers, dead ones included. */
export interface CounterSource {
  /** Cells of `count` slots from `from` on, summed over the columns ever used: 16 for each slot. */
  readSlots(from: number, count: number): Float64Array;
  /** Gauges of `count` slots from `from` on, summed over the living. */
  readGauges(from: number, count: number): Float64Array;
  /** Connections closed by reason, then (256 and up) the engine-wide cells: by column. */
  readHeads(): Iterable<{ readonly column: number; readonly cells: Float64Array }>;
}

export interface MetricsSource {
  readonly counters: CounterSource;
  readonly registry: SlotRegistry;
  readonly workers: readonly WorkerMetrics[];
  readonly endpoints: Iterable<EndpointMetrics>;
  readonly version: string;
  readonly layoutHash: string;
  readonly generation: number;
  readonly reloadSucceeded: boolean;
  /** Seconds since the epoch; 0: never. */
  readonly reloadSucceededAt: number;
  readonly reloads: Readonly<Record<string, number>>;
  readonly faults: number;
  readonly workersWanted: number;
  readonly workerRestarts: number;
  /** Since the access log was turned on. */
  readonly accessLog: { readonly lines: number; readonly lost: number };
  readonly process: ProcessMetrics;
}

/** Of the primary's own process. */
export interface ProcessMetrics {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly startedAt: number;
}

/** Beyond so many slots of a kind, those that never counted anything are left out: 100,000 idle routes would be 80 MB. */
const LIST_IDLE_UP_TO = 1_000;
const READ_SLOTS = 4_096;

/** Yields all families. Cost: one read of the counters of all slots in use. */
export function* listFamilies(source: MetricsSource): Generator<Family> {
  yield* instanceFamilies(source);
  yield* workerFamilies(source);
  const slots = new SlotReader(source.counters, source.registry.highest);
  const endpoints = [...source.endpoints];
  for (const kind of ['listener', 'action', 'endpoint'] as const) {
    yield* counterFamilies(kind, source.registry, slots);
    yield* gaugeFamily(kind, source.registry, slots);
  }
  yield* healthFamilies(endpoints);
}

type Labels = Readonly<Record<string, string>>;

function* instanceFamilies(source: MetricsSource): Generator<Family> {
  const { version, layoutHash, process } = source;
  yield one('weirgate_build', 'info', 'Version of the software and of its table format.', 1, {
    version,
    layout: layoutHash,
  });
  yield one('weirgate_config_generation', 'gauge', 'Generation of the configuration that serves.', source.generation);
  yield one(
    'weirgate_config_last_reload_successful',
    'gauge',
    '1 when the configuration files were accepted when they were last read.',
    source.reloadSucceeded ? 1 : 0,
  );
  yield one(
    'weirgate_config_last_reload_success_timestamp_seconds',
    'gauge',
    'When the configuration files were last accepted.',
    source.reloadSucceededAt,
  );
  yield {
    name: 'weirgate_config_reloads',
    type: 'counter',
    help: 'Reloads by outcome.',
    samples: Object.entries(source.reloads).map(([outcome, value]) => ({ labels: { outcome }, value })),
  };
  yield one('weirgate_config_faults', 'gauge', 'Conditions of objects that are not as they should be.', source.faults);
  yield one('weirgate_access_log_lines', 'counter', 'Lines written to the access log.', source.accessLog.lines);
  yield one(
    'weirgate_access_log_lost',
    'counter',
    'Lines that the file or pipe of the access log did not take.',
    source.accessLog.lost,
  );
  yield one('process_cpu_seconds', 'counter', 'CPU time of the primary process.', process.cpuSeconds);
  yield one('process_resident_memory_bytes', 'gauge', 'Resident memory of the primary process.', process.residentBytes);
  yield one('process_start_time_seconds', 'gauge', 'When the primary process started.', process.startedAt);
}

function* workerFamilies(source: MetricsSource): Generator<Family> {
  const { workers } = source;
  yield one('weirgate_workers', 'gauge', 'Workers that are wanted.', source.workersWanted);
  yield one('weirgate_worker_restarts', 'counter', 'Workers replaced after an unexpected end.', source.workerRestarts);
  const gauge = (name: string, help: string, read: (worker: WorkerMetrics) => number): Family => ({
    name,
    type: 'gauge',
    help,
    samples: workers.map((worker) => ({ labels: { worker: worker.column }, value: read(worker) })),
  });
  yield gauge('weirgate_worker_connections_active', 'Open client connections.', ({ connections }) => connections);
  yield gauge('weirgate_worker_requests_active', 'Requests under way.', ({ requestsInFlight }) => requestsInFlight);
  yield gauge('weirgate_worker_generation', 'Generation that new requests see.', ({ generation }) => generation);
  yield gauge('weirgate_worker_paused', '1 while no descriptors are left to accept.', ({ paused }) => (paused ? 1 : 0));
  yield gauge(
    'weirgate_worker_heartbeat_age_seconds',
    'Age of the last sign of life of the event loop.',
    ({ heartbeatAgeMs }) => heartbeatAgeMs / 1000,
  );
  const heads = [...source.counters.readHeads()];
  yield* cellFamilies(COUNTER_CELLS.engine, (cell) =>
    heads.map(({ column, cells }) => ({
      labels: { worker: column, ...cell.labels },
      value: (cells[ENGINE_CELLS_FIRST + cell.number] ?? 0) * cell.scale,
    })),
  );
  yield {
    name: 'weirgate_connections_closed',
    type: 'counter',
    help: 'Ends of client connections, and requests on kept ones that Weirgate answered itself, by reason.',
    samples: CLOSE_REASONS.map(({ number, word, side }) => ({
      labels: { reason: word, side },
      value: heads.reduce((sum, { cells }) => sum + (cells[number] ?? 0), 0),
    })),
  };
}

function* counterFamilies(kind: CountedKind, registry: SlotRegistry, slots: SlotReader): Generator<Family> {
  const listed: { readonly labels: Labels; readonly values: Float64Array }[] = [];
  const idle: typeof listed = [];
  for (const { slot, labels, base } of registry.ofKind(kind)) {
    const values = slots.cells(slot).map((value, i) => value - (base?.[i] ?? 0));
    const entry = { labels, values };
    (values.some((value) => value !== 0) ? listed : idle).push(entry);
  }
  if (listed.length + idle.length <= LIST_IDLE_UP_TO) listed.push(...idle);
  yield* cellFamilies(COUNTER_CELLS[kind], (cell) =>
    listed.map(({ labels, values }) => ({
      labels: { ...labels, ...cell.labels },
      value: (values[cell.number] ?? 0) * cell.scale,
    })),
  );
}

/** Cells that differ by label only are one family, which must come in one piece. */
function* cellFamilies(cells: readonly CounterCell[], samples: (cell: CounterCell) => Sample[]): Generator<Family> {
  for (const name of new Set(cells.map(({ metric }) => metric))) {
    const members = cells.filter(({ metric }) => metric === name);
    const help = members[0]?.help ?? '';
    yield { name, type: 'counter', help, samples: members.flatMap(samples) };
  }
}

const GAUGES = {
  listener: { name: 'weirgate_listener_connections_active', help: 'Open client connections of the listener.' },
  action: { name: 'weirgate_route_requests_active', help: 'Requests and TCP connections of the rule under way.' },
  endpoint: { name: 'weirgate_endpoint_requests_active', help: 'Requests and TCP connections at the endpoint.' },
} as const;

function* gaugeFamily(kind: CountedKind, registry: SlotRegistry, slots: SlotReader): Generator<Family> {
  const samples: Sample[] = [];
  for (const { slot, labels } of registry.ofKind(kind)) {
    samples.push({ labels, value: slots.gauge(slot) });
  }
  const busy = samples.length <= LIST_IDLE_UP_TO ? samples : samples.filter(({ value }) => value !== 0);
  yield { ...GAUGES[kind], type: 'gauge', samples: busy };
}

function* healthFamilies(endpoints: readonly EndpointMetrics[]): Generator<Family> {
  const labels = ({ cluster, address }: EndpointMetrics): Labels => ({ cluster, endpoint: address });
  const checked = endpoints.flatMap((endpoint) =>
    endpoint.checks === undefined ? [] : [{ labels: labels(endpoint), checks: endpoint.checks }],
  );
  yield {
    name: 'weirgate_endpoint_up',
    type: 'gauge',
    help: '1 while traffic may go to the endpoint.',
    samples: endpoints.map((endpoint) => ({ labels: labels(endpoint), value: endpoint.usable ? 1 : 0 })),
  };
  yield {
    name: 'weirgate_endpoint_checks',
    type: 'counter',
    help: 'Active checks by result.',
    samples: checked.flatMap((endpoint) => [
      { labels: { ...endpoint.labels, result: 'good' }, value: endpoint.checks.good },
      { labels: { ...endpoint.labels, result: 'bad' }, value: endpoint.checks.bad },
    ]),
  };
  yield {
    name: 'weirgate_endpoint_check_duration_seconds',
    type: 'gauge',
    help: 'Duration of the last active check.',
    samples: checked.map((endpoint) => ({ labels: endpoint.labels, value: endpoint.checks.lastMs / 1000 })),
  };
}

/** Reads the slots in use in large pieces, each once. */
class SlotReader {
  readonly #cells: Float64Array[] = [];
  readonly #gauges: Float64Array[] = [];

  constructor(counters: CounterSource, highest: number) {
    for (let from = 0; from <= highest; from += READ_SLOTS) {
      const count = Math.min(READ_SLOTS, highest + 1 - from);
      this.#cells.push(counters.readSlots(from, count));
      this.#gauges.push(counters.readGauges(from, count));
    }
  }

  cells(slot: number): Float64Array {
    const at = (slot % READ_SLOTS) * SLOT_CELLS;
    return this.#cells[Math.floor(slot / READ_SLOTS)]?.subarray(at, at + SLOT_CELLS) ?? new Float64Array(SLOT_CELLS);
  }

  gauge(slot: number): number {
    return this.#gauges[Math.floor(slot / READ_SLOTS)]?.[slot % READ_SLOTS] ?? 0;
  }
}

function one(name: string, type: Family['type'], help: string, value: number, labels: Labels = {}): Family {
  return { name, type, help, samples: [{ labels, value }] };
}
