/**
 * Collects the diagnostics of one file. Knows the file's name and lines, so that stages speak in offsets and paths only.
 */
import type { Diagnostic, DiagnosticCode, Severity, SourceSpan } from '../base/index.js';
import { MAX_TEXT } from './limits.js';
import type { LineMap } from './line-map.js';

/** What a stage says; the rest is filled in. */
export interface Remark {
  readonly code: DiagnosticCode;
  readonly severity?: Severity;
  readonly path?: string;
  readonly message: string;
  readonly hint?: string;
}

/** The diagnostics of one file. */
export class FileReport {
  readonly diagnostics: Diagnostic[] = [];
  readonly file: string;
  readonly lines: LineMap;

  constructor(file: string, lines: LineMap) {
    this.file = file;
    this.lines = lines;
  }

  /** Adds a remark about an object (`''`: none) at an offset of the file. */
  add(object: string, offset: number, remark: Remark): void {
    const { line, column } = this.lines.place(offset);
    this.addAt(object, { file: this.file, line, column }, remark);
  }

  /** Adds a remark about an object at a place that is known. */
  addAt(object: string, span: SourceSpan, { severity = 'error', code, path = '', message, hint = '' }: Remark): void {
    this.diagnostics.push({
      severity,
      code,
      object: cut(object),
      path: cut(path),
      message: cut(message),
      hint: cut(hint),
      span,
    });
  }
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;
}
