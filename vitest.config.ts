/** Every test that needs no special right; those that need root have test/vitest.root.config.ts. */
import { defineConfig } from 'vitest/config';
import { CiReporter } from './test/ci-reporter.js';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/systemd/**', 'test/**/*.root.test.ts'],
    // The addon must not be loaded into threads of a pool: processes only.
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default', new CiReporter()],
  },
});
