/**
 * Keeps what outlives the process in the state folder: gathers changes for a moment, writes them beside the main thread's
 * work, and says once when it cannot. Losing the file costs times and numbers, never traffic. Serves `primary.ts`.
 */
import { join } from 'node:path';
import type { Log } from '../observe/log.js';
import { readStateFile, writeStateFile } from './state-file.js';

export interface StateKeeperOptions {
  readonly folder: string;
  /** Returns what to keep; `undefined` when it is what `take` returned before. `again`: that did not get to the disk. */
  readonly take: (again: boolean) => Promise<Uint8Array | undefined>;
  readonly log: Pick<Log, 'warn' | 'info'>;
  /** Changes within this time are written together. */
  readonly delayMs?: number;
  /** After a failure the next try comes after this time, if no change brings it earlier. */
  readonly retryMs?: number;
}

const FILE = 'ledger.json';
const DELAY_MS = 200;
const RETRY_MS = 60_000;
/** Writing takes at most this part of the time, however fast changes come. */
const MOST_BUSY = 0.05;

/** One file, one writer; see the module header. */
export class StateKeeper {
  readonly #options: StateKeeperOptions;
  readonly #path: string;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isDue = false;
  #hasFailed = false;
  #isClosed = false;
  /** Not before this time of `performance.now()`. */
  #earliest = 0;

  constructor(options: StateKeeperOptions) {
    this.#options = options;
    this.#path = join(options.folder, FILE);
  }

  /** Returns what an earlier instance kept; `undefined` without any, after a warning if there is something unreadable. */
  async read(): Promise<Uint8Array | undefined> {
    try {
      return await readStateFile(this.#path);
    } catch (error) {
      this.forget((error as Error).message);
      return undefined;
    }
  }

  /** Says that what was read is of no use: this instance starts anew, and replaces it. */
  forget(reason: string): void {
    this.#options.log.warn(
      { file: this.#path, reason },
      'the ledger cannot be used: transition times and generations of objects start anew',
    );
  }

  /** Something may have changed: it will be on disk soon. */
  touch(): void {
    this.#isDue = true;
    if (this.#isClosed || this.#timer !== undefined || this.#writing !== undefined) return;
    const { delayMs = DELAY_MS } = this.#options;
    this.#startTimer(Math.max(delayMs, this.#earliest - performance.now()));
  }

  /** Writes what is due, and nothing afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#writing;
    if (this.#isDue || this.#hasFailed) await this.#write();
  }

  #startTimer(afterMs: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#writing = this.#write().finally(() => {
        this.#writing = undefined;
        if (this.#isDue) this.touch();
        else if (this.#hasFailed && !this.#isClosed) this.#startTimer(this.#options.retryMs ?? RETRY_MS);
      });
    }, afterMs);
    this.#timer.unref();
  }

  async #write(): Promise<void> {
    const { take, log } = this.#options;
    const startedAt = performance.now();
    const again = this.#hasFailed;
    this.#isDue = false;
    try {
      const content = await take(again);
      if (content !== undefined) await writeStateFile(this.#path, content);
      if (again) log.info({ file: this.#path }, 'the ledger is kept again');
      this.#hasFailed = false;
    } catch (error) {
      this.#hasFailed = true;
      const fields = { file: this.#path, reason: (error as Error).message };
      if (!again) log.warn(fields, 'the ledger cannot be kept: a restart would lose transition times and generations');
    }
    const endedAt = performance.now();
    this.#earliest = endedAt + (endedAt - startedAt) / MOST_BUSY;
  }
}
