/** The command line as tools use it: exit statuses, what goes to which stream, the shapes of JSON. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { atEnd } from './at-end.js';
import { untilWhole } from './crew.js';
import { freePort, Instance, weirgate } from './instance.js';
import { backend, backendRef, gateway, gatewayClass, httpListener, httpRoute, simpleHttp, yaml } from './manifests.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BROKEN = join(ROOT, 'test/golden/check');
const ESCAPE = '\u001b';

/** A folder with these files, removed with the test. */
function folder(files: Readonly<Record<string, string>>): string {
  const path = mkdtempSync(join(tmpdir(), 'weirgate-e2e-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  atEnd(async () => rmSync(path, { recursive: true, force: true }));
  return path;
}

interface Reported {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly severity: string;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

const good = simpleHttp(18_080, 9);
/** Nothing is wrong, but a listener that no route uses is worth a warning. */
const warned = good + yaml(gateway('idle', [httpListener(18_081)]));

describe('weirgate check', () => {
  it('names file, line, column, cause and remedy for each of ten broken files, in one run', async () => {
    const names = readdirSync(BROKEN).filter((name) => name.endsWith('.yaml'));
    expect(names.length).toBeGreaterThanOrEqual(10);
    const { status, stdout, stderr } = await weirgate(['check', BROKEN]);
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    const report = JSON.parse((await weirgate(['check', BROKEN, '-o', 'json'])).stdout);
    expect(report.kind).toBe('CheckReport');
    for (const name of names) {
      const file = join(BROKEN, name);
      const found = (report.diagnostics as Reported[]).filter((each) => each.file === file);
      expect(found.length, name).toBeGreaterThan(0);
      for (const { line, column, severity, code, message, hint } of found) {
        expect(stdout).toContain(`${file}:${line}:${column}: ${severity}[${code}]: `);
        expect(line * column, `${file}: ${message}`).toBeGreaterThan(0);
        expect(message).not.toBe('');
        expect(hint, `${file}:${line}: ${message}`).not.toBe('');
        // The place is in the file.
        expect(line).toBeLessThanOrEqual(readFileSync(file, 'utf8').split('\n').length);
      }
    }
  });

  it.each([
    ['0 for a good file', good, [], 0],
    ['0 for one with a warning', warned, [], 0],
    ['3 for a warning with --strict', warned, ['--strict'], 3],
    ['1 for an error', good.replace('18080', '"high"'), [], 1],
    ['1 for an error with --strict', good.replace('18080', '"high"'), ['--strict'], 1],
    ['2 for an unknown option', good, ['--stirct'], 2],
    ['2 for an unknown format', good, ['-o', 'xml'], 2],
  ])('exits with %s', async (_, text, options, expected) => {
    const { status, stdout, stderr } = await weirgate(['check', folder({ 'edge.yaml': text }), ...options]);
    expect(status, stdout + stderr).toBe(expected);
    // Results on standard output; complaints about the command itself on standard error.
    expect(stdout === '', 'no result').toBe(expected === 2);
    expect(stderr === '', 'no complaint').toBe(expected !== 2);
  });

  it('finds nothing to warn about in the quick start and in each example', async () => {
    const examples = readdirSync(join(ROOT, 'config/examples')).filter((name) => name.endsWith('.yaml'));
    expect(examples.length).toBeGreaterThan(2);
    for (const path of ['config/quickstart', ...examples.map((name) => `config/examples/${name}`)]) {
      const { status, stdout } = await weirgate(['check', join(ROOT, path), '--strict']);
      expect(status, stdout).toBe(0);
    }
  });

  it('exits with 1 and names the path when there is none', async () => {
    const { status, stdout, stderr } = await weirgate(['check', '/nowhere/at/all']);
    expect(status).toBe(1);
    expect(stdout + stderr).toContain('/nowhere/at/all');
  });
});

describe('colours', () => {
  const onTerminal = (path: string, env: NodeJS.ProcessEnv): string => {
    const command = `'${process.execPath}' '${join(ROOT, 'dist/cli/main.js')}' check '${path}'`;
    return spawnSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8', env }).stdout;
  };

  it('are for terminals only, and not with NO_COLOR', async () => {
    const path = folder({ 'edge.yaml': warned });
    const env: NodeJS.ProcessEnv = { ...process.env, TERM: 'xterm' };
    delete env.NO_COLOR;
    expect(onTerminal(path, env)).toContain(ESCAPE);
    const plain = onTerminal(path, { ...env, NO_COLOR: '1' });
    expect(plain).toContain('warning[');
    expect(plain).not.toContain(ESCAPE);
    expect((await weirgate(['check', path], { NO_COLOR: '' })).stdout, 'no terminal').not.toContain(ESCAPE);
  });
});

describe('weirgate status', () => {
  it('exits with 0 while all is programmed, and prints a List with the overview', async () => {
    const port = await freePort();
    const instance = await Instance.start({ files: { 'edge.yaml': simpleHttp(port, 9) } });
    await untilWhole(instance, 2);
    const { status, stdout, stderr } = await instance.command('status', '-A', '-o', 'json');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const list = JSON.parse(stdout);
    expect(list).toMatchObject({
      apiVersion: 'v1',
      kind: 'List',
      metadata: {
        weirgate: {
          pid: instance.pid,
          phase: 'serving',
          generation: 1,
          reload: { outcome: 'programmed' },
          workers: { wanted: 2, restarts: 0, list: [{ phase: 'serving' }, { phase: 'serving' }, { phase: 'spare' }] },
          sockets: [{ key: `tcp/127.0.0.1:${port}` }],
          faults: [],
        },
      },
    });
    expect(list.items.map(({ kind }: { kind: string }) => kind).sort()).toEqual([
      'Backend',
      'Gateway',
      'GatewayClass',
      'HTTPRoute',
    ]);
    const edge = list.items.find(({ kind }: { kind: string }) => kind === 'Gateway');
    const conditions = edge.status.conditions as readonly {
      type: string;
      status: string;
      lastTransitionTime: string;
    }[];
    expect(Object.fromEntries(conditions.map(({ type, status }) => [type, status]))).toMatchObject({
      Accepted: 'True',
      Programmed: 'True',
    });
    expect(conditions.every(({ lastTransitionTime }) => !Number.isNaN(Date.parse(lastTransitionTime)))).toBe(true);

    const one = await instance.command('status', 'httproutes', 'all', '-o', 'json');
    expect(JSON.parse(one.stdout).items).toHaveLength(1);
    const table = await instance.command('status');
    expect(table).toMatchObject({ status: 0, stderr: '' });
    expect(table.stdout).toMatch(/^edge +weirgate +127\.0\.0\.1 +True/m);
    expect(table.stdout).not.toContain(ESCAPE);
    expect((await instance.command('status', 'httproutes', 'nobody')).status).toBe(1);
    expect((await instance.command('status', 'unheardof')).status).toBe(2);
  });

  it('exits with 1 while something is not, and says what', async () => {
    const port = await freePort();
    const files = yaml(
      gatewayClass(),
      gateway('edge', [httpListener(port)]),
      httpRoute('good', { hostnames: ['good.test'], rules: [{ backendRefs: [backendRef('pool')] }] }),
      httpRoute('bad', { hostnames: ['bad.test'], rules: [{ backendRefs: [backendRef('nobody')] }] }),
      backend('pool', 9),
    );
    const instance = await Instance.start({ files: { 'edge.yaml': files } });
    for (const format of ['table', 'wide', 'json', 'yaml']) {
      const { status, stdout, stderr } = await instance.command('status', '-o', format);
      expect({ status, stderr }, format).toEqual({ status: 1, stderr: '' });
      expect(stdout).toContain('BackendNotFound');
    }
    expect((await instance.command('status', 'httproutes', 'good')).status).toBe(0);
    expect((await instance.command('status', 'httproutes', 'bad')).status).toBe(1);
  });

  it.each([['status'], ['reload']])('%s exits with 4 where no instance is', async (command) => {
    const { status, stdout, stderr } = await weirgate([command, '--admin', 'unix:/nowhere/admin.sock']);
    expect({ status, stdout }).toEqual({ status: 4, stdout: '' });
    expect(stderr).toContain('no instance is running: there is no socket /nowhere/admin.sock');
  });
});

describe('weirgate run', () => {
  it('prints one line on standard output, and its log as JSON lines on standard error', async () => {
    const port = await freePort();
    const instance = await Instance.start({ files: { 'edge.yaml': simpleHttp(port, 9) } });
    expect(instance.stdout).toBe(`ready pid=${instance.pid} generation=1 listeners=1\n`);
    expect((await instance.stop()).code).toBe(0);
    const lines = instance.stderr.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) {
      expect(JSON.parse(line)).toMatchObject({
        level: expect.any(String),
        time: expect.any(String),
        msg: expect.any(String),
      });
    }
    expect(instance.stdout.split('\n')).toHaveLength(2);
  });

  it.each([
    [['--workers', 'many']],
    [['--workers', '0']],
    [['--log-level', 'loud']],
    [['--admin', 'tcp:127.0.0.1:80']],
    [['--unknown']],
  ])('exits with 2 for %j', async (options) => {
    const { status, stdout, stderr } = await weirgate(['run', '-c', BROKEN, ...options]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).not.toBe('');
  });
});

it.each([
  [['GET']],
  [['GE T', 'http://a.test/']],
  [['GET', 'http://a.test/', '--address', 'localhost']],
  [['GET', 'http://a.test/', '-H', 'Host: a.test', '-H', 'host: b.test']],
])('weirgate explain request exits with 2 for %j', async (words) => {
  const { status, stdout, stderr } = await weirgate(['explain', 'request', ...words]);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/^error: /);
});

it('weirgate --version prints the version and the hash of the table layout', async () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const { status, stdout } = await weirgate(['--version']);
  expect(status).toBe(0);
  expect(stdout).toMatch(new RegExp(`^weirgate ${version.replaceAll('.', '\\.')} \\(layout [0-9a-f]{16}\\)\n$`));
});
