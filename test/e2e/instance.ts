/**
 * A running Weirgate for end-to-end tests: the built command line, a configuration folder of its own, no fixed port.
 * Everything that is started here is ended by pid when the test is over.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Overview } from '../../src/ipc/admin-protocol.js';
import { atEnd } from './at-end.js';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface CommandResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `weirgate …` to its end. */
export function weirgate(args: readonly string[], env: Record<string, string> = {}): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [MAIN, ...args],
      { env: { ...process.env, NO_COLOR: '1', ...env }, maxBuffer: 1 << 26 },
      (error, stdout, stderr) => {
        resolve({ status: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, stdout, stderr });
      },
    );
  });
}

/** Ports below those that the kernel gives to clients and to listeners without a wish: none of them takes ours meanwhile. */
const FIRST_PORT = 10_240;
const PORTS = ((firstOfKernel: number) => (firstOfKernel > 12_000 ? firstOfKernel : 60_000) - FIRST_PORT)(
  Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s/)[0]),
);
/** Test processes that run at the same time begin far from each other. */
let nextPort = process.pid * 131;

/** Returns a loopback port that nobody has at this moment, another one at each call. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let tries = 0; tries < PORTS; tries += 1) {
    nextPort = (nextPort + 1) % PORTS;
    const port = FIRST_PORT + nextPort;
    if (await isFree(port, host)) return port;
  }
  throw new Error('no port is free');
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}

export interface InstanceOptions {
  /** File name → content. */
  readonly files: Readonly<Record<string, string>>;
  /** Default 2; `configured`: what the files say. */
  readonly workers?: number | 'configured';
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Command (and its arguments) that starts node, for instance `prlimit --nofile=300`. */
  readonly wrapper?: readonly string[];
  readonly nodeArgs?: readonly string[];
}

export class Instance {
  readonly folder: string;
  readonly admin: string;
  stdout = '';
  stderr = '';
  exit: { code: number | null; signal: string | null } | undefined;
  readonly #child: ChildProcess;

  private constructor(folder: string, child: ChildProcess) {
    this.folder = folder;
    this.admin = `unix:${folder}/admin.sock`;
    this.#child = child;
    child.stdout?.on('data', (chunk: Buffer) => {
      this.stdout += chunk.toString();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    child.once('exit', (code, signal) => {
      this.exit = { code, signal };
    });
  }

  /** Starts an instance; resolves when it says `ready`, or throws with its log when it ends before. */
  static async start(options: InstanceOptions): Promise<Instance> {
    const instance = Instance.launch(options);
    await until(
      'the instance is ready',
      () => /^ready pid=/m.test(instance.stdout) || instance.exit !== undefined,
      30_000,
    );
    if (instance.exit !== undefined)
      throw new Error(`weirgate ended: ${JSON.stringify(instance.exit)}\n${instance.stderr}`);
    return instance;
  }

  /** Starts an instance without waiting for it. */
  static launch(options: InstanceOptions): Instance {
    const folder = mkdtempSync(join(tmpdir(), 'weirgate-e2e-'));
    mkdirSync(join(folder, 'config'));
    for (const [name, content] of Object.entries(options.files)) writeFileSync(join(folder, 'config', name), content);
    const command = [
      ...(options.wrapper ?? []),
      process.execPath,
      ...(options.nodeArgs ?? []),
      MAIN,
      'run',
      '-c',
      join(folder, 'config'),
      ...(options.workers === 'configured' ? [] : ['--workers', String(options.workers ?? 2)]),
      '--state',
      join(folder, 'state'),
      '--admin',
      `unix:${folder}/admin.sock`,
      ...(options.args ?? []),
    ];
    const [file = '', ...args] = command;
    const child = spawn(file, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NOTIFY_SOCKET: '', ...options.env },
    });
    const instance = new Instance(folder, child);
    atEnd(async () => {
      await instance.kill();
      rmSync(folder, { recursive: true, force: true });
    });
    return instance;
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  /** Replaces a file of the configuration, at once as a whole; nothing is reloaded by that. */
  write(name: string, content: string): void {
    const path = join(this.folder, 'config', name);
    // A load that runs just now must not meet half of it.
    writeFileSync(join(this.folder, 'next'), content);
    renameSync(join(this.folder, 'next'), path);
  }

  remove(name: string): void {
    rmSync(join(this.folder, 'config', name));
  }

  command(...args: readonly string[]): Promise<CommandResult> {
    return weirgate([...args, '--admin', this.admin]);
  }

  /** `weirgate reload --wait`. */
  reload(): Promise<CommandResult> {
    return this.command('reload', '--wait');
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async status(): Promise<{ items: readonly StatusObject[]; metadata: { weirgate: Overview } }> {
    const { stdout, stderr } = await this.command('status', '-A', '-o', 'json');
    if (stdout === '') throw new Error(`status printed nothing: ${stderr}`);
    return JSON.parse(stdout);
  }

  /** One value of /metrics; `labels` must all be there. 0 when there is no such series. Several series are summed. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const text = await this.metrics();
    let sum = 0;
    for (const line of text.split('\n')) {
      if (!line.startsWith(`${name}{`) && !line.startsWith(`${name} `)) continue;
      if (!Object.entries(labels).every(([key, value]) => line.includes(`${key}="${value}"`))) continue;
      sum += Number(line.slice(line.lastIndexOf(' ') + 1));
    }
    return sum;
  }

  async metrics(): Promise<string> {
    return await this.askAdmin('GET', '/metrics');
  }

  /** `metadata.weirgate` of the status, without the cost of a process. */
  async overview(): Promise<Overview> {
    return JSON.parse(await this.askAdmin('GET', '/overview'));
  }

  /** The body of an answer of the admin socket, whatever its status. */
  askAdmin(method: 'GET' | 'POST', path: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const call = request({ socketPath: `${this.folder}/admin.sock`, method, path, agent: false }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.once('error', reject);
        response.on('end', () => resolve(text));
      });
      call.once('error', reject);
      call.end();
    });
  }

  /** Pids of all worker processes, serving or spare: the children of the primary. */
  workerPids(): number[] {
    return children(this.pid);
  }

  /** SIGTERM, and the exit it leads to. */
  async stop(): Promise<{ code: number | null; signal: string | null }> {
    this.#child.kill('SIGTERM');
    await until('the instance has ended', () => this.exit !== undefined, 40_000);
    return this.exit ?? { code: null, signal: null };
  }

  async kill(): Promise<void> {
    const workers = this.exit === undefined ? this.workerPids() : [];
    this.#child.kill('SIGKILL');
    for (const pid of workers) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It is gone already.
      }
    }
    await until('the instance has ended', () => this.exit !== undefined, 10_000);
  }
}

export interface StatusObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly status?: { readonly [field: string]: unknown };
}

/** Pids whose parent is `pid`. */
export function children(pid: number): number[] {
  const found: number[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
      if (parent === String(pid)) found.push(Number(name));
    } catch {
      // It ended meanwhile.
    }
  }
  return found;
}

/** Asks again (each 10 ms, or when the loop is free) until `ready` says yes; throws with `what` after `limitMs`. */
export async function until(what: string, ready: () => boolean | Promise<boolean>, limitMs = 10_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await ready())) {
    if (Date.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
