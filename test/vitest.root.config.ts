/** The tests that need root: `npm run test:root`. They boot systemd in namespaces of their own and change nothing here. */
import { defineConfig } from 'vitest/config';
import { CiReporter } from './ci-reporter.js';

export default defineConfig({
  test: {
    include: ['test/systemd/**/*.test.ts', 'test/**/*.root.test.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 60_000,
    reporters: ['default', new CiReporter()],
  },
});
