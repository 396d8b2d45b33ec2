/** Reloads lose nothing, whatever they change; refused ones change nothing and leave the next one its chance. */
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Load } from '../support/load.js';
import { freePort, Instance, until } from './instance.js';
import {
  backend,
  backendRef,
  type Doc,
  gateway,
  gatewayClass,
  httpListener,
  httpRoute,
  simpleHttp,
  yaml,
} from './manifests.js';
import { ask, httpBackend } from './peers.js';
import { CounterWatch, numberedBackend, underWay } from './traffic.js';
import { Wire } from './wire.js';

const RELOADS = 20;

/** Routes that the load does not use: another set each time. */
const otherRoutes = (round: number): Doc[] =>
  Array.from({ length: 5 + (round % 7) }, (_, i) =>
    httpRoute(`other-${round % 3}-${i}`, {
      hostnames: [`o${i}.other.test`],
      rules: [{ matches: [{ path: { type: 'PathPrefix', value: `/${round}` } }], backendRefs: [backendRef('stays')] }],
    }),
  );

/** The load's own route: its weights and its endpoints differ in each round. */
const loadRoute = (round: number, [first, second, third]: readonly [number, number, number]): Doc[] => [
  httpRoute('load', {
    hostnames: ['load.test'],
    rules: [{ backendRefs: [backendRef('stays', 1 + (round % 5)), backendRef('moves', 1 + (round % 3))] }],
  }),
  backend('stays', first),
  backend('moves', ...(round % 2 === 0 ? [second] : [second, third])),
];

describe('a reload under load', () => {
  it(`loses nothing: ${RELOADS} of them that change other routes, weights and endpoints`, async () => {
    const port = await freePort();
    const backends = [await numberedBackend('a'), await numberedBackend('b'), await numberedBackend('c')] as const;
    const ports = [backends[0].port, backends[1].port, backends[2].port] as const;
    const files = (round: number): string => yaml(...loadRoute(round, ports), ...otherRoutes(round));
    const instance = await Instance.start({
      files: { 'gateway.yaml': yaml(gatewayClass(), gateway('edge', [httpListener(port)])), 'routes.yaml': files(0) },
    });
    const processes = instance.workerPids();
    const counters = CounterWatch.start(instance);
    const loads = [
      Load.start({ port, clients: 12, keepAlive: true }),
      Load.start({ port, clients: 12, keepAlive: false }),
    ];
    for (let round = 1; round <= RELOADS; round += 1) {
      instance.write('routes.yaml', files(round));
      if (round % 2 === 0) {
        const { status, stdout, stderr } = await instance.reload();
        expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
        expect(stdout).toContain(`generation ${round + 1} serves`);
      } else {
        instance.signal('SIGHUP');
        await until(`generation ${round + 1}`, async () => (await instance.overview()).generation === round + 1);
      }
      const { answered } = loads[1] as Load;
      await until('the load goes on', () => (loads[1] as Load).answered > answered + 24);
    }
    for (const load of loads) await load.stop();
    await counters.stop();
    for (const load of loads) {
      expect(load.failures).toEqual([]);
      expect(load.answered).toBeGreaterThan(RELOADS * 24);
    }
    const numbers = backends.flatMap((each) => each.numbers);
    expect(new Set(numbers).size, 'each request reached one backend, once').toBe(numbers.length);
    expect(backends.every((each) => each.numbers.length > 0)).toBe(true);
    expect(counters.backwards).toEqual([]);
    await until('nothing is under way', async () => (await underWay(instance)) === 0);
    expect(instance.workerPids(), 'no process comes or goes with a reload').toEqual(processes);
    expect(await instance.metric('weirgate_config_reloads_total', { outcome: 'programmed' })).toBe(RELOADS + 1);
  }, 60_000);
});

describe('a refused reload', () => {
  const faults: readonly [
    name: string,
    spoil: (instance: Instance) => void,
    mend: (instance: Instance) => void,
    reason: RegExp,
  ][] = [
    [
      'broken YAML',
      (instance) => instance.write('edge.yaml', 'kind: Gateway\n  metadata: {name: edge\n'),
      () => {},
      /edge\.yaml:2:\d+: error\[WG1\d+\]/,
    ],
    [
      'an object that no rule of the spec allows',
      (instance) => instance.write('edge.yaml', yaml(gatewayClass(), gateway('edge', [httpListener(70_000)]))),
      () => {},
      /error\[WG\d+\]: Gateway default\/edge: spec\.listeners\[0\]\.port: /,
    ],
    [
      'a file that cannot be read',
      (instance) => symlinkSync('/nowhere/at/all.yaml', join(instance.folder, 'config/lost.yaml')),
      (instance) => instance.remove('lost.yaml'),
      /lost\.yaml: error\[WG1\d+\]: no such file/,
    ],
    [
      'a folder without any file',
      (instance) => {
        rmSync(join(instance.folder, 'config'), { recursive: true });
        mkdirSync(join(instance.folder, 'config'));
      },
      () => {},
      /error\[WG1010\]: there is no \*\.yaml file/,
    ],
  ];
  it.each(faults)(
    'for %s says why, keeps the old one serving, and leaves the next one its chance (H24)',
    async (_, spoil, mend, reason) => {
      const port = await freePort();
      const [old, next] = [await httpBackend('old'), await httpBackend('next')];
      const instance = await Instance.start({ files: { 'edge.yaml': simpleHttp(port, old.port) } });
      const served = async (): Promise<unknown> => JSON.parse((await ask(port)).body).name;
      expect(await served()).toBe('old');

      spoil(instance);
      const refused = await instance.reload();
      expect(refused.status).toBe(1);
      expect(refused.stdout).toBe('');
      expect(refused.stderr).toMatch(reason);
      expect(refused.stderr).toContain('generation 1 goes on serving');
      expect(await served()).toBe('old');
      expect(await instance.metric('weirgate_config_last_reload_successful')).toBe(0);
      const { reload, generation } = await instance.overview();
      expect({ outcome: reload.outcome, generation }).toEqual({ outcome: 'refused', generation: 1 });
      expect((await instance.command('status')).stdout).toMatch(
        /REFUSED .*, the generation before goes on serving: \S*config\S* /,
      );
      // By signal nobody waits, but the log tells.
      instance.signal('SIGHUP');
      await until(
        'the second refusal',
        async () => (await instance.metric('weirgate_config_reloads_total', { outcome: 'refused' })) === 2,
      );
      expect(instance.stderr).toContain('configuration refused');

      mend(instance);
      instance.write('edge.yaml', simpleHttp(port, next.port));
      const { status, stdout } = await instance.reload();
      expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('Backend default/pool') });
      expect(await served()).toBe('next');
      expect(await instance.metric('weirgate_config_last_reload_successful')).toBe(1);
    },
  );
});

describe('a storm of signals', () => {
  it('ends with what was written last, after one load more than the running one (H24)', async () => {
    const port = await freePort();
    const backends = await Promise.all(['first', 'second', 'third', 'fourth'].map((name) => httpBackend(name)));
    // Many routes make the load slow enough for the signals to come while it runs.
    const many = yaml(
      ...Array.from({ length: 1_500 }, (_, i) =>
        httpRoute(`r${i}`, {
          hostnames: [`r${i}.many.test`],
          rules: [{ backendRefs: [backendRef('pool')] }],
        }),
      ),
    );
    const edge = (i: number): string => simpleHttp(port, backends[i]?.port ?? 0);
    const instance = await Instance.start({ files: { 'edge.yaml': edge(0), 'many.yaml': many } });
    for (const i of [1, 2, 3]) {
      instance.write('edge.yaml', edge(i));
      instance.write('many.yaml', `${many}# ${i}\n`);
      instance.signal('SIGHUP');
    }
    await until('the last content serves', async () => JSON.parse((await ask(port)).body).name === 'fourth', 20_000);
    // Whatever is still queued comes before the answer to this one.
    expect((await instance.reload()).stdout).toMatch(/^nothing to change/);
    const settled = async (outcome: string): Promise<number> =>
      instance.metric('weirgate_config_reloads_total', { outcome });
    // The first load, at most two for three signals, and the reload just now.
    expect((await settled('programmed')) + (await settled('unchanged'))).toBeLessThanOrEqual(4);
    expect(await settled('refused')).toBe(0);
  }, 60_000);
});

describe('listeners by reload', () => {
  it('an added one serves; a removed one finishes its kept connections with Connection: close', async () => {
    const [stays, comes] = [await freePort(), await freePort()];
    const upstream = await httpBackend('up');
    const files = (...ports: readonly number[]): string =>
      yaml(
        gatewayClass(),
        gateway(
          'edge',
          ports.map((port, i) => httpListener(port, `http-${i}`)),
        ),
        httpRoute('all', { rules: [{ backendRefs: [backendRef('pool')] }] }),
        backend('pool', upstream.port),
      );
    const instance = await Instance.start({ files: { 'edge.yaml': files(stays) } });
    await expect(ask(comes)).rejects.toThrow('ECONNREFUSED');

    instance.write('edge.yaml', files(stays, comes));
    expect((await instance.reload()).status).toBe(0);
    expect((await ask(comes)).status).toBe(200);

    const request = 'GET / HTTP/1.1\r\nHost: any.test\r\n\r\n';
    const kept = await Wire.connect(comes);
    const quiet = await Wire.connect(stays);
    for (const wire of [kept, quiet]) {
      await wire.write(request);
      expect((await wire.answer()).fields.join('\n')).not.toMatch(/^connection:/im);
    }
    instance.write('edge.yaml', files(stays));
    expect((await instance.reload()).status).toBe(0);
    await expect(ask(comes)).rejects.toThrow('ECONNREFUSED');
    await kept.write(request);
    const last = await kept.answer();
    expect(last.status).toBe(200);
    expect(last.fields.join('\n')).toMatch(/^connection: close$/im);
    expect((await kept.rest()).end).toBe('fin');
    await quiet.write(request);
    expect((await quiet.answer()).fields.join('\n')).not.toMatch(/^connection:/im);
    expect((await instance.overview()).sockets.map(({ key }) => key)).toEqual([expect.stringContaining(`:${stays}`)]);
  });
});
