/**
 * Turns offsets of a text into lines and columns. Serves the YAML reader only.
 */
import type { Place } from '../gateway-api/index.js';

/** Lines of one text. Lookups in rising order cost O(1), others O(log lines). */
export class LineMap {
  readonly #text: string;
  readonly #starts: readonly number[];
  /** Without surrogate pairs a column is a difference of offsets. */
  readonly #astral: boolean;
  #last = 0;

  constructor(text: string) {
    this.#text = text;
    this.#starts = lineStarts(text);
    this.#astral = /[\ud800-\udbff]/.test(text);
  }

  /** Returns the place of an offset; line and column from 1, columns in code points. */
  place(offset: number): Place {
    const line = this.#lineOf(offset);
    const start = this.#starts[line] ?? 0;
    if (!this.#astral) return { line: line + 1, column: offset - start + 1 };
    let column = 1;
    for (let at = start; at < offset; column++) at += (this.#text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
    return { line: line + 1, column };
  }

  #lineOf(offset: number): number {
    const starts = this.#starts;
    const end = (line: number): number => starts[line + 1] ?? Number.POSITIVE_INFINITY;
    for (let line = this.#last; line <= this.#last + 1; line++) {
      if (offset >= (starts[line] ?? Number.POSITIVE_INFINITY) && offset < end(line)) {
        this.#last = line;
        return line;
      }
    }
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    this.#last = low;
    return low;
  }
}

/** Line breaks are LF, CR LF and, as YAML 1.2 §5.4 says, CR alone. */
function lineStarts(text: string): number[] {
  const starts = [0];
  const bareReturns = text.includes('\r');
  for (let at = 0; at < text.length; ) {
    let next = text.indexOf('\n', at);
    if (bareReturns) {
      const carriage = text.indexOf('\r', at);
      if (carriage !== -1 && (next === -1 || carriage < next - 1)) next = carriage;
    }
    if (next === -1) break;
    at = next + 1;
    starts.push(at);
  }
  return starts;
}
