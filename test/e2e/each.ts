/** A table of cases as tests. */
import { test } from 'vitest';

/** One test for each row; `$name` in the title is that field's bare text (vitest would quote and cut it). */
export function each<T extends object>(
  rows: readonly T[],
): (title: string, run: (row: T) => Promise<void> | void) => void {
  return (title, run) => {
    for (const row of rows) {
      const fields = row as Readonly<Record<string, unknown>>;
      test(
        title.replace(/\$(\w+)/g, (_, name: string) => String(fields[name])),
        () => run(row),
      );
    }
  };
}
