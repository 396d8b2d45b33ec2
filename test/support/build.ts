/**
 * Text → everything that a build yields, with facts about a made-up host.
 */
import { admitSnapshot, admitText } from '../../src/admit/index.js';
import { compareDiagnostics, type Diagnostic } from '../../src/base/index.js';
import { SlotBook } from '../../src/compile/compile.js';
import { type BuildResult, build } from '../../src/pipeline.js';
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
  const snapshot = admitSnapshot(Object.entries(files).map(([file, text]) => admitText(file, text)));
  const result = build(snapshot, { ...FACTS, ...facts }, new SlotBook(), 1);
  const diagnostics: Diagnostic[] = [...snapshot.diagnostics, ...result.diagnostics];
  return { ...result, diagnostics: diagnostics.sort(compareDiagnostics) };
}

/** Builds one text. */
export function buildText(text: string, facts: Partial<Facts> = {}): BuildResult {
  return buildFiles({ 'input.yaml': text }, facts);
}
