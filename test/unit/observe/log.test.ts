/** Lines of the primary's log. */
import { fstatSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type LogOptions, openLog, priorityOf } from '../../../src/observe/log.js';

function lines(options: LogOptions, write: (log: ReturnType<typeof openLog>) => void): string[] {
  const written: string[] = [];
  write(openLog({ env: {}, write: (line) => written.push(line), ...options }));
  return written;
}

describe('the log', () => {
  it('writes one JSON object a line, with level, time and pid', () => {
    const [line] = lines({}, (log) => log.warn({ worker: 3 }, 'worker ended'));
    expect(line).toMatch(/\n$/);
    expect(JSON.parse(line as string)).toMatchObject({
      level: 'warn',
      pid: process.pid,
      worker: 3,
      msg: 'worker ended',
    });
  });

  it('carries priorities only when standard error is the journal itself', () => {
    const { dev, ino } = fstatSync(2);
    const write = (log: ReturnType<typeof openLog>): void => log.error('x');
    expect(lines({ env: { JOURNAL_STREAM: `${dev}:${ino}` } }, write)[0]).toMatch(/^<3>\{/);
    expect(lines({ env: { JOURNAL_STREAM: '1:1' } }, write)[0]).toMatch(/^\{/);
  });

  it.each([
    [60, 2],
    [50, 3],
    [40, 4],
    [30, 6],
    [20, 7],
    [10, 7],
  ])('has for level %i the syslog priority %i', (level, priority) => {
    expect(priorityOf(level)).toBe(priority);
  });

  it('leaves out what is below its level', () => {
    expect(lines({ level: 'error' }, (log) => log.warn('x'))).toEqual([]);
  });
});
