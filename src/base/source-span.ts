/**
 * Where something stands in a file that a person wrote.
 */
import { compareNumbers, compareStrings, firstDifference } from './order.js';

/** A place in a text file. `line` and `column` count from 1, columns in code points; 0 means the file as a whole. */
export interface SourceSpan {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Returns the span that stands for a whole file. */
export function wholeFile(file: string): SourceSpan {
  return { file, line: 0, column: 0 };
}

/** Orders spans by file, line and column. */
export function compareSpans(a: SourceSpan, b: SourceSpan): number {
  return firstDifference(
    compareStrings(a.file, b.file),
    compareNumbers(a.line, b.line),
    compareNumbers(a.column, b.column),
  );
}

/** Returns `file:line:column`, or the file alone when the span is a whole file. */
export function formatSpan(span: SourceSpan): string {
  return span.line === 0 ? span.file : `${span.file}:${span.line}:${span.column}`;
}
