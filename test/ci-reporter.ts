/**
 * Vitest reporter of CI: a skipped, pending or todo test is a failure there, and the counts go to a file for `.ci/run`.
 * Without CI=true it does nothing. Serves both vitest configurations.
 */
import { appendFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

export class CiReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (process.env.CI !== 'true') return;
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[state] += 1;
        if (state === 'skipped' || state === 'pending')
          console.error(`skipped, which is a failure in CI: ${test.fullName}`);
      }
    }
    const file = process.env.WEIRGATE_TEST_COUNTS;
    if (file !== undefined)
      appendFileSync(file, `${counts.passed} ${counts.failed} ${counts.skipped + counts.pending}\n`);
    if (counts.skipped + counts.pending > 0) process.exitCode = 1;
  }
}
