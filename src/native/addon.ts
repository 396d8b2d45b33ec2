/**
 * The addon, loaded and typed: the only importer of `native/weirgate.node`. Importing this file loads it.
 * Decides nothing. Serves the primary, workers, tests and benches, on the main thread only: threads of the addon would
 * outlive a worker thread, so it refuses to start any there.
 */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { LAYOUT_HASH } from './layout.gen.js';

/** What a worker says, or what became of it; in order for each worker. */
export type HostEvent =
  /** The loop runs and waits for its column. */
  | { readonly kind: 'ready'; readonly worker: number }
  /** Every new request of this worker sees this generation. */
  | { readonly kind: 'ack'; readonly worker: number; readonly generation: number }
  /** The worker keeps its old table. */
  | { readonly kind: 'refused'; readonly worker: number; readonly generation: number; readonly text: string }
  /** It serves so many members of the socket now. */
  | { readonly kind: 'listening'; readonly worker: number; readonly socketId: number; readonly members: number }
  /** The loop panicked; the process ends with status 70. */
  | { readonly kind: 'panic'; readonly worker: number; readonly text: string }
  /** Nothing is open any more. */
  | { readonly kind: 'drained'; readonly worker: number }
  /** The channel ended: the process died, or (with a text) spoke nonsense and was cut off. */
  | { readonly kind: 'gone'; readonly worker: number; readonly text: string }
  /** The process given to `killFenced` has ended. */
  | { readonly kind: 'fenced'; readonly worker: number; readonly pid: number };

/** What a worker's loop writes about itself; zeros before its first turn. */
export interface WorkerControl {
  /** CLOCK_MONOTONIC of the last turn, in ms. */
  readonly heartbeatMs: number;
  /** Endpoint epoch that the loop has passed. */
  readonly epoch: number;
  /** Table generation that new requests see. */
  readonly generation: number;
  /** Oldest generation that a request still holds. */
  readonly oldestGeneration: number;
  /** Open client connections. */
  readonly connections: number;
  /** No connections are accepted for want of descriptors. */
  readonly paused: boolean;
  readonly pid: number;
  readonly requestsInflight: number;
  /** Access records lost because the ring was full. */
  readonly logDropped: number;
  readonly accepts: number;
  /** Bulk directions that got no pipe and are copied. */
  readonly pipeFallbacks: number;
}

/** What to listen on. */
export interface BindOptions {
  readonly socketId: number;
  /** IP literal; `::` serves IPv4 as well. */
  readonly ip: string;
  /** 0: any free one. */
  readonly port: number;
  /** Members of the group, fixed for life. */
  readonly shards: number;
}

/** What came of `bind`. */
export type BindOutcome =
  | { readonly ok: true; readonly port: number }
  | {
      readonly ok: false;
      /** `EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`, … */
      readonly code: string;
      /** Address, cause and remedy in one line. */
      readonly message: string;
      /** Who has the port, where it could be found out. */
      readonly owner?: { readonly pid: number; readonly command: string };
    };

/** What became of access records since `startAccessLog`. */
export interface AccessLogStats {
  readonly lines: number;
  /** Lines that the file or pipe did not take. */
  readonly lost: number;
  /** Records that workers dropped because their ring was full. */
  readonly dropped: number;
  /** Records and rings that contradicted themselves. */
  readonly broken: number;
  /** Why lines were lost last; empty: none was. */
  readonly error: string;
}

/**
 * The primary's hold on the data plane: shared memory, listening sockets, channels to workers, access log.
 * No method waits for a worker. Methods throw an Error with `code` `WEIRGATE_IO` (the system refused),
 * `WEIRGATE_ARGUMENT` (a bug of the caller), `WEIRGATE_FULL`, `WEIRGATE_CLOSED` or `WEIRGATE_THREAD`.
 * Keep the object: when it is collected, everything is closed.
 */
export interface Host {
  /** Ends threads, writes what the log rings hold, closes everything. Later calls throw, but for this and `closeChannel`. */
  close(): void;
  /** Makes a channel for a worker and returns the descriptor that its process is to inherit. */
  openChannel(worker: number): number;
  /** Closes the child's end once the process has been started (or could not be). */
  closeChildEnd(fd: number): void;
  /** Closes our end, after all that was sent before. No `gone` follows. */
  closeChannel(worker: number): void;
  /** Gives a worker its column (HELLO). Throws when the column is in use: call `zeroColumn` once its worker is dead. */
  assignColumn(worker: number, column: number): void;
  /** Opens an address unless anyone has it already. Connections queue from then on. */
  bind(options: BindOptions): BindOutcome;
  /** Closes an address in the primary. */
  unbind(socketId: number): void;
  /** Draws a worker evenly, then one of its members, for each new connection; no groups: the kernel's hash again. */
  setReuseportWorkers(socketId: number, groups: readonly (readonly number[])[]): void;
  /** Hands members to a worker; `lent`: they belong to another worker that is stalled. */
  deal(worker: number, socketId: number, members: readonly number[], lent: boolean): void;
  /** Takes members back (none named: all); `drain`: the worker accepts what is queued first. */
  undeal(worker: number, socketId: number, members: readonly number[], drain: boolean): void;
  /** Keeps a table, sealed, as the one that `sendTable` sends. The bytes are copied. */
  publishTable(bytes: Uint8Array, generation: number): void;
  /** Sends the current table; `ack` or `refused` follows. */
  sendTable(worker: number): void;
  /** Asks a worker to finish within a limit and to take nothing new; `drained` follows. */
  drain(worker: number, limitMs: number): void;
  /** Asks a worker to end now. */
  stop(worker: number): void;
  /** Kills a child for certain; `fenced` follows once it has ended, at once when it had before. */
  killFenced(worker: number, pid: number): void;
  /** Publishes an endpoint set to all workers; bytes as `compile/endpoint-set.ts` encodes them. */
  setEndpointSet(setId: number, block: Uint8Array): void;
  /** Removes a set: requests for it find no endpoint. */
  dropEndpointSet(setId: number): void;
  /** What a column's worker says of itself. */
  readControl(column: number): WorkerControl;
  /** The head of a column's counters, 512 cells: 256 closes by reason, then 256 engine-wide cells. */
  readReasons(column: number): Float64Array;
  /** 16 cells for each of `count` slots from `from`. */
  readSlots(column: number, from: number, count: number): Float64Array;
  /** What is in flight on each of `count` slots from `from`, summed over all columns. */
  readGauges(from: number, count: number): Float64Array;
  /** CLOCK_MONOTONIC ms until which an endpoint slot rests; 0: it does not. */
  readResting(slot: number): number;
  /** Ends the rest of an endpoint. */
  wakeEndpoint(slot: number): void;
  /** Clears gauges and control words of a dead worker, never counters; its column is free then. */
  zeroColumn(column: number): void;
  /** Starts writing JSON lines to an absolute path or `stderr`; a running log is ended first. */
  startAccessLog(options: { readonly target: string }): void;
  /** Opens the log's file anew, after it was moved away. */
  reopenAccessLog(): void;
  /** Writes what the rings hold and ends the log. */
  stopAccessLog(): void;
  readAccessLogStats(): AccessLogStats;
  /** Tells the service manager (sd_notify(3)); nothing without NOTIFY_SOCKET. */
  notify(state: string): void;
  /** Locks a state folder for the life of this host; not ok: a running process has it. */
  lockState(folder: string): { readonly ok: true } | { readonly ok: false; readonly pid?: number };
}

/** A request as far as routing looks at it: host without port, path without query. */
export interface TableRequest {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Where the native matcher sends a request. */
export interface TableDecision {
  readonly kind: 'noListener' | 'noRoute' | 'action';
  readonly listener?: string;
  readonly action?: string;
}

interface Addon {
  readonly Host: new (options: { readonly onEvent: (event: HostEvent) => void }) => Host;
  startWorker(channelFd: number): void;
  version(): { readonly version: string; readonly layoutHash: string };
  checkTable(bytes: Uint8Array): string | null;
  dumpTable(bytes: Uint8Array): string;
  routeTable(bytes: Uint8Array, socketId: number, request: TableRequest): TableDecision;
  benchRoute(bytes: Uint8Array, socketId: number, hosts: readonly string[], iterations: number): number;
}

/** The addon cannot be used; the message says what to do. */
export class AddonError extends Error {
  readonly code: 'WEIRGATE_ADDON_MISSING' | 'WEIRGATE_ADDON_BROKEN' | 'WEIRGATE_ADDON_STALE';

  constructor(code: AddonError['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'AddonError';
    this.code = code;
  }
}

/** From `src/native` and `dist/native` alike. */
const ADDON_FILE = fileURLToPath(new URL('../../native/weirgate.node', import.meta.url));

/**
 * Loads an addon file and checks that it was built from the same layout as this code.
 * Throws `AddonError` when it is missing, cannot be loaded, or is of another layout.
 */
export function loadAddon(file: string): Addon {
  let addon: Addon;
  try {
    addon = createRequire(import.meta.url)(file) as Addon;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'MODULE_NOT_FOUND') {
      throw new AddonError('WEIRGATE_ADDON_MISSING', `native addon ${file} is missing; run \`npm run build\``, error);
    }
    throw new AddonError(
      'WEIRGATE_ADDON_BROKEN',
      `native addon ${file} cannot be loaded (${(error as Error).message}); run \`npm run build\` on this machine`,
      error,
    );
  }
  const expected = LAYOUT_HASH.toString(16).padStart(16, '0');
  const found = addon.version().layoutHash;
  if (found !== expected) {
    throw new AddonError(
      'WEIRGATE_ADDON_STALE',
      `native addon ${file} has layout ${found}, this release ${expected}; run \`npm run build\``,
    );
  }
  return addon;
}

const addon = loadAddon(ADDON_FILE);

/** The class behind the interface of the same name; one for each primary. */
export const Host: Addon['Host'] = addon.Host;

/**
 * Starts a worker's event loop on a thread of its own; `channelFd` is the inherited end of the channel. The process ends
 * with the loop: status 0 when told to, 70 after a panic, 71 when the system failed it. Throws the second time.
 */
export const startWorker = (channelFd: number): void => addon.startWorker(channelFd);

/** Version and layout hash (16 hexadecimal digits) of the addon. */
export const version = (): { readonly version: string; readonly layoutHash: string } => addon.version();

/** Why a worker would refuse a table; null when it would take it. Cost: linear in its size. */
export const checkTable = (bytes: Uint8Array): string | null => addon.checkTable(bytes);

/** The canonical text of a table. Throws when it is not valid. */
export const dumpTable = (bytes: Uint8Array): string => addon.dumpTable(bytes);

/** Routes one request as a worker would on this socket. Throws when the table is not valid. */
export const routeTable = (bytes: Uint8Array, socketId: number, request: TableRequest): TableDecision =>
  addon.routeTable(bytes, socketId, request);

/** Nanoseconds of one lookup, mean over so many requests `GET /` that take the hosts in turn. */
export const benchRoute = (bytes: Uint8Array, socketId: number, hosts: readonly string[], iterations: number): number =>
  addon.benchRoute(bytes, socketId, hosts, iterations);
