/**
 * Text → everything that a build yields, with facts about a made-up host.
 */
import { admitSnapshot, admitText, type Snapshot } from '../../src/admit/index.js';
import { compareDiagnostics, type Diagnostic } from '../../src/base/index.js';
import { SlotBook } from '../../src/compile/compile.js';
import { ALL_CAPABILITIES } from '../../src/model/capabilities.js';
import { type BuildResult, build, type Plan, plan } from '../../src/pipeline.js';
import type { Facts } from '../../src/resolve/index.js';

/** A host with one IPv4 and one IPv6 address, where every port is free. */
export const FACTS: Facts = {
  hasIpv6: true,
  hostAddresses: ['127.0.0.1', '192.0.2.10', '::1', '2001:db8::10', 'fe80::10'],
  bindFailures: [],
  assignedAddresses: {},
};

/** Builds files, given as name → text, in that order. All diagnostics are in the result, those of admission too. */
export function buildFiles(files: Readonly<Record<string, string>>, facts: Partial<Facts> = {}): BuildResult {
  const snapshot = admitFiles(files);
  return withDiagnostics(snapshot, build(snapshot, { ...FACTS, ...facts }, new SlotBook(), 1));
}

/** Plans files for a data plane that can do everything. */
export function planFiles(files: Readonly<Record<string, string>>, facts: Partial<Facts> = {}): Plan {
  const snapshot = admitFiles(files);
  return withDiagnostics(snapshot, plan(snapshot, { ...FACTS, ...facts }, new Set(ALL_CAPABILITIES)));
}

/** Builds one text. */
export function buildText(text: string, facts: Partial<Facts> = {}): BuildResult {
  return buildFiles({ 'input.yaml': text }, facts);
}

function admitFiles(files: Readonly<Record<string, string>>): Snapshot {
  return admitSnapshot(Object.entries(files).map(([file, text]) => admitText(file, text)));
}

function withDiagnostics<T extends Plan>(snapshot: Snapshot, result: T): T {
  const diagnostics: Diagnostic[] = [...snapshot.diagnostics, ...result.diagnostics];
  return { ...result, diagnostics: diagnostics.sort(compareDiagnostics) };
}
