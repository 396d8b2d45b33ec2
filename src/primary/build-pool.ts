/**
 * The two thread pools of the configuration: `parse`, as many threads as cores, a file each; and `build`, exactly one
 * thread that is never idled out and holds all state. Serves `primary.ts`; the main thread only passes bytes through.
 */
import { availableParallelism, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { SourceFolder } from '../sources/files.js';
import { type AdmissionCache, entryName, pruneEntries } from './admission-cache.js';
import type { BuildReply, BuildRequest } from './build-state.js';
import type { BuildTask, PageReply } from './build-task.js';
import type { PageRequest } from './object-list.js';
import type { Parsed, ParseTask } from './parse-task.js';

/** What one build needs beside the files. */
export type BuildOrder = Omit<BuildRequest, 'files' | 'readDiagnostics'>;

/** Where the ledger of an earlier process is kept, for a build thread that begins. */
export interface LedgerStore {
  read(): Promise<Uint8Array | undefined>;
  /** What was read is none. */
  forget(reason: string): void;
}

export interface BuildPoolOptions {
  readonly store: LedgerStore;
  readonly cache: AdmissionCache;
  /** The cache cannot be written; called at most once for each build. */
  readonly onCacheFault: (reason: string) => void;
}

/** Parse threads go after so long without work; the next reload may be days away. */
const PARSE_IDLE_MS = 5_000;
const MEBIBYTE = 1024 * 1024;
/** A thread without a limit of its own takes the whole process with it when its heap is full. */
const HEAP_MIB = Math.min(8192, Math.max(512, Math.floor(totalmem() / 2 / MEBIBYTE)));

/** Owns the threads of both pools. One build at a time; the caller (the reload machine) sees to that. */
export class BuildPool {
  readonly #parse: Piscina<ParseTask, Parsed>;
  readonly #build: Piscina;
  /** Hash of each file that the build thread holds. */
  #known = new Map<string, string>();
  #thread: number | undefined;
  #book: Uint8Array | undefined;

  readonly #options: BuildPoolOptions;

  constructor(options: BuildPoolOptions) {
    this.#options = options;
    const resourceLimits = { maxOldGenerationSizeMb: HEAP_MIB };
    this.#parse = new Piscina<ParseTask, Parsed>({
      filename: fileURLToPath(new URL('./parse-task.js', import.meta.url)),
      minThreads: 0,
      maxThreads: availableParallelism(),
      idleTimeout: PARSE_IDLE_MS,
      resourceLimits,
    });
    this.#build = new Piscina({
      filename: fileURLToPath(new URL('./build-task.js', import.meta.url)),
      minThreads: 1,
      maxThreads: 1,
      resourceLimits,
    });
  }

  /**
   * Parses what is new and builds. The reply has to be followed by `commit` or `discard` when it says `changed`.
   * Rejects when a thread dies (memory) or on a bug; the next build starts with a new thread then.
   */
  async build(source: SourceFolder, order: BuildOrder): Promise<BuildReply> {
    const { cache, onCacheFault } = this.#options;
    await this.#meetThread();
    const faults: string[] = [];
    const files = await Promise.all(
      source.files.map(async ({ file, text, hash }) => {
        if (this.#known.get(file) === hash) return { file, hash };
        const { admitted, cacheFault } = await this.#parse.run({ file, text, hash, cache });
        faults.push(...(cacheFault === undefined ? [] : [cacheFault]));
        return { file, hash, admitted };
      }),
    );
    if (faults[0] !== undefined) onCacheFault(faults[0]);
    const transferList = files.flatMap(({ admitted }) =>
      admitted === undefined ? [] : [admitted.buffer as ArrayBuffer],
    );
    const task: BuildTask = { ...order, files, readDiagnostics: source.diagnostics };
    // Until the reply is there nobody knows what the thread has taken.
    this.#known = new Map();
    const reply = (await this.#build.run(task, { name: 'build', transferList })) as BuildReply;
    this.#known = new Map(source.files.map(({ file, hash }) => [file, hash]));
    return reply;
  }

  /** The last build serves: `book` is kept for a thread that has to start anew. */
  async commit(book: Uint8Array): Promise<void> {
    this.#book = book;
    await this.#build.run(undefined, { name: 'commit' });
    const { cache } = this.#options;
    // Nobody waits for it; what it misses goes the next time.
    void pruneEntries(cache, new Set([...this.#known].map(([file, hash]) => entryName(cache, file, hash))));
  }

  /** The last build is followed by another one that keeps its ids. */
  async revise(): Promise<void> {
    await this.#build.run(undefined, { name: 'revise' });
  }

  /** The last build does not serve. */
  async discard(): Promise<void> {
    await this.#build.run(undefined, { name: 'discard' });
  }

  /** The last build was carried out in part only. */
  async abandon(): Promise<void> {
    await this.#build.run(undefined, { name: 'abandon' });
  }

  /** Returns a page of the objects that serve, with status. Waits for a build under way. */
  async page(request: PageRequest): Promise<PageReply> {
    return (await this.#build.run(request, { name: 'page' })) as PageReply;
  }

  /** Returns the ledger that serves; `undefined` when it is as the last time, unless `again` says so. */
  async ledger(again: boolean): Promise<Uint8Array | undefined> {
    return (await this.#build.run(again, { name: 'ledger' })) as Uint8Array | undefined;
  }

  /** Returns the IR that serves as the UTF-8 text of JSON, `null` before the first. Waits for a build under way. */
  async ir(): Promise<Uint8Array> {
    return (await this.#build.run(undefined, { name: 'ir' })) as Uint8Array;
  }

  /** Ends all threads. */
  async close(): Promise<void> {
    await Promise.all([this.#parse.destroy(), this.#build.destroy()]);
  }

  /** A thread that begins knows nothing: it gets the slot book and the ledger, and all files again. */
  async #meetThread(): Promise<void> {
    const thread = (await this.#build.run(undefined, { name: 'identify' })) as number;
    if (thread === this.#thread) return;
    this.#thread = thread;
    this.#known = new Map();
    if (this.#book !== undefined) await this.#build.run(this.#book, { name: 'seed' });
    const { store } = this.#options;
    const ledger = await store.read();
    if (ledger === undefined) return;
    const fault = (await this.#build.run(ledger, { name: 'restore' })) as string | undefined;
    if (fault !== undefined) store.forget(fault);
  }
}
