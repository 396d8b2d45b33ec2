/**
 * `npm run build`: TypeScript to dist/, the addon to native/weirgate.node. Both are incremental: nothing to do takes seconds.
 *
 *     node native/build.mjs [ts] [native]         one of the two only
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, renameSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { missingPrerequisites } from './prerequisites.mjs';

const CLONE = fileURLToPath(new URL('..', import.meta.url));
const TSC = `${CLONE}node_modules/typescript/bin/tsc`;
const ADDON = `${CLONE}native/weirgate.node`;

function fail(...lines) {
  process.stderr.write(`${lines.join('\n')}\n`);
  process.exit(1);
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: CLONE, stdio: 'inherit' });
  if (error !== undefined) fail(`${command} could not be run: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

function buildTypeScript() {
  if (!existsSync(TSC)) fail('the npm packages are not installed: run npm ci first');
  run(process.execPath, [TSC, '-p', '.']);
  chmodSync(`${CLONE}dist/cli/main.js`, 0o755);
}

function buildAddon() {
  const missing = missingPrerequisites();
  if (missing.length > 0) fail(...missing.map((line) => `Weirgate cannot be built: ${line}`));
  run('cargo', [
    'build',
    '--release',
    '--locked',
    '--quiet',
    '--manifest-path',
    'native/Cargo.toml',
    '-p',
    'weirgate-native',
  ]);
  const library = `${process.env.CARGO_TARGET_DIR ?? `${CLONE}native/target`}/release/libweirgate_native.so`;
  if (existsSync(ADDON) && statSync(ADDON).mtimeMs >= statSync(library).mtimeMs) return;
  // Renamed into place: a running instance keeps the file that it has mapped.
  copyFileSync(library, `${ADDON}.new`);
  renameSync(`${ADDON}.new`, ADDON);
}

const wanted = process.argv.slice(2);
for (const part of wanted) if (part !== 'ts' && part !== 'native') fail(`unknown part "${part}": ts, native`);
if (wanted.length === 0 || wanted.includes('native')) buildAddon();
if (wanted.length === 0 || wanted.includes('ts')) buildTypeScript();
