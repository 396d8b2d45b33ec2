/**
 * The functional core's one door: a snapshot and the facts about the host in, everything one generation is out.
 * Pure: no clock, no file, no environment, nothing awaited. Serves the primary's build thread and `check`.
 */
import type { Snapshot } from './admit/index.js';
import { compareDiagnostics, type Diagnostic } from './base/index.js';
import { type Compiled, compile, type SlotBook } from './compile/compile.js';
import type { Ir } from './ir/ir.js';
import { lower } from './lower/index.js';
import { diagnosticsOf } from './model/diagnostics.js';
import { type Facts, resolve } from './resolve/index.js';
import { buildStatus, type ObjectStatus } from './status/index.js';

export interface BuildResult {
  /** Findings as diagnostics (WG4…), sorted by place. Those of admission are in the snapshot. */
  readonly diagnostics: readonly Diagnostic[];
  /** The status that every object has once this generation is programmed; conditions carry no transition times. */
  readonly status: readonly ObjectStatus[];
  readonly ir: Ir;
  readonly compiled: Compiled;
  /** For `Facts.assignedAddresses` of the next build. */
  readonly assignedAddresses: Readonly<Record<string, string>>;
}

/**
 * Builds one generation. Equal arguments give equal results; the order of the resources does not matter.
 * `book` hands out stable ids and is advanced. Throws `CompileError` when the configuration is larger than the table format.
 */
export function build(snapshot: Snapshot, facts: Facts, book: SlotBook, generation: number): BuildResult {
  const { model, findings } = resolve(snapshot, facts);
  const ir = lower(model);
  return {
    diagnostics: findings.flatMap(diagnosticsOf).sort(compareDiagnostics),
    status: buildStatus(model, findings),
    ir,
    compiled: compile(ir, book, generation),
    assignedAddresses: model.assignedAddresses,
  };
}
