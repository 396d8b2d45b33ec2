/**
 * What the build thread remembers between builds: admitted files by content, the slot book, the objects and the status of
 * the generation that serves and of the one that is being programmed. No I/O and no thread of its own.
 * Serves `build-task.ts`. The main thread never sees resources: it asks for what it needs.
 */
import { createHash } from 'node:crypto';
import { type AdmittedFile, admitSnapshot } from '../admit/index.js';
import { compareDiagnostics, type Diagnostic, hasErrors } from '../base/index.js';
import {
  CAPABILITIES,
  type CompiledEndpointSet,
  type RetiredId,
  SlotBook,
  type SlotNames,
} from '../compile/compile.js';
import { objectLabel, type Resource } from '../gateway-api/index.js';
import { type Fault, type ListedObject, MAX_FAULTS } from '../ipc/admin-protocol.js';
import type { Ir, IrSettings } from '../ir/ir.js';
import { type BuildResult, build, plan } from '../pipeline.js';
import { CODES } from '../resolve/codes.js';
import type { Facts } from '../resolve/facts.js';
import type { MergedStatus } from '../status/index.js';
import { faultsOf } from './faults.js';
import { type Counted, countGenerations, type Ledger, recordStatuses } from './ledger.js';
import { decodeLedger, encodeLedger } from './ledger-file.js';
import { isSameObject, listPage, type ObjectFilter, type ObjectPage, type PageRequest } from './object-list.js';
import type { BuildOutcome, ObjectChange } from './reload.js';

/** One file of a build, known by its hash or with what admission made of it. */
export interface BuildFile {
  readonly file: string;
  readonly hash: string;
  /** Absent when the build thread was given this file with this hash before. */
  readonly admitted?: AdmittedFile;
}

export interface BuildRequest {
  readonly generation: number;
  readonly files: readonly BuildFile[];
  /** Faults of reading the files. */
  readonly readDiagnostics: readonly Diagnostic[];
  readonly facts: Facts;
  /** The oldest generation that a worker still holds: what vanished up to it may be reused once nothing is in flight there. */
  readonly oldestHeld: number;
  /** Of the last reply's `retired`: what is known to be quiet now. */
  readonly reusable: readonly RetiredId[];
  /** Leave out objects with errors and serve the rest, in place of refusing everything. */
  readonly keepGoing: boolean;
  /** RFC 3339; becomes `lastTransitionTime` of conditions that change. */
  readonly now: string;
}

/** A local address to open. */
export interface BuiltSocket {
  readonly id: number;
  readonly key: string;
  readonly ip: string;
  readonly port: number;
}

/** A configuration that can be served. */
export interface BuiltGeneration {
  readonly generation: number;
  /** Undefined (`updated`) when it equals the table that serves: only endpoints or their checks differ. */
  readonly table: Uint8Array | undefined;
  readonly sockets: readonly BuiltSocket[];
  /** Those that are new or differ from what serves. */
  readonly changedSets: readonly CompiledEndpointSet[];
  readonly removedSets: readonly number[];
  readonly slots: SlotNames;
  readonly settings: IrSettings;
  readonly listeners: number;
  readonly assignedAddresses: Readonly<Record<string, string>>;
  /** `SlotBook` as JSON, for a build thread that has to start anew. */
  readonly book: Uint8Array;
}

export interface BuildReply {
  readonly outcome: BuildOutcome['outcome'];
  readonly diagnostics: readonly Diagnostic[];
  readonly changes: readonly ObjectChange[];
  readonly built: BuiltGeneration | undefined;
  readonly summary: StatusSummary;
  /** Ids that no generation can name any more; given when there are many. */
  readonly retired: readonly RetiredId[];
}

/** What the overview says about objects. */
export interface StatusSummary {
  readonly objects: Readonly<Record<string, number>>;
  readonly faults: readonly Fault[];
  readonly faultCount: number;
}

interface Served {
  /** Everything the build was made from: equal text, equal outcome. */
  readonly inputs: string;
  /** `undefined`: nothing serves yet. */
  readonly facts: Facts | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** By `objectLabel`, sorted by kind, namespace and name. */
  readonly resources: ReadonlyMap<string, Resource>;
  /** Ours, by `objectLabel`, in the order of `buildStatus`. */
  readonly status: ReadonlyMap<string, MergedStatus>;
  readonly ledger: Ledger;
  /** Hash of the IR without endpoints: equal hash, equal table. */
  readonly tableKey: string;
  readonly sets: ReadonlyMap<number, string>;
  readonly book: SlotBook;
}

const KEEP_RETIRED = 20_000;
/** Slots reclaimed by one build. */
const MAX_RECLAIMED = 100_000;

const NOTHING: Served = {
  inputs: '',
  facts: undefined,
  diagnostics: [],
  resources: new Map(),
  status: new Map(),
  ledger: new Map(),
  tableKey: '',
  sets: new Map(),
  book: new SlotBook(),
};

/** See the module header. One build at a time; `commit`, `revise`, `discard` or `abandon` follows every `changed`. */
export class BuildState {
  #files = new Map<string, { readonly hash: string; readonly admitted: AdmittedFile }>();
  #served: Served = NOTHING;
  #candidate: Served | undefined;
  #kept: { readonly ledger: Ledger | undefined; readonly digest: string } = { ledger: undefined, digest: '' };
  readonly #keepRetired: number;

  /** So many vanished objects go on counting where they were, should they come back; of more, the slots are reused. */
  constructor(keepRetired: number = KEEP_RETIRED) {
    this.#keepRetired = keepRetired;
  }

  /** Starts with the slots of an earlier build thread, so that counters keep their meaning. */
  seed(book: string): void {
    this.#served = { ...this.#served, book: SlotBook.from(JSON.parse(book)) };
  }

  /** Builds a configuration from its files. Throws when a file is neither known nor given: the caller gave a wrong hash. */
  build(request: BuildRequest): BuildReply {
    this.#candidate = undefined;
    const before = this.#served;
    const files = this.#remember(request.files);
    const inputs = inputsOf(request);
    if (inputs === before.inputs) {
      const { diagnostics } = before;
      return { outcome: 'unchanged', diagnostics, changes: [], built: undefined, summary: this.summary(), retired: [] };
    }
    const snapshot = admitSnapshot(files);
    const admission = [...request.readDiagnostics, ...snapshot.diagnostics].sort(compareDiagnostics);
    if (hasErrors(admission) && !request.keepGoing) return this.#refuse(admission);
    // A build that is not programmed must leave no trace in the book.
    const book = SlotBook.from(before.book.toJSON());
    book.free(request.reusable);
    const counted = countGenerations(snapshot.resources, snapshot.refused, before.ledger);
    const result = build({ ...snapshot, resources: counted.resources }, request.facts, book, request.generation);
    const diagnostics = [...admission, ...result.diagnostics].sort(compareDiagnostics);
    if (!request.keepGoing && result.diagnostics.some(isAboutAll)) return this.#refuse(diagnostics);
    const candidate: Served = {
      ...toServed(counted, result, book, request.now),
      inputs,
      facts: request.facts,
      diagnostics,
    };
    const changes = listChanges(before, candidate);
    this.#candidate = candidate;
    const summary = summarize(candidate);
    const vanished = book.retiredBefore(request.oldestHeld);
    const retired = vanished.length > this.#keepRetired ? vanished.slice(0, MAX_RECLAIMED) : [];
    if (isSameService(before, candidate)) {
      this.commit();
      return { outcome: 'unchanged', diagnostics, changes, built: undefined, summary, retired };
    }
    const built = toGeneration(request.generation, result, before, candidate);
    return {
      outcome: built.table === undefined ? 'updated' : 'changed',
      diagnostics,
      changes,
      built,
      summary,
      retired,
    };
  }

  /** The last build serves now. */
  commit(): void {
    this.#served = this.#candidate ?? this.#served;
    this.#candidate = undefined;
  }

  /**
   * The last build gives way to another one of the same load. Sockets were opened by the ids that it gave out, so the
   * next build gives the same things the same ids.
   */
  revise(): void {
    const { book } = this.#candidate ?? this.#served;
    this.#served = { ...this.#served, book };
    this.#candidate = undefined;
  }

  /** The last build will not serve, and nothing of it was carried out. */
  discard(): void {
    this.#candidate = undefined;
  }

  /**
   * The last build was carried out in part and then given up: what shows is the old generation, but the next build is
   * compared with the new one, and gives its table in any case.
   */
  abandon(): void {
    const { sets, book } = this.#candidate ?? this.#served;
    this.#served = { ...this.#served, inputs: '', sets, book, tableKey: '' };
    this.#candidate = undefined;
  }

  /** Returns what the overview says about the objects that serve. */
  summary(): StatusSummary {
    return summarize(this.#served);
  }

  /** Returns the objects that serve, with their status, sorted by kind, namespace and name: one page of them. */
  page(request: PageRequest): ObjectPage {
    return listPage(this.#served, request);
  }

  /** Returns what all pages have, one after the other. */
  objects(filter: ObjectFilter): ListedObject[] {
    const listed: ListedObject[] = [];
    let page = this.page(filter);
    listed.push(...parsePage(page));
    while (page.next !== undefined) {
      page = this.page({ ...filter, after: page.next });
      listed.push(...parsePage(page));
    }
    return listed;
  }

  /** Takes over what an earlier process remembered; returns why it cannot. Only before the first build. */
  restore(ledger: Uint8Array): string | undefined {
    const decoded = decodeLedger(ledger);
    if (!decoded.ok) return decoded.error;
    this.#served = { ...this.#served, ledger: decoded.value };
    return undefined;
  }

  /** Returns the ledger that serves as bytes; `undefined` when they are those of the call before, unless `again` says so. */
  ledger(again: boolean): Uint8Array | undefined {
    const { ledger } = this.#served;
    if (ledger === this.#kept.ledger && !again) return undefined;
    const bytes = encodeLedger(ledger);
    const digest = createHash('sha256').update(bytes).digest('hex');
    const isSame = digest === this.#kept.digest;
    this.#kept = { ledger, digest };
    return isSame && !again ? undefined : bytes;
  }

  /**
   * Returns the IR that serves, without private keys; `undefined` before the first generation. It is planned anew from the objects, so that
   * nothing is kept for it: about a second for 100,000 routes.
   */
  ir(): Ir | undefined {
    const { facts, resources } = this.#served;
    if (facts === undefined) return undefined;
    const { ir } = plan(
      { resources: [...resources.values()], diagnostics: [], refused: new Set() },
      facts,
      CAPABILITIES,
    );
    return { ...ir, certificates: ir.certificates.map((certificate) => ({ ...certificate, privateKey: '' })) };
  }

  #refuse(diagnostics: readonly Diagnostic[]): BuildReply {
    return { outcome: 'refused', diagnostics, changes: [], built: undefined, summary: this.summary(), retired: [] };
  }

  /** Returns the admitted files and keeps them, those alone, for builds to come. */
  #remember(given: readonly BuildFile[]): AdmittedFile[] {
    const files = new Map<string, { readonly hash: string; readonly admitted: AdmittedFile }>();
    for (const { file, hash, admitted } of given) {
      const known = this.#files.get(file);
      const kept = admitted ?? (known?.hash === hash ? known.admitted : undefined);
      if (kept === undefined) throw new Error(`WEIRGATE_BUG ${file} was not parsed`);
      files.set(file, { hash, admitted: kept });
    }
    this.#files = files;
    return [...files.values()].map(({ admitted }) => admitted);
  }
}

/** What a build depends on, but for the generation, the time and the ids that may be reused. */
function inputsOf({ files, readDiagnostics, facts, keepGoing }: BuildRequest): string {
  return JSON.stringify([files.map(({ file, hash }) => [file, hash]), readDiagnostics, facts, keepGoing]);
}

/** The settings of a class concern every Gateway of it: a mistake there would close them all at once. */
function isAboutAll({ code, severity }: Diagnostic): boolean {
  return severity === 'error' && code === CODES.classParameters;
}

function toServed(
  counted: Counted,
  result: BuildResult,
  book: SlotBook,
  now: string,
): Omit<Served, 'inputs' | 'facts' | 'diagnostics'> {
  const { ir, compiled } = result;
  const ledger = recordStatuses(counted, result.status, now);
  const labels = result.status.map(({ kind, namespace, name }) => objectLabel(kind, namespace, name));
  return {
    resources: new Map(counted.resources.map((item) => [labelOf(item), item])),
    status: new Map(labels.map((label) => [label, ledger.get(label)?.status ?? {}])),
    ledger,
    tableKey: createHash('sha256')
      .update(JSON.stringify({ ...ir, clusters: ir.clusters.map(({ key }) => key) }))
      .digest('hex'),
    sets: new Map(compiled.endpointSets.map((set) => [set.id, JSON.stringify(set)])),
    book,
  };
}

function toGeneration(generation: number, result: BuildResult, before: Served, candidate: Served): BuiltGeneration {
  const { ir, compiled } = result;
  const addresses = new Map(ir.sockets.map(({ key, ip, port }) => [key, { ip, port }]));
  return {
    generation,
    table: before.tableKey === candidate.tableKey ? undefined : compiled.table,
    sockets: compiled.sockets.flatMap(({ id, key }) => {
      const address = addresses.get(key);
      return address === undefined ? [] : [{ id, key, ...address }];
    }),
    changedSets: compiled.endpointSets.filter((set) => before.sets.get(set.id) !== candidate.sets.get(set.id)),
    removedSets: [...before.sets.keys()].filter((id) => !candidate.sets.has(id)),
    slots: compiled.slots,
    settings: ir.settings,
    listeners: ir.listeners.length,
    assignedAddresses: result.assignedAddresses,
    book: new TextEncoder().encode(JSON.stringify(candidate.book.toJSON())),
  };
}

function isSameService(before: Served, candidate: Served): boolean {
  if (before.tableKey !== candidate.tableKey || before.sets.size !== candidate.sets.size) return false;
  for (const [id, text] of candidate.sets) if (before.sets.get(id) !== text) return false;
  return true;
}

function listChanges(before: Served, after: Served): ObjectChange[] {
  const changes: ObjectChange[] = [];
  for (const [object, resource] of after.resources) {
    const old = before.resources.get(object);
    if (old === undefined) changes.push({ object, change: 'added' });
    else if (!isSameObject(old, resource) || before.status.get(object) !== after.status.get(object)) {
      changes.push({ object, change: 'changed' });
    }
  }
  for (const object of before.resources.keys()) {
    if (!after.resources.has(object)) changes.push({ object, change: 'removed' });
  }
  return changes;
}

function summarize(served: Served): StatusSummary {
  const objects: Record<string, number> = {};
  for (const { kind } of served.resources.values()) objects[kind] = (objects[kind] ?? 0) + 1;
  const faults: Fault[] = [];
  let faultCount = 0;
  for (const [object, status] of served.status) {
    const found = faultsOf(object, status);
    faultCount += found.length;
    faults.push(...found.slice(0, Math.max(0, MAX_FAULTS - faults.length)));
  }
  return { objects, faults, faultCount };
}

function parsePage({ items }: ObjectPage): ListedObject[] {
  return JSON.parse(`[${items}]`) as ListedObject[];
}

function labelOf({ kind, metadata }: Resource): string {
  return objectLabel(kind, metadata.namespace, metadata.name);
}
