/** One load with fakes for threads and sockets. */
import { describe, expect, it } from 'vitest';
import type { BuildOrder } from '../../../src/primary/build-pool.js';
import type { BuildReply, BuiltSocket } from '../../../src/primary/build-state.js';
import { Loader, type LoaderOptions } from '../../../src/primary/loader.js';
import { Sockets } from '../../../src/primary/sockets.js';
import type { SourceFolder } from '../../../src/sources/files.js';

const SOCKETS: readonly BuiltSocket[] = [
  { id: 0, key: 'tcp/127.0.0.1:80', ip: '127.0.0.1', port: 80 },
  { id: 1, key: 'tcp/127.0.0.1:81', ip: '127.0.0.1', port: 81 },
];
const SOURCE: SourceFolder = { files: [{ file: 'a.yaml', text: '', hash: 'x' }], diagnostics: [] };

function reply(order: BuildOrder, sockets: readonly BuiltSocket[] = SOCKETS): BuildReply {
  const failed = new Set(order.facts.bindFailures.map(({ key }) => key));
  return {
    outcome: 'changed',
    diagnostics: [],
    changes: [],
    summary: { objects: {}, faults: [], faultCount: 0 },
    retired: [],
    built: {
      generation: order.generation,
      table: new Uint8Array(),
      sockets: sockets.filter(({ key }) => !failed.has(key)),
      changedSets: [],
      removedSets: [],
      slots: { listeners: [], actions: [], endpoints: [] },
      settings: { workers: 4 } as NonNullable<BuildReply['built']>['settings'],
      listeners: 2,
      assignedAddresses: { 'default/edge': '192.0.2.7' },
      book: new Uint8Array(),
    },
  };
}

function rig(options: Partial<LoaderOptions> & { readonly taken?: Set<number> } = {}): {
  readonly loader: Loader;
  readonly orders: BuildOrder[];
  readonly sources: SourceFolder[];
  readonly bound: string[];
  readonly revised: () => number;
} {
  const orders: BuildOrder[] = [];
  const sources: SourceFolder[] = [];
  const bound: string[] = [];
  let revised = 0;
  const host = {
    bind: ({ socketId, port, shards }: { socketId: number; port: number; shards: number }) => {
      if (options.taken?.has(port)) return { ok: false as const, code: 'EADDRINUSE', message: `port ${port} is taken` };
      bound.push(`${socketId} ${port} ${shards}`);
      return { ok: true as const, port };
    },
    unbind: (socketId: number) => void bound.push(`unbind ${socketId}`),
  };
  const loader = new Loader({
    pool: {
      build: async (source, order) => {
        sources.push(source);
        orders.push(order);
        return reply(order);
      },
      revise: async () => {
        revised += 1;
      },
    },
    sockets: new Sockets(host),
    sources: ['/etc/weirgate'],
    read: async () => SOURCE,
    hostFacts: () => ({ hasIpv6: false, hostAddresses: ['127.0.0.1'] }),
    addressPool: undefined,
    keepGoing: false,
    workerCount: (configured) => configured,
    oldestHeld: () => 0,
    isQuiet: () => true,
    now: () => '2026-12-01T00:00:00Z',
    ...options,
  });
  return { loader, orders, sources, bound, revised: () => revised };
}

describe('a load', () => {
  it('builds once and opens each socket with members for the workers', async () => {
    const { loader, orders, bound } = rig();
    await loader.load(1);
    expect(orders).toHaveLength(1);
    expect(bound).toEqual(['0 80 16', '1 81 16']);
  });

  it('opens nothing twice', async () => {
    const { loader, bound } = rig();
    await loader.load(1);
    await loader.load(2);
    expect(bound).toHaveLength(2);
  });

  it('builds again without the ports that are taken, and tries them again next time', async () => {
    const taken = new Set([80]);
    const { loader, orders, bound, revised } = rig({ taken });
    const first = await loader.load(1);
    expect(first.bindFailures).toEqual([
      { key: 'tcp/127.0.0.1:80', reason: 'EADDRINUSE', message: 'port 80 is taken' },
    ]);
    expect(orders.map(({ facts }) => facts.bindFailures.length)).toEqual([0, 1]);
    expect(revised()).toBe(1);
    taken.clear();
    const second = await loader.load(2);
    expect(second.bindFailures).toEqual([]);
    expect(bound).toEqual(['1 81 16', '0 80 16']);
  });

  it('gives back the addresses that were assigned, once they serve', async () => {
    const { loader, orders } = rig();
    const load = await loader.load(1);
    await loader.load(2);
    expect(orders[1]?.facts.assignedAddresses).toEqual({});
    loader.keep(load);
    await loader.load(2);
    expect(orders[2]?.facts.assignedAddresses).toEqual({ 'default/edge': '192.0.2.7' });
  });

  it('asks a new thread once when the build thread has died', async () => {
    let tries = 0;
    const pool = {
      build: async (_: SourceFolder, order: BuildOrder) => {
        tries += 1;
        if (tries === 1) throw new Error('worker terminated');
        return reply(order);
      },
      revise: async () => {},
    };
    await expect(rig({ pool }).loader.load(1)).resolves.toMatchObject({ reply: { outcome: 'changed' } });
    expect(tries).toBe(2);
  });

  it('does not try again what is too large for a table', async () => {
    let tries = 0;
    const pool = {
      build: async () => {
        tries += 1;
        throw Object.assign(new Error('too large'), { code: 'WEIRGATE_TABLE_LIMIT' });
      },
      revise: async () => {},
    };
    await expect(rig({ pool }).loader.load(1)).rejects.toThrow('too large');
    expect(tries).toBe(1);
  });

  it.each([
    [1, 'warning'],
    [2, 'error'],
  ])(
    'of an empty folder for generation %i is a %s: what serves is not dropped for a lost mount',
    async (generation, severity) => {
      const { loader, sources } = rig({ read: async () => ({ files: [], diagnostics: [] }) });
      await loader.load(generation);
      expect(sources[0]?.diagnostics).toMatchObject([{ severity, code: 'WG1010', span: { file: '/etc/weirgate' } }]);
    },
  );
});
