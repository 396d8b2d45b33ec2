/**
 * The primary: executes what the pure machines decide. Holds the listening sockets, starts workers, loads configurations,
 * answers the admin socket, tells the service manager. Serves `cli/run.ts`. No connection and no byte of traffic passes here.
 */
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Diagnostic } from '../base/index.js';
import type { Overview, ReloadAnswer } from '../ipc/admin-protocol.js';
import type { IrSettings } from '../ir/ir.js';
import { checkTable, Host } from '../native/addon.js';
import { MAX_WORKERS } from '../native/layout.gen.js';
import { LAYOUT_VERSION } from '../native/layout-version.js';
import { readFolder } from '../sources/files.js';
import { type AdminServer, openAdmin } from './admin.js';
import { admissionCache } from './admission-cache.js';
import { BuildPool } from './build-pool.js';
import type { BuiltGeneration, BuiltSocket, StatusSummary } from './build-state.js';
import { monotonicMs } from './clock.js';
import { Crew } from './crew.js';
import { describeLowLimit, readDescriptorLimit } from './descriptor-limit.js';
import { Endpoints } from './endpoints.js';
import { readHostFacts } from './host-facts.js';
import { Instruments } from './instruments.js';
import { type Load, Loader } from './loader.js';
import { Notifier, watchdogIntervalMs } from './notifier.js';
import { composeOverview } from './overview.js';
import { type PrimarySettings, StartError } from './primary-settings.js';
import { type ReloadCommand, type ReloadEvent, ReloadMachine, type ReloadResult } from './reload.js';
import { ReloadHistory } from './reload-history.js';
import { Sockets } from './sockets.js';
import { StateKeeper } from './state-keeper.js';

/** From publishing a table until every living worker has it; they are fenced one by one long before. */
const PROGRAM_LIMIT_MS = 30_000;
/** From dealing members until the workers say that they serve them. */
const LISTEN_LIMIT_MS = 5_000;
/** So many workers in a row that end before any of them served: the start has failed. */
const MAX_START_DEATHS = 5;
/** How often the service manager is asked for patience while connections drain. */
const EXTEND_MS = 2_500;

/** One instance: `start` it once, `stop` it at any time, wait for `done`. */
export class Primary {
  readonly #settings: PrimarySettings;
  readonly #host: Host;
  readonly #notifier: Notifier;
  readonly #keeper: StateKeeper;
  readonly #pool: BuildPool;
  readonly #machine = new ReloadMachine();
  readonly #history = new ReloadHistory();
  readonly #crew: Crew;
  readonly #sockets: Sockets;
  readonly #endpoints: Endpoints;
  readonly #instruments: Instruments;
  readonly #loader: Loader;
  readonly #startedAt = new Date();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #tickets = new Map<number, (result: ReloadResult) => void>();
  #nextTicket = 1;
  #phase: Overview['phase'] = 'starting';
  #workersWanted = 0;
  #load: Load | undefined;
  #served: readonly BuiltSocket[] = [];
  #listeners = 0;
  #logTarget: string | undefined;
  #summary: StatusSummary = { objects: {}, faults: [], faultCount: 0 };
  #admin: AdminServer | undefined;
  #closed: Promise<void> | undefined;
  #stopped: () => void = () => {};
  readonly #done = new Promise<void>((resolve) => {
    this.#stopped = resolve;
  });

  constructor(settings: PrimarySettings) {
    this.#settings = settings;
    this.#host = new Host({ onEvent: (event) => this.#crew.hear(event) });
    this.#keeper = new StateKeeper({
      folder: settings.stateFolder,
      take: (again) => this.#pool.ledger(again),
      log: settings.log,
    });
    const cacheFolder = join(settings.stateFolder, 'admitted');
    this.#pool = new BuildPool({
      store: this.#keeper,
      cache: admissionCache(cacheFolder),
      onCacheFault: (reason) => {
        settings.log.warn(
          { folder: cacheFolder, reason },
          'what was parsed cannot be kept: the next start parses it again',
        );
      },
    });
    this.#notifier = new Notifier((state) => this.#host.notify(state));
    this.#sockets = new Sockets(this.#host);
    this.#instruments = new Instruments(this.#host);
    this.#crew = new Crew({
      host: this.#host,
      log: settings.log,
      onColumn: (column) => this.#instruments.use(column),
      onUnbind: (socketId) => this.#sockets.unbind(socketId),
      onStopped: () => {
        this.#closed ??= this.#close().then(() => this.#stopped());
      },
    });
    this.#endpoints = new Endpoints(this.#host, ({ cluster, address, health }) => {
      const usable = health?.verdict !== 'unhealthy';
      const fields = { cluster, endpoint: address, detail: health?.last?.detail };
      settings.log[usable ? 'info' : 'warn'](fields, usable ? 'endpoint is usable again' : 'endpoint gets no traffic');
    });
    this.#loader = new Loader({
      pool: this.#pool,
      sockets: this.#sockets,
      sources: settings.sources,
      read: readFolder,
      hostFacts: readHostFacts,
      addressPool: settings.addressPool,
      keepGoing: settings.keepGoing,
      oldestHeld: () => this.#oldestHeld(),
      isQuiet: (slot) => this.#host.readGauges(slot, 1)[0] === 0,
      workerCount: (configured) => this.#workerCount(configured),
      now: () => new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    });
  }

  /**
   * Resolves once the first generation serves in every worker. Rejects with `StartError` or `AdminSocketError`, or when
   * it is stopped meanwhile; everything is closed again then.
   */
  async start(): Promise<void> {
    try {
      await this.#start();
    } catch (error) {
      if (this.#phase !== 'stopping') {
        this.#phase = 'stopping';
        this.#crew.stopNow();
      }
      await this.#done;
      throw error;
    }
  }

  get generation(): number {
    return this.#machine.generation;
  }

  /** Listeners that take traffic. */
  get listeners(): number {
    return this.#listeners;
  }

  /** Resolves when the instance has ended. */
  get done(): Promise<void> {
    return this.#done;
  }

  /** Asks for a load and resolves with its outcome. Requests that come while one runs share the next. */
  reload(): Promise<ReloadResult> {
    if (this.#phase === 'stopping') {
      const { generation } = this.#machine;
      const message = 'the instance is stopping';
      return Promise.resolve({ outcome: 'refused', generation, changes: [], diagnostics: [], message });
    }
    const ticket = this.#nextTicket++;
    return new Promise((resolve) => {
      this.#tickets.set(ticket, resolve);
      this.#step({ kind: 'requested', ticket });
    });
  }

  /** Opens the access log's file anew, after it was moved away. */
  reopenLog(): void {
    if (this.#logTarget !== undefined) this.#host.reopenAccessLog();
  }

  /** First call: takes nothing new, lets connections end within the drain limit. Second call: ends them at once. */
  stop(): void {
    const { log, drainLimitMs } = this.#settings;
    if (this.#phase === 'stopping') {
      log.warn('stopping at once');
      this.#crew.stopNow();
      return;
    }
    this.#phase = 'stopping';
    log.info({ drainLimitMs }, 'draining');
    this.#notifier.stopping('draining');
    this.#every(EXTEND_MS, () => this.#notifier.extend());
    this.#crew.stop(drainLimitMs);
  }

  async #start(): Promise<void> {
    const { stateFolder, adminPath, env, log } = this.#settings;
    const limit = readDescriptorLimit();
    const low = limit === undefined ? undefined : describeLowLimit(limit);
    if (low !== undefined) log.warn({ limit }, low);
    this.#lock(stateFolder);
    this.#admin = await openAdmin(adminPath, {
      overview: () => this.#overview(),
      page: (request) => this.#pool.page(request),
      ir: () => this.#pool.ir(),
      metrics: () => this.#metrics(),
      reload: (wait) => this.#answerReload(wait),
      isLive: () => this.#crew.isLive,
    });
    const first = await this.reload();
    if (first.outcome !== 'programmed') throw this.#refusal(first.message, first.diagnostics);
    this.#phase = 'serving';
    const feedMs = watchdogIntervalMs(env, process.pid);
    if (feedMs > 0) {
      this.#every(feedMs, () => {
        if (this.#crew.isLive) this.#notifier.watchdog();
      });
    }
    this.#notifier.ready(this.#statusLine());
  }

  #refusal(message: string, diagnostics: readonly Diagnostic[]): StartError {
    const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
    return new StartError(message === '' ? `the configuration has ${errors} errors` : message, diagnostics);
  }

  /** A second instance would silently take half of the first one's connections. */
  #lock(folder: string): void {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o750 });
    } catch (error) {
      throw new StartError(`cannot make the state folder ${folder}: ${(error as Error).message}`);
    }
    const locked = this.#host.lockState(folder);
    if (!locked.ok) {
      const owner = locked.pid === undefined ? '' : ` (pid ${locked.pid})`;
      throw new StartError(
        `another instance${owner} uses the state folder ${folder}: stop it, or choose another with --state`,
      );
    }
  }

  // ── reload ────────────────────────────────────────────────────────────────────────────────────────────────────────

  #step(event: ReloadEvent): void {
    for (const command of this.#machine.handle(event)) this.#obey(command);
  }

  #obey(command: ReloadCommand): void {
    switch (command.kind) {
      case 'load':
        if (this.#phase === 'serving') this.#notifier.reloading();
        void this.#build(command.generation);
        return;
      case 'program':
        void this.#program();
        return;
      case 'settle':
        this.#settle(command.result);
        for (const ticket of command.tickets) {
          this.#tickets.get(ticket)?.(command.result);
          this.#tickets.delete(ticket);
        }
        return;
    }
  }

  async #build(generation: number): Promise<void> {
    try {
      this.#load = await this.#loader.load(generation);
      const { reply, bindFailures } = this.#load;
      const isFirst = this.#machine.generation === 0;
      const nothingBound = bindFailures.length > 0 && (reply.built?.sockets.length ?? 0) === 0;
      const message = bindFailures.map((failure) => failure.message).join('; ');
      if (isFirst && nothingBound) {
        this.#step({ kind: 'built', outcome: { ...reply, outcome: 'refused', changes: [], message } });
        return;
      }
      // What serves may lack a port as well; where there is something to program, that is told with its outcome.
      this.#step({ kind: 'built', outcome: { ...reply, message: reply.outcome === 'unchanged' ? message : '' } });
    } catch (error) {
      if (this.#phase !== 'stopping') this.#settings.log.error({ err: error }, 'building the configuration failed');
      const message = `the configuration could not be built: ${(error as Error).message}`;
      this.#step({ kind: 'built', outcome: { outcome: 'refused', changes: [], diagnostics: [], message } });
    }
  }

  async #program(): Promise<void> {
    const load = this.#load as Load;
    const built = load.reply.built as BuiltGeneration;
    try {
      const refusal = built.table === undefined ? null : checkTable(built.table);
      if (refusal !== null) {
        await this.#pool.discard();
        throw new Error(`the table was refused: ${refusal}`);
      }
      await this.#publish(built);
      const problems = load.bindFailures.map(({ message }) => message);
      problems.push(...this.#applyAccessLog(built.settings));
      await this.#pool.commit(built.book);
      this.#loader.keep(load);
      this.#summary = load.reply.summary;
      this.#listeners = built.listeners;
      this.#step({ kind: 'programmed', message: problems.join('; ') });
    } catch (error) {
      this.#step({ kind: 'failed', message: (error as Error).message });
    }
  }

  /** Endpoint sets first, for the table names them; what it no longer names goes last. */
  async #publish(built: BuiltGeneration): Promise<void> {
    this.#instruments.name(built.slots);
    this.#endpoints.apply(built.changedSets);
    if (built.table !== undefined) {
      const { generation } = built;
      this.#workersWanted = this.#workerCount(built.settings.workers);
      this.#host.publishTable(built.table, generation);
      this.#crew.publish(generation, this.#workersWanted);
      const taken = await this.#crew.until(
        () => this.#crew.programmed >= generation,
        () => this.#hasFailed(),
        PROGRAM_LIMIT_MS,
      );
      if (!taken) {
        await this.#pool.abandon();
        const { deaths } = this.#crew;
        throw new Error(`no worker took over generation ${generation}: workers ended ${deaths} times in a row`);
      }
      this.#served = built.sockets;
      this.#crew.serve(this.#sockets.dealt(built.sockets));
      const listening = await this.#crew.until(
        () => this.#crew.settled,
        () => this.#hasFailed(),
        LISTEN_LIMIT_MS,
      );
      if (!listening) this.#settings.log.warn('workers have not confirmed all listening sockets yet');
    }
    this.#endpoints.drop(built.removedSets);
  }

  /** Nothing is worth waiting for: stopping, or a start whose workers end before they serve. */
  #hasFailed(): boolean {
    const isFirst = this.#machine.generation === 0;
    return this.#phase === 'stopping' || (isFirst && this.#crew.deaths >= MAX_START_DEATHS);
  }

  #settle(result: ReloadResult): void {
    const { log } = this.#settings;
    const { outcome, generation, message, changes, diagnostics } = result;
    this.#history.add(result, new Date());
    // The load may have opened sockets for a generation that does not serve.
    if (outcome !== 'programmed') this.#sockets.keepOnly(new Set(this.#served.map(({ id }) => id)));
    if (outcome !== 'refused') this.#keeper.touch();
    if (outcome === 'unchanged') this.#summary = this.#load?.reply.summary ?? this.#summary;
    this.#load = undefined;
    for (const { severity, code, object, path, message: text, span } of diagnostics.slice(0, MAX_LOGGED)) {
      log[severity === 'error' ? 'error' : 'warn']({ code, object, path, ...span }, text);
    }
    if (diagnostics.length > MAX_LOGGED) log.warn({ more: diagnostics.length - MAX_LOGGED }, 'further diagnostics');
    if (outcome === 'refused') log.error({ generation, reason: message }, 'configuration refused');
    else if (message !== '') log.error({ generation, reason: message }, 'configuration is programmed in part');
    else log.info({ generation, changes: changes.length }, `configuration ${outcome}`);
    if (this.#phase === 'serving') this.#notifier.ready(this.#statusLine());
  }

  async #answerReload(wait: boolean): Promise<ReloadAnswer> {
    const startedAt = performance.now();
    const settled = this.reload();
    if (wait) return { ...(await settled), durationMs: Math.round(performance.now() - startedAt) };
    const { generation } = this.#machine;
    return { outcome: 'requested', generation, changes: [], diagnostics: [], message: '', durationMs: 0 };
  }

  /** Returns what went wrong; the log is not worth a refused configuration. */
  #applyAccessLog({ accessLog }: IrSettings): string[] {
    const target = accessLog?.target;
    if (target === this.#logTarget) return [];
    this.#logTarget = target;
    try {
      if (target === undefined) this.#host.stopAccessLog();
      else this.#host.startAccessLog({ target });
      return [];
    } catch (error) {
      this.#logTarget = undefined;
      return [`the access log ${target} cannot be written: ${(error as Error).message}`];
    }
  }

  #oldestHeld(): number {
    const columns = this.#crew.view().flatMap(({ column }) => (column === undefined ? [] : [column]));
    return Math.min(
      ...columns.map((column) => this.#host.readControl(column).oldestGeneration),
      this.#machine.generation,
    );
  }

  #workerCount(configured: number): number {
    const wanted = this.#settings.workers ?? (configured === 0 ? availableParallelism() : configured);
    return Math.min(wanted, MAX_WORKERS);
  }

  // ── what others see ───────────────────────────────────────────────────────────────────────────────────────────────

  #statusLine(): string {
    const { last } = this.#history;
    const faults = this.#summary.faultCount === 0 ? '' : `, ${this.#summary.faultCount} faults`;
    const refused = last.outcome === 'refused' ? ', last reload refused' : '';
    return `generation ${this.generation}, ${this.#listeners} listeners, ${this.#workersWanted} workers${faults}${refused}`;
  }

  #overview(): Overview {
    return composeOverview({
      identity: {
        version: this.#settings.version,
        layoutHash: LAYOUT_VERSION,
        pid: process.pid,
        startedAt: this.#startedAt,
        sources: this.#settings.sources,
      },
      phase: this.#phase,
      generation: this.generation,
      reload: this.#history.last,
      workersWanted: this.#workersWanted,
      crew: this.#crew,
      sockets: this.#sockets,
      endpoints: this.#endpoints,
      summary: this.#summary,
      readControl: (column) => this.#host.readControl(column),
      nowMs: Date.now(),
      monotonicMs: monotonicMs(),
    });
  }

  #metrics(): Iterable<string> {
    return this.#instruments.expose({
      version: this.#settings.version,
      layoutHash: LAYOUT_VERSION,
      generation: this.generation,
      ...this.#history.metrics(),
      faults: this.#summary.faultCount,
      workersWanted: this.#workersWanted,
      workerRestarts: this.#crew.restarts,
      columns: this.#crew.view().flatMap(({ column }) => (column === undefined ? [] : [column])),
      endpoints: this.#endpoints.views(),
      monotonicMs: monotonicMs(),
    });
  }

  #every(intervalMs: number, run: () => void): void {
    this.#timers.push(setInterval(run, intervalMs));
  }

  async #close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#crew.close();
    this.#endpoints.stop();
    await this.#admin?.close();
    await this.#keeper.close();
    await this.#pool.close();
    this.#host.close();
  }
}

/** Diagnostics of one load that are logged one by one. */
const MAX_LOGGED = 100;
