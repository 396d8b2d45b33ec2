/**
 * The worker processes: starts them by node:cluster with their channel as descriptor 4, ends them, and tells when they end.
 * Decides nothing: that is `supervisor.ts`. Serves `primary.ts`.
 */
import cluster, { type Worker } from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { Host } from '../native/addon.js';

/**
 * V8 beside the native loop: no helper threads, a small young generation. The worker's JavaScript allocates nothing after
 * its start, so smaller heaps would save nothing (measured: 43 MB resident with any of them, 36 of it Node's own code).
 */
const WORKER_FLAGS = ['--single-threaded-gc', '--v8-pool-size=0', '--max-semi-space-size=1'];

const WORKER_ENTRY = fileURLToPath(new URL('../worker/main.js', import.meta.url));
const STDERR = 2;

export type ChannelHost = Pick<Host, 'openChannel' | 'closeChildEnd' | 'closeChannel'>;

/** The living worker processes by the supervisor's number. */
export class WorkerProcesses {
  readonly #host: ChannelHost;
  readonly #onExit: (worker: number, how: string) => void;
  readonly #running = new Map<number, Worker>();

  /** `onExit` is called once for each started worker, also when it could not be started at all. */
  constructor(host: ChannelHost, onExit: (worker: number, how: string) => void) {
    this.#host = host;
    this.#onExit = onExit;
  }

  /** Starts a process. Whatever goes wrong is told by `onExit`. */
  fork(worker: number): void {
    let started: Worker;
    const childEnd = this.#host.openChannel(worker);
    try {
      // Settings are read at each fork. A worker has no business on standard output, where results are printed.
      // The last entry becomes its descriptor 4, where `worker/main.ts` finds the channel.
      cluster.setupPrimary({
        exec: WORKER_ENTRY,
        args: [],
        execArgv: WORKER_FLAGS,
        stdio: ['ignore', STDERR, STDERR, 'ipc', childEnd],
        serialization: 'json',
      });
      started = cluster.fork();
    } catch (error) {
      // On the next turn, as if the process had ended: the caller is in the middle of its own commands.
      setImmediate(() => this.#ended(worker, `could not be started: ${(error as Error).message}`));
      return;
    } finally {
      this.#host.closeChildEnd(childEnd);
    }
    this.#running.set(worker, started);
    let told = false;
    const tell = (how: string): void => {
      if (told) return;
      told = true;
      this.#ended(worker, how);
    };
    started.on('error', (error) => {
      // Without a pid there is no process, and no exit event will come.
      if (started.process.pid === undefined) tell(`could not be started: ${error.message}`);
    });
    started.on('exit', (code, signal) => tell(describeExit(code, signal)));
  }

  /** Returns the process id of a living worker. */
  pid(worker: number): number | undefined {
    return this.#running.get(worker)?.process.pid;
  }

  /** Ends a process at once. Its end is told by `onExit`. */
  kill(worker: number): void {
    this.#running.get(worker)?.process.kill('SIGKILL');
  }

  #ended(worker: number, how: string): void {
    this.#running.delete(worker);
    this.#host.closeChannel(worker);
    this.#onExit(worker, how);
  }
}

/** Status with which the native loop ends its process after a panic. */
const PANIC_STATUS = 70;

function describeExit(code: number | null, signal: string | null): string {
  if (signal !== null) return `signal ${signal}`;
  return code === PANIC_STATUS ? 'panic in the event loop (status 70)' : `status ${code ?? 'unknown'}`;
}
