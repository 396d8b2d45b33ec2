/**
 * Text of the OpenMetrics exposition format 1.0: families, samples, labels, `# EOF`. Knows no metric of ours.
 * Serves `metrics.ts`. Source: the OpenMetrics specification, sections on the text format.
 */

export const OPENMETRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

export type Labels = Readonly<Record<string, string | number>>;

/** One number of a family. For counters without the suffix `_total`, which is added. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

export interface Family {
  /** Without `_total`. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'info';
  readonly help: string;
  readonly samples: Iterable<Sample>;
}

/** Lines gathered before they are handed on. */
const CHUNK_LINES = 1_000;

/**
 * Yields the exposition in pieces of some 100 kB at most. A family without samples is left out; each family has to come
 * once, with all of its samples. Values that are no finite number are written as the format wants (`NaN`, `+Inf`).
 */
export function* formatFamilies(families: Iterable<Family>): Generator<string> {
  let lines: string[] = [];
  for (const family of families) {
    const suffix = SUFFIX[family.type];
    let first = true;
    for (const { labels, value } of family.samples) {
      if (first) {
        lines.push(`# TYPE ${family.name} ${family.type}\n`);
        if (UNIT.test(family.name)) lines.push(`# UNIT ${family.name} ${UNIT.exec(family.name)?.[1]}\n`);
        lines.push(`# HELP ${family.name} ${escapeHelp(family.help)}\n`);
        first = false;
      }
      lines.push(`${family.name}${suffix}${formatLabels(labels)} ${formatValue(value)}\n`);
      if (lines.length >= CHUNK_LINES) {
        yield lines.join('');
        lines = [];
      }
    }
  }
  lines.push('# EOF\n');
  yield lines.join('');
}

const SUFFIX = { counter: '_total', gauge: '', info: '_info' } as const;
/** Units that our names end in; the format wants them declared as they are named. */
const UNIT = /_(seconds|bytes)$/;

function formatLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(String(value))}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function formatValue(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
