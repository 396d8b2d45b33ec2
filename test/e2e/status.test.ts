/** What an instance remembers about objects over restarts, and what `weirgate status` shows of them. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { atEnd } from './at-end.js';
import { freePort, Instance, until, weirgate } from './instance.js';
import { backend, backendRef, type Doc, gateway, gatewayClass, httpListener, httpRoute, yaml } from './manifests.js';
import { ask, httpBackend } from './peers.js';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration: number;
}

interface Shown {
  readonly metadata: { readonly generation: number };
  readonly spec: Doc;
  readonly status: {
    readonly parents: readonly { readonly controllerName: string; readonly conditions: readonly Condition[] }[];
  };
}

const CONTROLLER = 'weirgate.dev/gateway-controller';

const files = (port: number, upstream: number, target: Doc): string =>
  yaml(
    gatewayClass(),
    gateway('edge', [httpListener(port)]),
    httpRoute('web', { rules: [{ backendRefs: [target] }] }),
    backend('pool', upstream),
  );

/** A state folder that outlives its instances. */
function stateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'weirgate-state-'));
  atEnd(async () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function route(instance: Instance): Promise<Shown> {
  const { stdout } = await instance.command('status', 'httproute', 'web', '-n', 'default', '-o', 'yaml');
  return parse(stdout) as Shown;
}

/** `type status reason since time, of generation`. */
function conditions({ status }: Shown): string[] {
  const own = status.parents.find(({ controllerName }) => controllerName === CONTROLLER)?.conditions ?? [];
  return own.map(
    ({ type, status: is, reason, lastTransitionTime, observedGeneration }) =>
      `${type} ${is} ${reason} since ${lastTransitionTime}, of ${observedGeneration}`,
  );
}

const second = (): string => new Date().toISOString().slice(0, 19);

/** Times have whole seconds: what changes now must be told from what changed before. */
async function anotherSecond(): Promise<void> {
  const then = second();
  await until('the clock shows another second', () => second() !== then);
}

describe('over a restart', () => {
  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'by %s transition times and generations stay; a reason may change, and only the status moves a time',
    async (signal) => {
      const [port, state] = [await freePort(), stateFolder()];
      const args = ['--state', state];
      const missing = files(port, 9, backendRef('nobody'));
      const first = await Instance.start({ files: { 'edge.yaml': missing }, args });
      const before = await route(first);
      const [, resolved] = conditions(before);
      expect(before.metadata.generation).toBe(1);
      expect(resolved).toMatch(/^ResolvedRefs False BackendNotFound since .*, of 1$/);
      const since = /since (.*),/.exec(resolved ?? '')?.[1] as string;
      await until('the ledger is on disk', () => readLedger(state).includes(since));
      first.signal(signal);
      await until('the instance has ended', () => first.exit !== undefined);
      await anotherSecond();

      const next = await Instance.start({ files: { 'edge.yaml': missing }, args });
      expect(conditions(await route(next))).toEqual(conditions(before));

      // Another fault of the same reference: the condition stays False, for another reason.
      next.write('edge.yaml', files(port, 9, { group: 'example.com', kind: 'Bucket', name: 'nobody' }));
      expect((await next.reload()).status).toBe(0);
      const other = await route(next);
      expect(other.metadata.generation).toBe(2);
      expect(conditions(other)).toEqual([
        `Accepted True Accepted since ${since}, of 2`,
        `ResolvedRefs False InvalidKind since ${since}, of 2`,
      ]);
      next.write('edge.yaml', files(port, 9, backendRef('pool')));
      expect((await next.reload()).status).toBe(0);
      const good = await route(next);
      expect(good.metadata.generation).toBe(3);
      expect(conditions(good)[0]).toBe(`Accepted True Accepted since ${since}, of 3`);
      expect(conditions(good)[1]).toMatch(/^ResolvedRefs True ResolvedRefs since .*, of 3$/);
      expect(conditions(good)[1]).not.toContain(since);
    },
    40_000,
  );

  it.each([
    ['is cut off', (text: string) => text.slice(0, text.length / 2)],
    ['is of a later release', (text: string) => text.replace('"version":1', '"version":9')],
    ['was written by somebody else', () => '\u0000\u0001 no ledger\n'],
  ])('a ledger that %s costs one warning, and is replaced', async (_, spoil) => {
    const [port, state] = [await freePort(), stateFolder()];
    const upstream = await httpBackend('up');
    const options = {
      files: { 'edge.yaml': files(port, upstream.port, backendRef('pool')) },
      args: ['--state', state],
    };
    const first = await Instance.start(options);
    await first.stop();
    const good = readLedger(state);
    writeFileSync(join(state, 'ledger.json'), spoil(good));
    await anotherSecond();

    const next = await Instance.start(options);
    expect((await ask(port)).status).toBe(200);
    expect(next.stderr.match(/"the ledger cannot be used/g)).toHaveLength(1);
    await until('it is written anew', () => isSimilar(readLedger(state), good));
    expect(statSync(join(state, 'ledger.json')).mode & 0o007).toBe(0);
    expect((await route(next)).metadata.generation).toBe(1);
  });

  it('a ledger that cannot be written costs one warning, and no traffic', async () => {
    const [port, state] = [await freePort(), stateFolder()];
    mkdirSync(join(state, 'ledger.json/in-the-way'), { recursive: true });
    const upstream = await httpBackend('up');
    const text = files(port, upstream.port, backendRef('pool'));
    const instance = await Instance.start({ files: { 'edge.yaml': text }, args: ['--state', state] });
    await until('it is told', () => instance.stderr.includes('the ledger cannot be kept'));
    instance.write('edge.yaml', text.replace('"rules":[{', '"hostnames":["a.test"],"rules":[{'));
    expect((await instance.reload()).status).toBe(0);
    expect((await ask(port, { host: 'a.test' })).status).toBe(200);
    await instance.stop();
    expect(instance.stderr.match(/the ledger cannot be kept/g)).toHaveLength(1);
  });
});

/** The ledger as it is now; `''` while there is none. */
function readLedger(state: string): string {
  try {
    return readFileSync(join(state, 'ledger.json'), 'utf8');
  } catch {
    return '';
  }
}

/** The same objects, at other times. */
function isSimilar(a: string, b: string): boolean {
  const timeless = (text: string): string =>
    text.slice(text.indexOf('\n')).replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'T');
  return timeless(a) === timeless(b);
}

describe('weirgate status', () => {
  it('shows whole objects, with defaults, with what others wrote, and without Secrets', async () => {
    const port = await freePort();
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'key' },
      data: { 'tls.key': Buffer.from('very secret').toString('base64') },
      stringData: { password: 'hunter2' },
    };
    const theirs = {
      parentRef: { name: 'theirs' },
      controllerName: 'example.com/other',
      conditions: [{ type: 'Accepted', status: 'False', extra: [1] }],
    };
    const web = {
      ...httpRoute('web', { rules: [{ backendRefs: [backendRef('pool')] }] }),
      status: { parents: [{ ...theirs, controllerName: CONTROLLER }, theirs] },
    };
    const text = yaml(gatewayClass(), gateway('edge', [httpListener(port)]), web, backend('pool', 9), secret);
    const instance = await Instance.start({ files: { 'edge.yaml': text } });
    const one = await instance.command('status', 'httproute/web', '-n', 'default', '-o', 'yaml');
    expect(one.status, 'what another controller refuses is not our fault').toBe(0);
    const shown = parse(one.stdout) as Shown;
    expect(shown).toMatchObject({
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      spec: { rules: [{ matches: [{ path: { type: 'PathPrefix', value: '/' } }], backendRefs: [{ weight: 1 }] }] },
    });
    expect(shown.status.parents).toHaveLength(2);
    expect(shown.status.parents[0]).toEqual(theirs);
    const everything = await instance.command('status', '-A', '-o', 'json');
    expect(everything.stdout).toContain('"tls.key": "<hidden>"');
    const checked = await weirgate(['check', join(instance.folder, 'config'), '-o', 'json']);
    expect(checked.stdout).toContain('<hidden>');
    const all = everything.stdout + checked.stdout + (await instance.askAdmin('GET', '/objects'));
    for (const hidden of [secret.data['tls.key'], 'hunter2', 'very secret']) expect(all).not.toContain(hidden);
    expect((await instance.command('status', 'secret', '-o', 'wide')).stdout).toMatch(/^key +Opaque +2 +-$/m);
    expect((await instance.command('status', 'listeners')).stdout).toMatch(
      new RegExp(`^http +Gateway/edge +HTTP +${port} +\\* +True +1$`, 'm'),
    );
    for (const [kind, lines] of [
      ['gtw', 2],
      ['gc', 2],
      ['httproutes.gateway.networking.k8s.io', 2],
      ['btlspolicy', 1],
    ] as const) {
      const { stdout, status } = await instance.command('status', kind);
      expect({ kind, status, lines: stdout.trimEnd().split('\n').length }).toEqual({ kind, status: 0, lines });
    }
  });

  it('gives thousands of objects in pages, every one once', async () => {
    const port = await freePort();
    const count = 1_234;
    const backends = Array.from({ length: count }, (_, index) => backend(`pool-${index}`, 9));
    const instance = await Instance.start({
      files: {
        'edge.yaml': yaml(gatewayClass(), gateway('edge', [httpListener(port)])),
        'pools.yaml': yaml(...backends),
      },
    });
    const { stdout } = await instance.command('status', 'backends', '-o', 'json');
    const names = (JSON.parse(stdout) as { items: { metadata: { name: string } }[] }).items.map(
      ({ metadata }) => metadata.name,
    );
    expect(new Set(names).size).toBe(count);
    expect(names).toHaveLength(count);
    const first = JSON.parse(await instance.askAdmin('GET', '/objects?kind=Backend&limit=3'));
    expect(first.items).toHaveLength(3);
    const next = new URLSearchParams({ kind: 'Backend', limit: '2', continue: first.metadata.continue });
    const second = JSON.parse(await instance.askAdmin('GET', `/objects?${next}`));
    expect(second.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual(
      names.slice(3, 5),
    );
    expect(JSON.parse(await instance.askAdmin('GET', '/objects')).items).toHaveLength(count + 2);
    const table = await instance.command('status', 'backends');
    expect(table.stdout.trimEnd().split('\n')).toHaveLength(count + 1);
  });
});
