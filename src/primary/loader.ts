/**
 * One load: reads the files, builds, opens the sockets that are new, and builds once more when some could not be opened.
 * Nothing of it reaches a worker. Serves `primary.ts`.
 */
import { type Diagnostic, hasErrors, wholeFile } from '../base/index.js';
import type { RetiredId } from '../compile/compile.js';
import type { BindFailure } from '../resolve/facts.js';
import type { SourceFolder } from '../sources/files.js';
import type { BuildOrder, BuildPool } from './build-pool.js';
import type { BuildReply } from './build-state.js';
import type { HostFacts } from './host-facts.js';
import type { Sockets } from './sockets.js';

/** What a load needs to know of its instance. */
export interface LoaderOptions {
  readonly pool: Pick<BuildPool, 'build' | 'revise'>;
  readonly sockets: Pick<Sockets, 'bind'>;
  /** Files and folders, as `read` finds them. */
  readonly sources: readonly string[];
  readonly read: (sources: readonly string[]) => Promise<SourceFolder>;
  readonly hostFacts: () => HostFacts;
  /** Networks in CIDR notation, from the command line. */
  readonly addressPool: string | undefined;
  readonly keepGoing: boolean;
  /** Returns the oldest generation that a worker still holds. */
  readonly oldestHeld: () => number;
  /** Whether nothing is in flight at a slot. */
  readonly isQuiet: (slot: number) => boolean;
  /** Returns how many workers there will be with the settings of the new configuration (0: one for each core). */
  readonly workerCount: (configured: number) => number;
  /** RFC 3339. */
  readonly now: () => string;
}

/** What came of it. */
export interface Load {
  readonly reply: BuildReply;
  readonly bindFailures: readonly BindFailure[];
}

/** Keeps what one load hands to the next: the addresses assigned from the pool. */
export class Loader {
  readonly #options: LoaderOptions;
  #assigned: Readonly<Record<string, string>> = {};
  #retired: readonly RetiredId[] = [];

  constructor(options: LoaderOptions) {
    this.#options = options;
  }

  /** Loads the files as they are now. Rejects when the build thread fails twice. */
  async load(generation: number): Promise<Load> {
    const { pool, sockets, sources, read, workerCount } = this.#options;
    const source = judgeEmpty(await read(sources), sources[0] ?? '', generation);
    // Sockets that failed before are tried again by every load: the port may be free now.
    const reply = await this.#build(source, generation, []);
    if (reply.built === undefined) return { reply, bindFailures: [] };
    const bindFailures = sockets.bind(reply.built.sockets, workerCount(reply.built.settings.workers));
    if (bindFailures.length === 0) return { reply, bindFailures };
    await pool.revise();
    return { reply: await this.#build(source, generation, bindFailures), bindFailures };
  }

  /** The load is served: its addresses stay with their Gateways. */
  keep(load: Load): void {
    this.#assigned = load.reply.built?.assignedAddresses ?? this.#assigned;
    this.#retired = load.reply.retired;
  }

  /** Sockets are named by connections without a count, so their ids are never given away. */
  #isReusable({ kind, id }: RetiredId): boolean {
    if (kind === 'socket') return false;
    return kind === 'set' || this.#options.isQuiet(id);
  }

  async #build(source: SourceFolder, generation: number, bindFailures: readonly BindFailure[]): Promise<BuildReply> {
    const { pool, hostFacts, addressPool, oldestHeld, keepGoing, now } = this.#options;
    const facts = { ...hostFacts(), addressPool, bindFailures, assignedAddresses: this.#assigned };
    const reusable = this.#retired.filter((id) => this.#isReusable(id));
    const order: BuildOrder = { generation, facts, oldestHeld: oldestHeld(), reusable, keepGoing, now: now() };
    try {
      return await pool.build(source, order);
    } catch (error) {
      if (isOrderly(error)) throw error;
      // The thread may have died of an earlier load's memory; a new one is asked once.
      return await pool.build(source, order);
    }
  }
}

/**
 * Folders without any file are a fresh installation at the start, and a lost mount or a slip later on: what serves must
 * not be dropped for that.
 */
function judgeEmpty({ files, diagnostics }: SourceFolder, place: string, generation: number): SourceFolder {
  if (files.length > 0 || hasErrors(diagnostics)) return { files, diagnostics };
  const fault: Diagnostic = {
    severity: generation > 1 ? 'error' : 'warning',
    code: 'WG1010',
    object: '',
    path: '',
    message: 'there is no *.yaml file',
    hint: generation > 1 ? 'to serve nothing, leave a file without objects, or stop the instance' : '',
    span: wholeFile(place),
  };
  return { files, diagnostics: [...diagnostics, fault] };
}

/** A configuration too large for the table fails alike on every try. */
function isOrderly(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === 'WEIRGATE_TABLE_LIMIT';
}
