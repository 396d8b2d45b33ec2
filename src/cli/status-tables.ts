/**
 * Tables of objects and of listeners, filled an object at a time: of 100,000 objects the cells are kept, not the objects.
 * Pure. Serves `status.ts`.
 */
import type { Fault, ListedObject } from '../ipc/admin-protocol.js';
import { type Cell, formatColumns, type Painter } from './output.js';
import { columnsOf } from './status-columns.js';
import { LISTENER_COLUMNS, LISTENER_WIDE, listenerRows } from './status-listeners.js';

/** How much a table shows. */
export interface TableOptions {
  readonly wide: boolean;
  readonly now: Date;
  readonly paint: Painter;
}

/** What stands around the rows. */
export interface TableLayout {
  /** A column NAMESPACE even where there is one namespace only. */
  readonly allNamespaces: boolean;
  /** The name of the kind in place of NAME, where other tables stand beside. */
  readonly isNamed: boolean;
}

interface Row {
  readonly namespace: string | undefined;
  readonly cells: readonly string[];
}

/** Rows of one kind. */
export class Table {
  readonly #header: readonly string[];
  readonly #options: TableOptions;
  readonly #cellsOf: (object: ListedObject) => readonly (readonly string[])[];
  readonly #title: string;
  readonly #rows: Row[] = [];
  readonly #namespaces = new Set<string | undefined>();

  private constructor(
    title: string,
    header: readonly string[],
    cellsOf: (object: ListedObject) => readonly (readonly string[])[],
    options: TableOptions,
  ) {
    this.#title = title;
    this.#header = header;
    this.#cellsOf = cellsOf;
    this.#options = options;
  }

  /** A line for each object of a kind, with kubectl's columns. */
  static ofKind(kind: string, options: TableOptions): Table {
    const { names, wide, row, wideRow } = columnsOf(kind);
    const header = ['NAME', ...names, 'AGE', ...(options.wide ? wide : [])];
    const cellsOf = (object: ListedObject): string[][] => {
      const { name, creationTimestamp } = object.metadata;
      const more = options.wide ? wideRow(object) : [];
      return [[name, ...row(object), age(creationTimestamp, options.now), ...more]];
    };
    return new Table(kind.toUpperCase(), header, cellsOf, options);
  }

  /** A line for each listener of Gateways and ListenerSets. */
  static ofListeners(options: TableOptions): Table {
    const header = [...LISTENER_COLUMNS, ...(options.wide ? LISTENER_WIDE : [])];
    return new Table('LISTENER', header, (object) => listenerRows(object, options.wide), options);
  }

  add(object: ListedObject): void {
    const { namespace } = object.metadata;
    this.#namespaces.add(namespace);
    for (const cells of this.#cellsOf(object)) this.#rows.push({ namespace, cells });
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0;
  }

  /** Returns the table, its header first; `''` without rows. The column NAMESPACE is there where objects are in more than one. */
  format({ allNamespaces, isNamed }: TableLayout): string {
    if (this.isEmpty) return '';
    const [first = '', ...others] = this.#header;
    const isSpread = (allNamespaces && !this.#namespaces.has(undefined)) || this.#namespaces.size > 1;
    const header = [...(isSpread ? ['NAMESPACE'] : []), isNamed ? this.#title : first, ...others];
    return formatColumns(
      [
        header.map((name): Cell => ({ text: name, style: 'bold' })),
        ...this.#rows.map(({ namespace, cells }) => [
          ...(isSpread ? [namespace ?? ''] : []),
          ...cells.map(paintVerdict),
        ]),
      ],
      this.#options.paint,
    );
  }
}

/** Returns the faults, each on a line that says what and why; `''` without any. */
export function formatFaults(faults: readonly Fault[], total: number, paint: Painter): string {
  const lines = faults.map(({ object, part, condition, reason, message }) => {
    const where = part === '' ? object : `${object}, ${part}`;
    return `${paint('red', '✗')} ${where}: ${condition} ${reason}: ${message}\n`;
  });
  if (total > faults.length) lines.push(`… and ${total - faults.length} more\n`);
  return lines.join('');
}

/** Returns a time span in its two largest units, as kubectl does: `45s`, `3m12s`, `5h3m`, `12d`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m${whole % 60 === 0 ? '' : `${whole % 60}s`}`;
  const hours = Math.floor(whole / 3600);
  if (hours < 48)
    return `${hours}h${Math.floor((whole % 3600) / 60) === 0 ? '' : `${Math.floor((whole % 3600) / 60)}m`}`;
  return `${Math.floor(hours / 24)}d`;
}

/** Files carry no age unless somebody wrote one. */
function age(created: string | undefined, now: Date): string {
  return created === undefined ? '-' : duration((now.getTime() - Date.parse(created)) / 1000);
}

function paintVerdict(cell: string): Cell {
  if (cell === 'True') return { text: cell, style: 'green' };
  return cell === 'False' || cell === 'Unknown' ? { text: cell, style: 'red' } : cell;
}
