/**
 * `npm start`: builds what is missing, starts the demo backends and Weirgate, and says what to try.
 *
 *     npm start -- [--http-port N] [--tcp-port N] [--demo-port N]
 *
 * Ctrl-C ends all of it. With other ports the YAML of this folder is rendered into a temporary folder.
 */
import { fork, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const HERE = dirname(fileURLToPath(import.meta.url));
const CLONE = join(HERE, '../..');
const MAIN = join(CLONE, 'dist/cli/main.js');
const DEFAULTS = { 'http-port': 8080, 'tcp-port': 9000, 'demo-port': 18081 };
const DEMO_BACKENDS = 4;

class Failure extends Error {}

function readPorts() {
  const option = { type: 'string' };
  let values;
  try {
    ({ values } = parseArgs({ options: { 'http-port': option, 'tcp-port': option, 'demo-port': option } }));
  } catch (error) {
    throw new Failure(`${error.message}\nusage: npm start -- [--http-port N] [--tcp-port N] [--demo-port N]`);
  }
  const ports = { ...DEFAULTS };
  for (const [name, text] of Object.entries(values)) {
    const port = Number(text);
    if (!Number.isInteger(port) || port < 1 || port > 65535)
      throw new Failure(`--${name}: ${text} is no port, 1 to 65535 is`);
    ports[name] = port;
  }
  return ports;
}

/** 'EADDRINUSE', 'EACCES' … or undefined when the port can be had. */
function portFault(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error) => resolve(error.code));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(undefined)));
  });
}

async function checkPorts(ports) {
  const wanted = [
    ['http-port', ports['http-port']],
    ['tcp-port', ports['tcp-port']],
    ...Array.from({ length: DEMO_BACKENDS }, (_, i) => ['demo-port', ports['demo-port'] + i]),
  ];
  for (const [name, port] of wanted) {
    const fault = await portFault(port);
    if (fault === undefined) continue;
    const what = fault === 'EADDRINUSE' ? 'is in use by another program' : `cannot be opened (${fault})`;
    throw new Failure(
      `port 127.0.0.1:${port} ${what}; choose another: npm start -- --${name} ${Math.max(port + 10, 10_080)}`,
    );
  }
}

/** The folder to run: this one, or a copy with other ports; `remove` deletes the copy. */
function configuration(ports) {
  const changed = Object.entries(ports).some(([name, port]) => DEFAULTS[name] !== port);
  if (!changed) return { folder: HERE, remove: () => {} };
  const replacements = new Map([
    [DEFAULTS['http-port'], ports['http-port']],
    [DEFAULTS['tcp-port'], ports['tcp-port']],
  ]);
  for (let i = 0; i < DEMO_BACKENDS; i += 1) replacements.set(DEFAULTS['demo-port'] + i, ports['demo-port'] + i);
  const folder = mkdtempSync(join(tmpdir(), 'weirgate-quickstart-'));
  for (const file of readdirSync(HERE).filter((name) => name.endsWith('.yaml'))) {
    const text = readFileSync(join(HERE, file), 'utf8');
    const rendered = text.replace(/\bport: (\d+)/g, (whole, port) => {
      const other = replacements.get(Number(port));
      return other === undefined ? whole : `port: ${other}`;
    });
    writeFileSync(join(folder, file), rendered);
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** `npm run build` names what is missing on this machine and how to get it. */
function build() {
  process.stdout.write('Building (the first time this takes a few minutes) …\n');
  const result = spawnSync('npm', ['run', '--silent', 'build'], { cwd: CLONE, stdio: 'inherit' });
  if (result.status !== 0) throw new Failure('the build failed; its messages are above');
}

function startDemo(firstPort) {
  return new Promise((resolve, reject) => {
    const demo = fork(join(HERE, 'demo.mjs'), [String(firstPort)]);
    demo.once('message', () => resolve(demo));
    demo.once('exit', () => reject(new Failure('the demo backends did not start; the reason is above')));
  });
}

/** Resolves once the primary has printed its `ready` line; rejects when it ends before. */
function startWeirgate(folder) {
  return new Promise((resolve, reject) => {
    const weirgate = spawn(process.execPath, [MAIN, 'run', '-c', folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    weirgate.stdout.on('data', (chunk) => {
      process.stdout.write(chunk);
      text = `${text}${chunk}`.slice(-4096);
      if (/^ready /m.test(text)) resolve(weirgate);
    });
    weirgate.once('exit', (code) => reject(new Failure(`weirgate run ended with status ${code}; the reason is above`)));
  });
}

function printStatus() {
  const result = spawnSync(process.execPath, [MAIN, 'status'], { encoding: 'utf8' });
  process.stdout.write(`\n$ npx weirgate status\n${result.stdout}${result.stderr}`);
}

function printWhatToTry({ 'http-port': http, 'tcp-port': tcp }, folder) {
  process.stdout.write(`
Try in another terminal:

  curl -H 'Host: hello.localhost' http://127.0.0.1:${http}/
      "backend: hello": the name chose the route. Below it, what the backend saw.

  for i in 1 2 3 4 5 6 7 8 9 10; do curl -s -H 'Host: split.localhost' http://127.0.0.1:${http}/; done | grep backend | sort | uniq -c
      8 times blue and 2 times green: the weights are 80 and 20, counted over all workers.

  curl -i -H 'Host: other.localhost' http://127.0.0.1:${http}/
      404: no route has this name.

  bash -c 'exec 3<>/dev/tcp/127.0.0.1/${tcp}; echo over TCP >&3; head -n 1 <&3'
      "over TCP": the connection went through to the echo backend.

  npx weirgate status            what is accepted and programmed
  npx weirgate status routes -o json
  npx weirgate reload --wait     after a change in ${folder}

Ctrl-C ends everything.
`);
}

async function main() {
  const ports = readPorts();
  await checkPorts(ports);
  build();
  const { folder, remove } = configuration(ports);
  let demo;
  let weirgate;
  // The terminal sends SIGINT to Weirgate as well; a SIGTERM to this program alone is passed on.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => weirgate?.kill('SIGTERM'));
  try {
    demo = await startDemo(ports['demo-port']);
    weirgate = await startWeirgate(folder);
    printStatus();
    printWhatToTry(ports, folder);
    await new Promise((resolve) => {
      if (weirgate.exitCode !== null || weirgate.signalCode !== null) resolve();
      weirgate.once('exit', resolve);
    });
    process.exitCode = weirgate.exitCode ?? 1;
  } finally {
    demo?.disconnect();
    remove();
  }
}

main().catch((error) => {
  if (!(error instanceof Failure)) throw error;
  process.stderr.write(`\n${error.message}\n`);
  process.exitCode = 1;
});
