/**
 * Collects the diagnostics of one file. Knows the file's name and lines, so that stages speak in offsets and paths only.
 */
import type { Diagnostic, DiagnosticCode, Severity } from '../base/index.js';
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
    this.diagnostics.push({
      severity: remark.severity ?? 'error',
      code: remark.code,
      object,
      path: remark.path ?? '',
      message: remark.message,
      hint: remark.hint ?? '',
      span: { file: this.file, line, column },
    });
  }
}
