/** `npm start` as a new user has it: it says what to try, what it says is true, and Ctrl-C ends all of it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { atEnd } from './at-end.js';
import { freePort, until, weirgate } from './instance.js';
import { ask } from './peers.js';
import { processGroup } from './processes.js';
import { Wire } from './wire.js';

const CLONE = fileURLToPath(new URL('../..', import.meta.url));
const DEMO_BACKENDS = 4;

interface QuickStart {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly exit: () => { readonly code: number | null } | undefined;
  /** What finds this instance in place of the user's own. */
  readonly env: Record<string, string>;
}

/** Starts it in a process group of its own, as a shell does, with folders of its own. */
function npmStart(args: readonly string[]): QuickStart {
  const folder = mkdtempSync(join(tmpdir(), 'weirgate-e2e-'));
  const env = { RUNTIME_DIRECTORY: join(folder, 'run'), STATE_DIRECTORY: join(folder, 'state'), NO_COLOR: '1' };
  const child = spawn('npm', ['start', '--silent', '--', ...args], {
    cwd: CLONE,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NOTIFY_SOCKET: '', ...env },
  });
  let output = '';
  let exit: { code: number | null } | undefined;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  child.once('exit', (code) => {
    exit = { code };
  });
  atEnd(async () => {
    for (const pid of processGroup(child.pid ?? -1)) process.kill(pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  return { child, output: () => output, exit: () => exit, env };
}

/** The first of so many free ports in a row. */
async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = await freePort();
    const servers = await Promise.all(
      Array.from(
        { length: count },
        (_, i) =>
          new Promise<ReturnType<typeof createServer> | undefined>((resolve) => {
            const server = createServer();
            server.once('error', () => resolve(undefined));
            server.listen(first + i, '127.0.0.1', () => resolve(server));
          }),
      ),
    );
    for (const server of servers) server?.close();
    if (!servers.includes(undefined)) return first;
  }
}

it('serves what it says, and Ctrl-C leaves no process behind', async () => {
  const [http, tcp, demo] = [await freePort(), await freePort(), await freePorts(DEMO_BACKENDS)];
  const { child, output, exit, env } = npmStart([
    ...['--http-port', `${http}`],
    ...['--tcp-port', `${tcp}`],
    ...['--demo-port', `${demo}`],
  ]);
  await until('it says what to try', () => output().includes('Ctrl-C ends everything') || exit() !== undefined, 25_000);
  expect(output()).toContain(`curl -H 'Host: hello.localhost' http://127.0.0.1:${http}/`);
  expect((await ask(http, { host: 'hello.localhost' })).body).toMatch(/^backend: hello$/m);
  expect((await ask(http, { host: 'other.localhost' })).status).toBe(404);
  const answers = [];
  for (let i = 0; i < 10; i += 1) answers.push((await ask(http, { host: 'split.localhost' })).body.split('\n')[0]);
  expect(answers.filter((line) => line === 'backend: blue')).toHaveLength(8);
  expect(answers.filter((line) => line === 'backend: green')).toHaveLength(2);
  const wire = await Wire.connect(tcp);
  await wire.write('over TCP\n');
  expect((await wire.take(9)).toString()).toBe('over TCP\n');
  wire.socket.destroy();
  const status = await weirgate(['status'], env);
  expect(status).toMatchObject({ status: 0, stderr: '' });
  expect(status.stdout).toMatch(/^quickstart .*True/m);

  const group = child.pid ?? -1;
  // npm, its shell, the start script, the demo backends, the primary, its workers and the spare.
  expect(processGroup(group).length).toBeGreaterThanOrEqual(6);
  process.kill(-group, 'SIGINT');
  await until('all processes have ended', () => processGroup(group).length === 0);
  await until('npm has ended', () => exit() !== undefined);
  await expect(ask(http)).rejects.toThrow('ECONNREFUSED');
}, 40_000);

it('names a port that is in use, and the option that chooses another', async () => {
  const taken = createServer();
  const port = await new Promise<number>((resolve) => {
    taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port));
  });
  try {
    const { output, exit } = npmStart(['--http-port', `${port}`, '--tcp-port', `${await freePort()}`]);
    await until('it has ended', () => exit() !== undefined, 20_000);
    expect(exit()?.code).not.toBe(0);
    expect(output()).toContain(`port 127.0.0.1:${port} is in use by another program`);
    expect(output()).toContain('npm start -- --http-port');
  } finally {
    taken.close();
  }
});
