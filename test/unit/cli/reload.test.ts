/** Exit statuses of `weirgate reload`, against an admin socket that answers as told. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { reloadCommand } from '../../../src/cli/reload.js';
import type { ReloadAnswer } from '../../../src/ipc/admin-protocol.js';

let folder: string;
let exitCode: typeof process.exitCode;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weirgate-reload-'));
  exitCode = process.exitCode;
  vi.stubEnv('NO_COLOR', '1');
  vi.stubEnv('FORCE_COLOR', undefined);
});
afterEach(() => {
  process.exitCode = exitCode;
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

const ANSWER: ReloadAnswer = {
  outcome: 'programmed',
  generation: 4,
  changes: [],
  diagnostics: [],
  message: '',
  durationMs: 12,
};

interface Ran {
  readonly status: typeof process.exitCode;
  readonly stdout: string;
  readonly stderr: string;
  readonly asked: string[];
}

/** Runs the command against a socket that answers once so. */
async function reload(status: number, body: string, ...args: string[]): Promise<Ran> {
  const path = join(folder, 'admin.sock');
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(status).end(body);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
  return { ...(await run('--admin', `unix:${path}`, ...args)), asked };
}

async function run(...args: string[]): Promise<Omit<Ran, 'asked'>> {
  const stdout = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  await reloadCommand().parseAsync(args, { from: 'user' });
  const textOf = (spy: typeof stdout): string => spy.mock.calls.map(([text]) => String(text)).join('');
  return { status: process.exitCode, stdout: textOf(stdout), stderr: textOf(stderr) };
}

describe('a reload ends', () => {
  it('with 0 when it is programmed', async () => {
    const { status, stdout, stderr } = await reload(200, JSON.stringify(ANSWER), '--wait');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('generation 4 serves');
  });

  it('with 0 when there was nothing to do', async () => {
    const { status } = await reload(200, JSON.stringify({ ...ANSWER, outcome: 'unchanged' }), '--wait');
    expect(status).toBe(0);
  });

  it('with 0 at once when nobody waits', async () => {
    const { status, stdout, asked } = await reload(202, JSON.stringify({ ...ANSWER, outcome: 'requested' }));
    expect({ status, stdout, asked }).toEqual({ status: 0, stdout: 'reload requested\n', asked: ['POST /reload'] });
  });

  it('with 1 when it is refused, and says what goes on serving and why', async () => {
    const diagnostic = {
      severity: 'error',
      code: 'WG2001',
      object: 'Gateway default/edge',
      path: 'spec',
      message: 'is missing',
      hint: '',
      span: { file: 'edge.yaml', line: 3, column: 5 },
    };
    const refused = { ...ANSWER, outcome: 'refused', diagnostics: [diagnostic] };
    const { status, stdout, stderr, asked } = await reload(422, JSON.stringify(refused), '--wait');
    expect({ status, stdout, asked }).toEqual({ status: 1, stdout: '', asked: ['POST /reload?wait=1'] });
    expect(stderr).toContain('edge.yaml:3:5');
    expect(stderr).toContain('generation 4 goes on serving: its files have errors');
  });

  it('with 1 when a part could not be programmed, and names it after what was', async () => {
    const { status, stdout, stderr } = await reload(
      200,
      JSON.stringify({ ...ANSWER, message: 'port 80 is taken' }),
      '--wait',
    );
    expect(status).toBe(1);
    expect(stdout).toContain('generation 4 serves');
    expect(stderr).toContain('port 80 is taken');
  });

  it('with 1 when the instance fails, and repeats what it said', async () => {
    const { status, stderr } = await reload(500, 'out of luck\n', '--wait');
    expect({ status, stderr }).toEqual({ status: 1, stderr: 'error: the instance answered 500: out of luck\n' });
  });

  it('with 2 when the address is none', async () => {
    expect(await run('--admin', 'tcp:127.0.0.1:80')).toMatchObject({ status: 2, stdout: '' });
  });

  it('with 4 when nobody is there', async () => {
    const { status, stderr } = await run('--admin', `unix:${join(folder, 'nobody.sock')}`);
    expect(status).toBe(4);
    expect(stderr).toContain('no instance is running');
  });
});
