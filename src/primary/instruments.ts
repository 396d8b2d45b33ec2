/**
 * The numbers of an instance for `/metrics`: joins shared counters, slot names, workers and endpoints.
 * Reads only. Serves `primary.ts`.
 */
import { isUsable } from '../health/state.js';
import type { Host } from '../native/addon.js';
import { SLOT_CELLS } from '../native/layout.gen.js';
import { type EndpointMetrics, listFamilies, type MetricsSource, type WorkerMetrics } from '../observe/metrics.js';
import { formatFamilies } from '../observe/openmetrics.js';
import { type SlotNames, SlotRegistry } from '../observe/slot-registry.js';
import type { EndpointView } from './endpoints.js';

export type InstrumentHost = Pick<
  Host,
  'readSlots' | 'readGauges' | 'readReasons' | 'readControl' | 'readResting' | 'readAccessLogStats'
>;

/** What changes from scrape to scrape and is known elsewhere. */
export type Moment = Pick<
  MetricsSource,
  | 'version'
  | 'layoutHash'
  | 'generation'
  | 'reloadSucceeded'
  | 'reloadSucceededAt'
  | 'reloads'
  | 'faults'
  | 'workersWanted'
  | 'workerRestarts'
> & {
  /** Columns of the living workers. */
  readonly columns: readonly number[];
  readonly endpoints: Iterable<EndpointView>;
  readonly monotonicMs: number;
};

/** Remembers which slots and columns have ever counted: a dead worker's counters are part of every sum. */
export class Instruments {
  readonly #host: InstrumentHost;
  readonly #registry = new SlotRegistry();
  readonly #columns = new Set<number>();

  constructor(host: InstrumentHost) {
    this.#host = host;
  }

  /** Takes the slot names of a generation, before it is published. */
  name(names: SlotNames): void {
    this.#registry.update(names, (slot) => this.#readSlots(slot, 1));
  }

  /** A worker is about to count into this column. */
  use(column: number): void {
    this.#columns.add(column);
  }

  /** Yields the exposition in pieces. */
  *expose(moment: Moment): Generator<string> {
    const { columns, endpoints, monotonicMs, ...rest } = moment;
    const cpu = process.cpuUsage();
    yield* formatFamilies(
      listFamilies({
        ...rest,
        registry: this.#registry,
        counters: {
          readSlots: (from, count) => this.#readSlots(from, count),
          readGauges: (from, count) => this.#host.readGauges(from, count),
          readHeads: () => [...this.#columns].map((column) => ({ column, cells: this.#host.readReasons(column) })),
        },
        workers: columns.map((column) => this.#describeWorker(column, monotonicMs)),
        endpoints: [...endpoints].map((endpoint) => this.#describeEndpoint(endpoint, monotonicMs)),
        accessLog: this.#host.readAccessLogStats(),
        process: {
          cpuSeconds: (cpu.user + cpu.system) / 1e6,
          residentBytes: process.memoryUsage.rss(),
          startedAt: performance.timeOrigin / 1000,
        },
      }),
    );
  }

  #readSlots(from: number, count: number): Float64Array {
    const sum = new Float64Array(count * SLOT_CELLS);
    for (const column of this.#columns) {
      const cells = this.#host.readSlots(column, from, count);
      for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (cells[i] ?? 0);
    }
    return sum;
  }

  #describeWorker(column: number, monotonicMs: number): WorkerMetrics {
    const { connections, requestsInflight, generation, paused, heartbeatMs } = this.#host.readControl(column);
    return {
      column,
      connections,
      requestsInFlight: requestsInflight,
      generation,
      paused,
      heartbeatAgeMs: Math.max(0, monotonicMs - heartbeatMs),
    };
  }

  #describeEndpoint({ cluster, address, slot, health }: EndpointView, monotonicMs: number): EndpointMetrics {
    const resting = this.#host.readResting(slot) > monotonicMs;
    return {
      cluster,
      address,
      usable: !resting && (health === undefined || isUsable(health)),
      checks: health && {
        good: health.checks - health.failures,
        bad: health.failures,
        lastMs: health.last?.durationMs ?? 0,
      },
    };
  }
}
