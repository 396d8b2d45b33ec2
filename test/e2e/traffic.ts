/** What most tests of processes share: a route with numbered answers, and counters that are watched all the time. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { NUMBER_HEADER } from '../support/load.js';
import type { Instance } from './instance.js';
import { type Backend, httpBackend } from './peers.js';

export interface NumberedBackend extends Backend {
  /** Numbers of all requests, in order. */
  readonly numbers: number[];
}

/** A backend that returns each request's number, with its own name as the body. */
export async function numberedBackend(name: string): Promise<NumberedBackend> {
  const numbers: number[] = [];
  const backend = await httpBackend(name, (request: IncomingMessage, response: ServerResponse) => {
    const number = String(request.headers[NUMBER_HEADER] ?? '');
    numbers.push(Number(number));
    response.writeHead(200, { [NUMBER_HEADER]: number, 'content-length': name.length });
    response.end(name);
  });
  return { ...backend, numbers };
}

/** Reads the metrics without pause and keeps every counter that went back, also over a time when it was not there. */
export class CounterWatch {
  readonly backwards: string[] = [];
  samples = 0;
  readonly #last = new Map<string, number>();
  readonly #running: Promise<void>;
  #stopping = false;

  private constructor(instance: Instance) {
    this.#running = this.#watch(instance);
    // A test that fails before `stop` has its own story to tell.
    this.#running.catch(() => {});
  }

  static start(instance: Instance): CounterWatch {
    return new CounterWatch(instance);
  }

  /** Takes one more sample and ends. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
  }

  async #watch(instance: Instance): Promise<void> {
    while (!this.#stopping) {
      for (const line of (await instance.metrics()).split('\n')) this.#compare(line);
      this.samples += 1;
    }
  }

  #compare(line: string): void {
    const cut = line.lastIndexOf(' ');
    const series = line.slice(0, cut);
    if (!/^[a-z_]+_total(?:\{|$)/.test(series)) return;
    const value = Number(line.slice(cut + 1));
    const before = this.#last.get(series) ?? 0;
    if (value < before) this.backwards.push(`${series} went from ${before} to ${value}`);
    this.#last.set(series, value);
  }
}

/** Sum of a gauge over all its series whose labels contain `labels`. */
export const GAUGES = [
  'weirgate_listener_connections_active',
  'weirgate_route_requests_active',
  'weirgate_endpoint_requests_active',
  'weirgate_worker_requests_active',
] as const;

/** Everything that counts what is under way, summed: 0 when nothing is. */
export async function underWay(instance: Instance): Promise<number> {
  let sum = 0;
  for (const line of (await instance.metrics()).split('\n')) {
    if (GAUGES.some((name) => line.startsWith(`${name}{`))) sum += Number(line.slice(line.lastIndexOf(' ') + 1));
  }
  return sum;
}
