/**
 * What commands print: columns as kubectl has them, colours, JSON and YAML. Pure; terminals and environments are arguments.
 * Serves every command of `cli/`.
 */
import { dump } from 'js-yaml';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Wraps text in a style, or returns it as it is where colours are not wanted. */
export type Painter = (style: Style, text: string) => string;

/** A cell of a table; a style does not count for its width. */
export type Cell = string | { readonly text: string; readonly style: Style };

/** Select Graphic Rendition: the code that begins a style and the one that ends it (ECMA-48 §8.3.117). */
const SGR: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

const COLUMN_GAP = '   ';

/**
 * True when output should be coloured. FORCE_COLOR goes before NO_COLOR, as in Node.js; then TERM=dumb and anything that
 * is no terminal switch colours off.
 */
export function wantsColour(env: Readonly<Record<string, string | undefined>>, isTty: boolean): boolean {
  const force = env.FORCE_COLOR;
  if (force !== undefined) return force !== '0' && force !== 'false';
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
  return isTty && env.TERM !== 'dumb';
}

/** Returns a painter that colours, or one that leaves text alone. */
export function createPainter(colour: boolean): Painter {
  if (!colour) return (_, text) => text;
  return (style, text) => {
    const [begin, end] = SGR[style];
    return `\u001b[${begin}m${text}\u001b[${end}m`;
  };
}

/**
 * Returns lines of left-aligned columns, three blanks apart, without trailing blanks; `''` without rows.
 * The first row is the header, if there is one. Width counts code points.
 */
export function formatColumns(rows: readonly (readonly Cell[])[], paint: Painter = (_, text) => text): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
  }
  return rows.map((row) => `${formatRow(row, widths, paint)}\n`).join('');
}

function formatRow(row: readonly Cell[], widths: readonly number[], paint: Painter): string {
  const last = row.findLastIndex((cell) => textOf(cell) !== '');
  return row
    .slice(0, last + 1)
    .map((cell, column) => {
      const text = typeof cell === 'string' ? cell : paint(cell.style, cell.text);
      return column === last ? text : text + ' '.repeat((widths[column] ?? 0) - widthOf(cell));
    })
    .join(COLUMN_GAP);
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}

function widthOf(cell: Cell): number {
  return [...textOf(cell)].length;
}

/** Returns indented JSON with a line end. */
export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** Returns YAML of what JSON can hold, without anchors and without folded lines. */
export function formatYaml(value: unknown): string {
  return dump(JSON.parse(JSON.stringify(value)), { noRefs: true, lineWidth: -1 });
}

/** Returns `1 error`, `2 errors`: a count with its noun, which takes a plain s. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
