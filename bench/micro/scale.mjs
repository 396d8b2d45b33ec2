/**
 * `npm run bench:scale`: what configurations of 1,000, 10,000 and 100,000 HTTPRoutes cost, on one thread in process and in
 * a real primary with one worker: start, start again with the same files, one changed object, memory. Needs `npm run build`.
 *
 *     npm run bench:scale -- [--sizes 1000,10000] [--formats yaml,json] [--in-process | --primary]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { admitSnapshot, admitText } from '../../dist/admit/index.js';
import { CAPABILITIES, compile, SlotBook } from '../../dist/compile/compile.js';
import { askAdmin } from '../../dist/ipc/admin-client.js';
import { lower } from '../../dist/lower/index.js';
import { resolve } from '../../dist/resolve/index.js';
import { buildStatus } from '../../dist/status/index.js';
import { corpus, crowd, teamFile } from './scale-corpus.mjs';

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1000,10000,100000' },
    formats: { type: 'string', default: 'yaml,json' },
    'in-process': { type: 'boolean', default: false },
    primary: { type: 'boolean', default: false },
  },
});
const SIZES = options.sizes.split(',').map(Number);
const FORMATS = options.formats.split(',');
/** What a host without peculiarities knows. */
const FACTS = { hasIpv6: true, hostAddresses: ['192.0.2.10'], bindFailures: [], assignedAddresses: {} };
const PORT_IN_PROCESS = 8080;
/** Changes of one object that are measured; the median counts. */
const CHANGES = 7;
/** Garbage of a load is gone by then. */
const SETTLE_MS = 15_000;
const CROWD_LISTENERS = 64;

function timed(task) {
  const startedAt = performance.now();
  const value = task();
  return { value, ms: performance.now() - startedAt };
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

function printTable(title, columns, rows) {
  const lines = [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`);
  process.stdout.write(`\n${title}\n\n${lines.join('')}`);
}

const ms = (figure) => `${figure.toFixed(figure < 10 ? 1 : 0)} ms`;

// ── in process ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** Times of each step over files that are there already, one thread, nothing warm. */
function stepsOf(files) {
  const parse = timed(() => files.map(({ name, text }) => admitText(name, text)));
  const snapshot = timed(() => admitSnapshot(parse.value));
  const [fault] = snapshot.value.diagnostics;
  if (fault !== undefined) throw new Error(`the bench's own configuration: ${fault.object}: ${fault.message}`);
  const resolved = timed(() => resolve(snapshot.value, FACTS, CAPABILITIES));
  const { model, findings } = resolved.value;
  const status = timed(() => buildStatus(model, findings));
  const lowered = timed(() => lower(model));
  const compiled = timed(() => compile(lowered.value, new SlotBook(), 1));
  return {
    parse: parse.ms,
    snapshot: snapshot.ms,
    resolve: resolved.ms,
    status: status.ms,
    lower: lowered.ms,
    compile: compiled.ms,
  };
}

function benchSteps() {
  const rows = [];
  for (const size of SIZES) {
    for (const format of FORMATS) {
      const files = corpus(size, format, PORT_IN_PROCESS);
      const megabytes = files.reduce((sum, { text }) => sum + text.length, 0) / 1e6;
      const steps = Object.values(stepsOf(files));
      rows.push([size.toLocaleString('en'), `${format}, ${megabytes.toFixed(1)} MB`, ...steps.map(ms)]);
    }
  }
  const columns = ['routes', 'files', 'parse', 'snapshot', 'resolve', 'status', 'lower', 'compile'];
  printTable('One thread, in process, from nothing:', columns, rows);
}

/** Routes that attach to every listener of one Gateway: attachments grow by the product. */
function benchCrowd() {
  const rows = SIZES.map((size) => {
    const { parse, ...steps } = stepsOf([crowd(size, CROWD_LISTENERS, 'yaml', PORT_IN_PROCESS)]);
    const attachments = (size * CROWD_LISTENERS).toLocaleString('en');
    return [size.toLocaleString('en'), attachments, ...Object.values(steps).map(ms)];
  });
  const columns = ['routes', 'attachments', 'snapshot', 'resolve', 'status', 'lower', 'compile'];
  printTable(`One Gateway of ${CROWD_LISTENERS} listeners that takes every route at each of them:`, columns, rows);
}

// ── a primary ───────────────────────────────────────────────────────────────────────────────────────────────────────

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Returns peak and present memory of a process in bytes. */
function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (field) => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)[1]) * 1024;
  return { peak: read('VmHWM'), now: read('VmRSS') };
}

class Instance {
  #process;
  #admin;
  startMs = 0;

  static async start(folder) {
    const instance = new Instance();
    const startedAt = performance.now();
    instance.#admin = join(folder, 'admin.sock');
    const places = ['--config', join(folder, 'config'), '--state', join(folder, 'state'), '--admin', instance.#admin];
    const settings = ['--workers', '1', '--drain-timeout', '0', '--log-level', 'error'];
    instance.#process = spawn(process.execPath, [CLI, 'run', ...places, ...settings], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: instance.#process.stdout });
    const [line] = await Promise.race([once(lines, 'line'), once(instance.#process, 'exit').then(() => [''])]);
    if (!line.startsWith('ready ')) throw new Error('the instance did not start');
    instance.startMs = performance.now() - startedAt;
    return instance;
  }

  get memory() {
    return memoryOf(this.#process.pid);
  }

  /** Milliseconds from the request until every worker serves the change. */
  async reload() {
    const { value, error } = await askAdmin(this.#admin, 'POST', '/reload?wait=1', { timeoutMs: 0 });
    if (error !== undefined) throw new Error(error.message);
    const answer = JSON.parse(value.body);
    if (answer.outcome !== 'programmed') throw new Error(`reload: ${answer.outcome} ${answer.message}`);
    return answer.durationMs;
  }

  async stop() {
    this.#process.kill('SIGTERM');
    if (this.#process.exitCode === null) await once(this.#process, 'exit');
  }
}

async function measurePrimary(size, format) {
  const folder = mkdtempSync(join(tmpdir(), 'weirgate-scale-'));
  const config = join(folder, 'config');
  try {
    mkdirSync(config);
    const port = await freePort();
    for (const { name, text } of corpus(size, format, port)) writeFileSync(join(config, name), text);
    const cold = await Instance.start(folder);
    await new Promise((settled) => setTimeout(settled, SETTLE_MS));
    const steady = cold.memory.now;
    const changes = [];
    for (let revision = 1; revision <= CHANGES; revision++) {
      const { name, text } = teamFile(0, revision, format, port);
      writeFileSync(join(config, name), text);
      changes.push(await cold.reload());
    }
    await new Promise((settled) => setTimeout(settled, SETTLE_MS));
    const { peak, now } = cold.memory;
    await cold.stop();
    const warm = await Instance.start(folder);
    const again = warm.memory;
    await warm.stop();
    return { cold: cold.startMs, changes, warm: warm.startMs, steady, peak, after: now, warmPeak: again.peak };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function benchPrimary() {
  const rows = [];
  for (const size of SIZES) {
    for (const format of FORMATS) {
      const { cold, changes, warm, steady, peak, after, warmPeak } = await measurePrimary(size, format);
      const spread = `${ms(median(changes))} (${ms(Math.min(...changes))}–${ms(Math.max(...changes))})`;
      const megabytes = [peak, steady, after, warmPeak].map((bytes) => `${(bytes / 1e6).toFixed(0)} MB`);
      rows.push([size.toLocaleString('en'), format, ms(cold), spread, ms(warm), ...megabytes]);
    }
  }
  const columns = ['routes', 'files', 'start', 'one change (median)', 'start again'];
  const memory = ['peak RSS', 'steady after start', 'steady after changes', 'peak when started again'];
  printTable('A primary with one worker, until the worker serves:', [...columns, ...memory], rows);
}

if (!options.primary) {
  benchSteps();
  benchCrowd();
}
if (!options['in-process']) await benchPrimary();
