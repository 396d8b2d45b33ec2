/**
 * Text → documents: cuts a file at its `---` lines so that a syntax error spoils one document only, parses each with
 * js-yaml and composes trees. Limits hold before anything is expanded. Knows nothing of Kubernetes.
 */
import { type Event, parseEvents, YAMLException } from 'js-yaml';
import { MAX_BYTES, MAX_DEPTH } from './limits.js';
import { composeDocuments } from './yaml-compose.js';
import type { YamlFault, YamlNode } from './yaml-node.js';
import { explainSyntaxError } from './yaml-syntax.js';

/** A document: a tree, or a fault. Offsets count from the start of the file. */
export type YamlDocument =
  | { readonly ok: true; readonly root: YamlNode }
  | { readonly ok: false; readonly fault: YamlFault };

/** Returns the documents of a text in their order; empty ones are left out. Cost: O(length). Never throws for bad text. */
export function readDocuments(text: string): YamlDocument[] {
  return documentRanges(text).flatMap(({ start, end }) => readChunk(text.slice(start, end), start));
}

/** True when the text has `limit` bytes or more in UTF-8. */
function exceedsBytes(text: string, limit: number): boolean {
  if (text.length >= limit) return true;
  // A UTF-16 unit is at most 3 bytes in UTF-8, so short texts need no count.
  return text.length * 3 >= limit && Buffer.byteLength(text) >= limit;
}

function tooLarge(offset: number): YamlFault {
  const message = `document is too large: ${MAX_BYTES / 1_000_000} MB and more are not read`;
  return { code: 'WG1002', message, hint: 'split it into several documents with lines of ---', offset };
}

function readChunk(source: string, base: number): YamlDocument[] {
  if (exceedsBytes(source, MAX_BYTES)) return [{ ok: false, fault: tooLarge(base) }];
  let events: Event[];
  try {
    events = parseEvents(source, { maxDepth: MAX_DEPTH });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const fault = explainSyntaxError(error.reason, error.mark?.position ?? 0, source);
    return [{ ok: false, fault: { ...fault, offset: fault.offset + base } }];
  }
  return composeDocuments(source, base, events);
}

/** Characters of directives and comments before a marker that are looked at. */
const MAX_DIRECTIVES = 4096;

interface Range {
  readonly start: number;
  readonly end: number;
}

/** `---` at the beginning of a line ends a document wherever it stands, even in a block scalar (YAML 1.2 §9.1.2). */
function documentRanges(text: string): Range[] {
  const ranges: Range[] = [];
  let start = 0;
  for (let at = text.indexOf('---'); at !== -1; at = text.indexOf('---', at + 3)) {
    if (!isMarker(text, at)) continue;
    const end = directivesBefore(text, start, at) ?? at;
    if (end === start) continue;
    ranges.push({ start, end });
    start = end;
  }
  ranges.push({ start, end: text.length });
  return ranges;
}

/** Directives (`%YAML 1.2`) stand after a `...` line, or at the start, and belong to the document of the next marker. */
function directivesBefore(text: string, start: number, marker: number): number | undefined {
  const searched = Math.max(start, marker - MAX_DIRECTIVES);
  const before = text.slice(searched, marker);
  const ending = before.lastIndexOf('\n...');
  if (ending === -1 && (searched > start || before.startsWith('---'))) return undefined;
  const from = ending === -1 ? 0 : ending + '\n...'.length;
  const isOnlyDirectives = before
    .slice(from)
    .split(/\r\n|\n|\r/)
    .every((line) => /^(?:%|\s*#|\s*$)/.test(line));
  return isOnlyDirectives ? searched + from : undefined;
}

function isMarker(text: string, at: number): boolean {
  const before = at === 0 ? '\n' : text[at - 1];
  const after = text[at + 3] ?? '\n';
  return (before === '\n' || before === '\r') && (after === '\n' || after === '\r' || after === ' ' || after === '\t');
}
