/**
 * What the build thread remembers between builds: admitted files by content, the slot book, the objects and the status of
 * the generation that serves and of the one that is being programmed. No I/O and no thread of its own.
 * Serves `build-task.ts`. The main thread never sees resources: it asks for what it needs.
 */
import { createHash } from 'node:crypto';
import { type AdmittedFile, admitSnapshot, refuseChanges, SnapshotMemo } from '../admit/index.js';
import { compareDiagnostics, type Diagnostic, hasErrors } from '../base/index.js';
import {
  CAPABILITIES,
  type CompiledEndpointSet,
  type RetiredId,
  SlotBook,
  type SlotNames,
  tableDigest,
} from '../compile/compile.js';
import type { Resource } from '../gateway-api/index.js';
import { type Fault, type ListedObject, MAX_FAULTS } from '../ipc/admin-protocol.js';
import type { Ir, IrSettings } from '../ir/ir.js';
import { BuildMemo, type BuildResult, build, plan } from '../pipeline.js';
import { CODES } from '../resolve/codes.js';
import type { Facts } from '../resolve/facts.js';
import { countGenerations, EMPTY_ROSTER, ledgerOf, precedes, type Roster, type Row, recordStatuses } from './ledger.js';
import { decodeLedger, encodeLedger } from './ledger-file.js';
import {
  isSameObject,
  listPage,
  type ObjectFilter,
  type ObjectPage,
  ownStatus,
  type PageRequest,
} from './object-list.js';
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
  readonly roster: Roster;
  /** Hash of the table without its generation. */
  readonly tableKey: string;
  readonly sets: ReadonlyMap<number, string>;
}

const KEEP_RETIRED = 20_000;
/** Slots reclaimed by one build. */
const MAX_RECLAIMED = 100_000;

const NOTHING: Served = {
  inputs: '',
  facts: undefined,
  diagnostics: [],
  roster: EMPTY_ROSTER,
  tableKey: '',
  sets: new Map(),
};

/** See the module header. One build at a time; `commit`, `revise`, `discard` or `abandon` follows every `changed`. */
export class BuildState {
  #files = new Map<string, { readonly hash: string; readonly admitted: AdmittedFile }>();
  #served: Served = NOTHING;
  #candidate: Served | undefined;
  #book = new SlotBook();
  readonly #snapshot = new SnapshotMemo();
  readonly #memo = new BuildMemo();
  #kept: { readonly roster: Roster | undefined; readonly digest: string } = { roster: undefined, digest: '' };
  readonly #keepRetired: number;

  /** So many vanished objects go on counting where they were, should they come back; of more, the slots are reused. */
  constructor(keepRetired: number = KEEP_RETIRED) {
    this.#keepRetired = keepRetired;
  }

  /** Starts with the slots of an earlier build thread, so that counters keep their meaning. */
  seed(book: string): void {
    this.#book = SlotBook.from(JSON.parse(book));
  }

  /** Builds a configuration from its files. Throws when a file is neither known nor given: the caller gave a wrong hash. */
  build(request: BuildRequest): BuildReply {
    // A build that is not programmed must leave no trace in the book.
    this.discard();
    const before = this.#served;
    const files = this.#remember(request.files);
    const inputs = inputsOf(request);
    if (inputs === before.inputs) {
      const { diagnostics } = before;
      return { outcome: 'unchanged', diagnostics, changes: [], built: undefined, summary: this.summary(), retired: [] };
    }
    const snapshot = refuseChanges(classesOf(before.roster), admitSnapshot(files, this.#snapshot));
    const admission = [...request.readDiagnostics, ...snapshot.diagnostics].sort(compareDiagnostics);
    if (hasErrors(admission) && !request.keepGoing) return this.#refuse(admission);
    this.#book.begin();
    this.#book.free(request.reusable);
    const counted = countGenerations(snapshot.resources, snapshot.refused, before.roster);
    const result = build(
      { ...snapshot, resources: resourcesOf(counted) },
      request.facts,
      this.#book,
      request.generation,
      this.#memo,
    );
    const diagnostics = [...admission, ...result.diagnostics].sort(compareDiagnostics);
    if (!request.keepGoing && result.diagnostics.some(isAboutAll)) return this.#refuse(diagnostics);
    const candidate: Served = {
      ...toServed(counted, result, request.now),
      inputs,
      facts: request.facts,
      diagnostics,
    };
    const changes = listChanges(before.roster.rows, candidate.roster.rows);
    this.#candidate = candidate;
    const summary = summarize(candidate.roster);
    const vanished = this.#book.retiredBefore(request.oldestHeld);
    const retired = vanished.length > this.#keepRetired ? vanished.slice(0, MAX_RECLAIMED) : [];
    if (isSameService(before, candidate)) {
      this.commit();
      return { outcome: 'unchanged', diagnostics, changes, built: undefined, summary, retired };
    }
    const built = toGeneration(request.generation, result, before, candidate, this.#book);
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
    this.#book.keep();
    this.#served = this.#candidate ?? this.#served;
    this.#candidate = undefined;
  }

  /**
   * The last build gives way to another one of the same load. Sockets were opened by the ids that it gave out, so the
   * next build gives the same things the same ids.
   */
  revise(): void {
    this.#book.keep();
    this.#candidate = undefined;
  }

  /** The last build will not serve, and nothing of it was carried out. */
  discard(): void {
    this.#book.rollback();
    this.#candidate = undefined;
  }

  /**
   * The last build was carried out in part and then given up: what shows is the old generation, but the next build is
   * compared with the new one, and gives its table in any case.
   */
  abandon(): void {
    const { sets } = this.#candidate ?? this.#served;
    this.#book.keep();
    this.#served = { ...this.#served, inputs: '', sets, tableKey: '' };
    this.#candidate = undefined;
  }

  /** Returns what the overview says about the objects that serve. */
  summary(): StatusSummary {
    return summarize(this.#served.roster);
  }

  /** Returns the objects that serve, with their status, sorted by kind, namespace and name: one page of them. */
  page(request: PageRequest): ObjectPage {
    return listPage(this.#served.roster.rows, request);
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
    this.#served = { ...this.#served, roster: { rows: [], dormant: decoded.value } };
    return undefined;
  }

  /** Returns the ledger that serves as bytes; `undefined` when they are those of the call before, unless `again` says so. */
  ledger(again: boolean): Uint8Array | undefined {
    const { roster } = this.#served;
    if (roster === this.#kept.roster && !again) return undefined;
    const bytes = encodeLedger(ledgerOf(roster));
    const digest = createHash('sha256').update(bytes).digest('hex');
    const isSame = digest === this.#kept.digest;
    this.#kept = { roster, digest };
    return isSame && !again ? undefined : bytes;
  }

  /**
   * Returns the IR that serves, without private keys; `undefined` before the first generation. It is planned anew from the objects, so that
   * nothing is kept for it: about a second for 100,000 routes.
   */
  ir(): Ir | undefined {
    const { facts, roster } = this.#served;
    if (facts === undefined) return undefined;
    const { ir } = plan({ resources: resourcesOf(roster), diagnostics: [], refused: new Set() }, facts, CAPABILITIES);
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

/** Rows are sorted by kind: those of GatewayClass end where a later kind begins. */
function classesOf({ rows }: Roster): Resource[] {
  const end = rows.findIndex(({ written }) => written.kind > 'GatewayClass');
  return resourcesOf({ rows: end === -1 ? rows : rows.slice(0, end), dormant: EMPTY_ROSTER.dormant });
}

function resourcesOf({ rows }: Roster): Resource[] {
  return rows.map(({ resource }) => resource);
}

function toServed(
  counted: Roster,
  { status, compiled }: BuildResult,
  now: string,
): Omit<Served, 'inputs' | 'facts' | 'diagnostics'> {
  return {
    roster: recordStatuses(counted, status, now),
    tableKey: tableDigest(compiled.table),
    sets: new Map(compiled.endpointSets.map((set) => [set.id, JSON.stringify(set)])),
  };
}

function toGeneration(
  generation: number,
  result: BuildResult,
  before: Served,
  candidate: Served,
  book: SlotBook,
): BuiltGeneration {
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
    book: new TextEncoder().encode(JSON.stringify(book.toJSON())),
  };
}

function isSameService(before: Served, candidate: Served): boolean {
  if (before.tableKey !== candidate.tableKey || before.sets.size !== candidate.sets.size) return false;
  for (const [id, text] of candidate.sets) if (before.sets.get(id) !== text) return false;
  return true;
}

/** Both are sorted alike, so that one pass side by side finds what differs. Cost: O(objects). */
function listChanges(before: readonly Row[], after: readonly Row[]): ObjectChange[] {
  const changes: ObjectChange[] = [];
  const removed: ObjectChange[] = [];
  let next = 0;
  for (const row of after) {
    for (let old = before[next]; old !== undefined && precedes(old.written, row.written); old = before[++next]) {
      removed.push({ object: old.label, change: 'removed' });
    }
    const known = before[next];
    if (known === row) next += 1;
    else if (known?.label !== row.label) changes.push({ object: row.label, change: 'added' });
    else {
      next += 1;
      if (isSameObject(known.written, row.written) && ownStatus(known) === ownStatus(row)) continue;
      changes.push({ object: row.label, change: 'changed' });
    }
  }
  for (const { label } of before.slice(next)) removed.push({ object: label, change: 'removed' });
  return [...changes, ...removed];
}

function summarize({ rows }: Roster): StatusSummary {
  const objects: Record<string, number> = {};
  const faults: Fault[] = [];
  let faultCount = 0;
  for (const { written, faults: found } of rows) {
    objects[written.kind] = (objects[written.kind] ?? 0) + 1;
    if (found.length === 0) continue;
    faultCount += found.length;
    faults.push(...found.slice(0, Math.max(0, MAX_FAULTS - faults.length)));
  }
  return { objects, faults, faultCount };
}

function parsePage({ items }: ObjectPage): ListedObject[] {
  return JSON.parse(`[${items}]`) as ListedObject[];
}
