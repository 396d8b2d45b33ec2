/**
 * The functional core's one door: a snapshot and the facts about the host in, everything one generation is out.
 * Pure: no clock, no file, no environment, nothing awaited. Serves the primary's build thread and `check`.
 */
import type { Snapshot } from './admit/index.js';
import { compareDiagnostics, type Diagnostic } from './base/index.js';
import { CAPABILITIES, type Compiled, compile, type SlotBook } from './compile/compile.js';
import type { Ir } from './ir/ir.js';
import { LowerMemo, lower } from './lower/index.js';
import type { Capabilities } from './model/capabilities.js';
import { diagnosticsOf } from './model/diagnostics.js';
import { type Facts, ResolveMemo, resolve } from './resolve/index.js';
import { buildStatus, type ObjectStatus, type StatusMemo } from './status/index.js';

/** What a configuration means, before it is a table. */
export interface Plan {
  /** Findings as diagnostics (WG4…), sorted by place. Those of admission are in the snapshot. */
  readonly diagnostics: readonly Diagnostic[];
  /** The status that every object has once this generation is programmed; conditions carry no transition times. */
  readonly status: readonly ObjectStatus[];
  readonly ir: Ir;
  /** For `Facts.assignedAddresses` of the next build. */
  readonly assignedAddresses: Readonly<Record<string, string>>;
}

export interface BuildResult extends Plan {
  readonly compiled: Compiled;
}

/**
 * What one build hands to the next, so that a change costs what it concerns. Mutable, and of one thread. Results never depend on it: they
 * are what they would be with a new one.
 */
export class BuildMemo {
  readonly resolve = new ResolveMemo();
  readonly status: StatusMemo = new WeakMap();
  readonly lower = new LowerMemo();
}

/**
 * Plans for a data plane that has the given capabilities. Equal arguments give equal results, whatever `memo` has seen; the order of the
 * resources does not matter.
 */
export function plan(
  snapshot: Snapshot,
  facts: Facts,
  capabilities: Capabilities,
  memo: BuildMemo = new BuildMemo(),
): Plan {
  const { model, findings } = resolve(snapshot, facts, capabilities, memo.resolve);
  return {
    diagnostics: findings.flatMap(diagnosticsOf).sort(compareDiagnostics),
    status: buildStatus(model, findings, memo.status),
    ir: lower(model, memo.lower),
    assignedAddresses: model.assignedAddresses,
  };
}

/**
 * Builds one generation for the data plane of this version. `book` hands out stable ids and is advanced.
 * Throws `CompileError` when the configuration is larger than the table format.
 */
export function build(
  snapshot: Snapshot,
  facts: Facts,
  book: SlotBook,
  generation: number,
  memo?: BuildMemo,
): BuildResult {
  const planned = plan(snapshot, facts, CAPABILITIES, memo);
  return { ...planned, compiled: compile(planned.ir, book, generation) };
}
