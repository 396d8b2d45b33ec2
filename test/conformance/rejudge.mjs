// Runs rejudge.ts, which is TypeScript as everything beside it.
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const { module } = await runnerImport(fileURLToPath(new URL('rejudge.ts', import.meta.url)));
module.rejudge();
