/**
 * A limit for work that may not end: regular expressions of users run in JavaScript's engine, which goes back and forth, and
 * `(a+)+` takes it years where the data plane takes microseconds.
 */
import { runInNewContext } from 'node:vm';
import { err, ok, type Result } from '../base/index.js';

/** Returns what `task` returns, or `late` when it is not ready after so many milliseconds; it is then stopped, wherever it is. */
export function withinTime<T>(limitMs: number, task: () => T): Result<T, 'late'> {
  try {
    return ok(runInNewContext('task()', { task }, { timeout: limitMs }) as T);
  } catch (error) {
    // No instanceof: the error comes from the other context.
    if ((error as NodeJS.ErrnoException | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return err('late');
    throw error;
  }
}
