/**
 * The package as users install it: packed, installed globally, run. Needs no root but the registry, for the four
 * dependencies; it is among the tests of CI, so that the others work without a network.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { atEnd } from './at-end.js';
import { freePort, until } from './instance.js';
import { simpleHttp } from './manifests.js';
import { ask, httpBackend } from './peers.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

it('npm pack and npm install -g give a weirgate that runs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weirgate-package-'));
  atEnd(async () => rmSync(folder, { recursive: true, force: true }));
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT });
  const [archive = ''] = readdirSync(folder);
  const prefix = join(folder, 'prefix');
  execFileSync('npm', [
    'install',
    '-g',
    '--silent',
    '--no-audit',
    '--no-fund',
    '--prefix',
    prefix,
    join(folder, archive),
  ]);
  const command = join(prefix, 'bin/weirgate');
  const run = (...args: readonly string[]): string =>
    execFileSync(command, args, { cwd: '/', encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } });
  expect(run('--version')).toMatch(/^weirgate \d+\.\d+\.\d+ \(layout [0-9a-f]{16}\)\n$/);
  expect(run('check', join(prefix, 'lib/node_modules/weirgate/config/quickstart'))).toMatch(/^ok: /);

  const [port, upstream] = [await freePort(), await httpBackend('up')];
  mkdirSync(join(folder, 'config'));
  writeFileSync(join(folder, 'config/edge.yaml'), simpleHttp(port, upstream.port));
  const state = ['--state', join(folder, 'state'), '--admin', `unix:${folder}/admin.sock`];
  const primary = spawn(command, ['run', '-c', join(folder, 'config'), ...state], { cwd: '/' });
  atEnd(async () => {
    primary.kill('SIGKILL');
  });
  let output = '';
  let ended: number | null | undefined;
  for (const stream of [primary.stdout, primary.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  primary.once('exit', (code) => {
    ended = code;
  });
  await until('it is ready', () => /^ready pid=/m.test(output) || ended !== undefined, 20_000);
  expect(ended, output).toBeUndefined();
  expect((await ask(port)).status).toBe(200);
  expect(run('status', '--admin', `unix:${folder}/admin.sock`)).toMatch(/^edge +weirgate +127\.0\.0\.1 +True/m);
  primary.kill('SIGTERM');
  await until('it has ended', () => ended !== undefined);
  expect(ended).toBe(0);
});
