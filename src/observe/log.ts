/**
 * The primary's log: pino on stderr, one JSON object a line, written at once. Serves `primary/` and `cli/`.
 * Under systemd each line carries its priority (`<4>…`, sd-daemon(3)), so that `journalctl -p warning` works.
 */
import { fstatSync, writeSync } from 'node:fs';
import { type Logger, pino } from 'pino';

export type Log = Logger;

const STDERR = 2;
/** Syslog priorities of pino's levels: fatal, error, warn, info; everything below is debug. */
const PRIORITIES: readonly (readonly [level: number, priority: number])[] = [
  [60, 2],
  [50, 3],
  [40, 4],
  [30, 6],
];

export interface LogOptions {
  /** `trace` … `fatal`, `silent`; default `info`. */
  readonly level?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Where lines go; default standard error. */
  readonly write?: (line: string) => void;
}

/** Returns the log of this process. A line that cannot be written is dropped: a full pipe must not stop the primary. */
export function openLog(options: LogOptions = {}): Log {
  const write = options.write ?? writeStderr;
  const prefixed = isJournal(options.env ?? process.env);
  const stream = {
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 30,
    write(line: string): void {
      write(prefixed ? `<${priorityOf(stream.lastLevel)}>${line}` : line);
    },
  };
  return pino(
    {
      level: options.level ?? 'info',
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
}

/** Returns the syslog priority of a pino level. */
export function priorityOf(level: number): number {
  return PRIORITIES.find(([least]) => level >= least)?.[1] ?? 7;
}

/** True when standard error is the journal's own socket, not merely inherited in the environment (systemd.exec(5)). */
function isJournal(env: NodeJS.ProcessEnv): boolean {
  const stream = env.JOURNAL_STREAM;
  if (stream === undefined) return false;
  try {
    const { dev, ino } = fstatSync(STDERR);
    return stream === `${dev}:${ino}`;
  } catch {
    return false;
  }
}

function writeStderr(line: string): void {
  try {
    writeSync(STDERR, line);
  } catch {
    // EAGAIN or EPIPE: see openLog.
  }
}
