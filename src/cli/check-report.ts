/**
 * The report of `weirgate check`: data for tools, and text for people and for CI. Pure. Files come as text, for code frames.
 */
import { compareDiagnostics, type Diagnostic, formatSpan, type Severity } from '../base/index.js';
import type { ListedObject } from '../ipc/admin-protocol.js';
import { counted, type Painter } from './output.js';

/** `-o json` of `weirgate check`: fields are added, never given a second meaning. */
export interface CheckReport {
  readonly apiVersion: 'weirgate.dev/v1alpha1';
  readonly kind: 'CheckReport';
  readonly summary: CheckSummary;
  /** Sorted by file, line and column. */
  readonly diagnostics: readonly ReportedDiagnostic[];
  /** Sorted by kind, namespace and name; each with the status it would get. */
  readonly objects: readonly ListedObject[];
  /** Only with `--diff`: what a reload would change; sorted by object. */
  readonly changes?: readonly ReportedChange[];
}

export interface CheckSummary {
  readonly files: number;
  readonly objects: number;
  readonly errors: number;
  readonly warnings: number;
}

/** A diagnostic with its place in flat fields. `line` and `column` are 0 when the file as a whole is meant. */
export interface ReportedDiagnostic {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly severity: Severity;
  readonly code: string;
  readonly object: string;
  readonly path: string;
  readonly message: string;
  readonly hint: string;
}

/** An object that a reload would add, change or remove. */
export interface ReportedChange {
  readonly object: string;
  readonly change: 'added' | 'changed' | 'removed';
  /** For changed objects: paths that differ, with the old and the new value as JSON; absent values are `''`. */
  readonly fields: readonly { readonly path: string; readonly before: string; readonly after: string }[];
}

export interface CheckInput {
  readonly files: number;
  readonly diagnostics: readonly Diagnostic[];
  readonly objects: readonly ListedObject[];
  readonly changes?: readonly ReportedChange[] | undefined;
}

/** Returns the report. */
export function buildReport({ files, diagnostics, objects, changes }: CheckInput): CheckReport {
  const count = (severity: Severity): number =>
    diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
  return {
    apiVersion: 'weirgate.dev/v1alpha1',
    kind: 'CheckReport',
    summary: { files, objects: objects.length, errors: count('error'), warnings: count('warning') },
    diagnostics: [...diagnostics].sort(compareDiagnostics).map(reported),
    objects,
    ...(changes === undefined ? {} : { changes }),
  };
}

/** Exit status of `check`: 0, 1 with errors, 3 with warnings under `--strict`. */
export function exitStatusOf({ summary }: CheckReport, strict: boolean): 0 | 1 | 3 {
  if (summary.errors > 0) return 1;
  return strict && summary.warnings > 0 ? 3 : 0;
}

function reported({ span, severity, code, object, path, message, hint }: Diagnostic): ReportedDiagnostic {
  return { file: span.file, line: span.line, column: span.column, severity, code, object, path, message, hint };
}

/** Returns the report for people: each fault with its lines of code, then changes and counts. `texts`: content by file. */
export function formatReport(report: CheckReport, texts: ReadonlyMap<string, string>, paint: Painter): string {
  const files = new Map<string, FrameSource>();
  const sourceOf = (file: string): FrameSource => {
    const known = files.get(file) ?? frameSource(texts.get(file) ?? '');
    files.set(file, known);
    return known;
  };
  const parts = report.diagnostics.map((diagnostic) => {
    const source = sourceOf(diagnostic.file);
    return formatDiagnostic(diagnostic, mayShow(diagnostic, source) ? source.lines : [], paint);
  });
  if (report.changes !== undefined) parts.push(formatChanges(report.changes, paint));
  parts.push(formatSummary(report.summary, paint));
  return parts.join('\n');
}

/** The lines of a file, and whether some of them are the content of a Secret. */
interface FrameSource {
  readonly lines: readonly string[];
  readonly holdsSecret: boolean;
  /** The objects of a List stand line by line, without anything between them. */
  readonly holdsList: boolean;
}

function frameSource(text: string): FrameSource {
  return {
    lines: text.split(/\r\n|\n|\r/),
    holdsSecret: /\bkind["']?\s*:\s*["']?Secret\b/.test(text),
    holdsList: /\bkind["']?\s*:\s*["']?\w*List\b/.test(text),
  };
}

/** Reports go into logs: no line of a Secret is shown, nor one of which nobody knows to whom it belongs, nor one that holds many objects. */
function mayShow({ object, line }: ReportedDiagnostic, { lines, holdsSecret, holdsList }: FrameSource): boolean {
  // A Secret without a name is known by its kind alone, and YAML has more ways to write the word than a pattern finds.
  if (/^Secret(?: |$)/.test(object)) return false;
  if (!holdsSecret) return true;
  if (holdsList) return false;
  const isLong = (lines[line - 1] ?? '').length > FRAME_WIDTH;
  return object !== '' && !isLong;
}

/** Returns one fault: `file:line:col: error[CODE]: object: path: message`, a code frame, and a hint. Without lines there is no frame. */
export function formatDiagnostic(diagnostic: ReportedDiagnostic, lines: readonly string[], paint: Painter): string {
  const { severity, code, hint, line, column } = diagnostic;
  const place = formatSpan(diagnostic);
  const mark = paint(severity === 'error' ? 'red' : 'yellow', `${severity}[${code}]`);
  const head = `${paint('bold', place)}: ${mark}: ${describe(diagnostic)}\n`;
  const frame = line === 0 || lines.length === 0 ? '' : codeFrame(lines, line, column, paint);
  return `${head}${frame}${hint === '' ? '' : `hint: ${hint}\n`}`;
}

function describe({ object, path, message }: ReportedDiagnostic): string {
  return [object, path, message].filter((part) => part !== '').join(': ');
}

/** Longest part of a line that is shown; longer ones are cut around the caret. */
const FRAME_WIDTH = 120;

/** Returns the line with a caret under the column, between the lines before and after it. Lines and columns from 1. */
export function codeFrame(lines: readonly string[], line: number, column: number, paint: Painter): string {
  const first = Math.max(1, line - 1);
  const last = Math.min(lines.length, line + 1);
  const gutter = String(last).length;
  // All three lines are cut at the same column, or they would not stand under each other.
  const cut = Math.max(0, column - FRAME_WIDTH + 20);
  const out: string[] = [];
  for (let number = first; number <= last; number++) {
    const points = [...(lines[number - 1] ?? '')];
    const shown = visible(points.slice(cut, cut + FRAME_WIDTH).join(''));
    const isMarked = number === line;
    if (!isMarked && points.length === 0 && number === lines.length) continue;
    out.push(`${paint('dim', `${String(number).padStart(gutter)} |`)} ${shown}`.trimEnd());
    if (!isMarked) continue;
    const blanks = visible(points.slice(cut, column - 1).join('')).replace(/[^\t]/gu, ' ');
    out.push(`${paint('dim', `${' '.repeat(gutter)} |`)} ${blanks}${paint('red', '^')}`);
  }
  return out.map((text) => `  ${text}\n`).join('');
}

/** Control characters of a file must not reach the terminal. */
function visible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is replaced
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd');
}

function formatChanges(changes: readonly ReportedChange[], paint: Painter): string {
  if (changes.length === 0) return 'no changes against the running instance\n';
  const signs = { added: paint('green', '+'), changed: paint('yellow', '~'), removed: paint('red', '-') };
  const lines = changes.flatMap(({ object, change, fields }) => [
    `${signs[change]} ${object}\n`,
    ...fields.map(({ path, before, after }) => `    ${path}: ${before || '(absent)'} → ${after || '(absent)'}\n`),
  ]);
  return lines.join('');
}

function formatSummary({ files, objects, errors, warnings }: CheckSummary, paint: Painter): string {
  const scope = `${counted(files, 'file')}, ${counted(objects, 'object')}`;
  if (errors === 0 && warnings === 0) return `${paint('green', 'ok')}: ${scope}\n`;
  const counts = [
    ...(errors > 0 ? [paint('red', counted(errors, 'error'))] : []),
    ...(warnings > 0 ? [paint('yellow', counted(warnings, 'warning'))] : []),
  ];
  return `${counts.join(', ')} in ${scope}\n`;
}

/** Returns workflow commands as GitHub Actions reads them: one line for each fault. */
export function formatGithub({ diagnostics }: CheckReport): string {
  const lines = diagnostics.map((diagnostic) => {
    const { file, line, column, severity, code, hint } = diagnostic;
    const place = line === 0 ? '' : `,line=${line},col=${column}`;
    const text = hint === '' ? describe(diagnostic) : `${describe(diagnostic)} (hint: ${hint})`;
    return `::${severity} file=${escapeProperty(file)}${place},title=${code}::${escapeData(text)}\n`;
  });
  return lines.join('');
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
