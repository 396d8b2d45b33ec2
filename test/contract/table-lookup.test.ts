/**
 * The two writers and readers of the table format meet: what TypeScript compiles, Rust accepts, prints alike and routes by.
 */
import { describe, expect, it } from 'vitest';
import { compile, SlotBook } from '../../src/compile/compile.js';
import { dumpTable } from '../../src/compile/dump.js';
import type { Ir } from '../../src/ir/ir.js';
import * as addon from '../../src/native/addon.js';
import { HEADER, LAYOUT_HASH } from '../../src/native/layout.gen.js';
import {
  action,
  cluster,
  exact,
  httpListener,
  httpSocket,
  ir,
  oneListener,
  prefix,
  SETTINGS,
  tcpListener,
  tcpSocket,
} from '../support/ir.js';

const SOMETHING_OF_EVERYTHING: Ir = ir({
  settings: { ...SETTINGS, via: true, accessLog: { target: '/var/log/weir "gate"\\é.json' } },
  sockets: [httpSocket(8080, [0, 1]), tcpSocket(9000, 2), tcpSocket(9001, 3)],
  listeners: [
    httpListener('', [{ hostname: '', matches: [prefix('/', 0), exact('/exact', 1)] }], 'default/edge/any'),
    {
      ...httpListener('*.example.com', [
        {
          hostname: 'api.example.com',
          matches: [prefix('/v2/é', 1, { method: 'GET', headers: [{ name: 'x-team', type: 'exact', value: 'blue' }] })],
        },
        { hostname: 'api.example.com', matches: [prefix('/v2', 2)] },
        { hostname: '*.example.com', matches: [] },
      ]),
      trustedProxies: ['10.0.0.0/8', '2001:db8::/32'],
    },
    tcpListener(3),
    tcpListener(undefined, 'default/edge/reset'),
  ],
  actions: [
    action('split', [80, 20]),
    action('too fine', [99_999, 1]),
    { ...action('none'), backends: [] },
    { ...action('invalid'), requestTimeoutMs: 15_000, backends: [{ kind: 'invalid', weight: 1, status: 500 }] },
  ],
  clusters: [cluster('Service/default/one:80', ['10.0.0.1:80']), cluster('Service/default/two:80', [])],
});

const SAMPLES: readonly (readonly [name: string, sample: Ir])[] = [
  ['an empty configuration', ir({})],
  ['something of everything', SOMETHING_OF_EVERYTHING],
  ['one virtual host without matches', oneListener([{ hostname: 'a.b', matches: [] }])],
  [
    '2,000 hosts',
    oneListener(
      Array.from({ length: 2_000 }, (_, i) => ({ hostname: `h${i}.example.com`, matches: [prefix(`/p${i}`, 0)] })),
    ),
  ],
  [
    '2,000 paths',
    oneListener([{ hostname: '', matches: Array.from({ length: 2_000 }, (_, i) => exact(`/p/${i}`, i % 7)) }]),
  ],
];

function compiled(sample: Ir): Uint8Array {
  return compile(sample, new SlotBook(), 42).table;
}

describe('the table format', () => {
  it('has one layout hash on both sides', () => {
    expect(BigInt(`0x${addon.version().layoutHash}`)).toBe(LAYOUT_HASH);
  });

  it.each(SAMPLES)('of %s is accepted by the native parser', (_, sample) => {
    expect(addon.checkTable(compiled(sample))).toBeNull();
  });

  it.each(SAMPLES)('of %s prints alike in TypeScript and in Rust', (_, sample) => {
    const table = compiled(sample);
    expect(addon.dumpTable(table)).toBe(dumpTable(table));
  });

  it('is refused with both hashes and a remedy when it comes from another release', () => {
    const table = compiled(ir({}));
    new DataView(table.buffer).setBigUint64(HEADER.layoutHash, 1n, true);
    expect(addon.checkTable(table)).toBe(
      `table refused: layout hash 0000000000000001 from the primary, ${addon.version().layoutHash} here; restart the worker with the same release`,
    );
  });

  it('is refused when it is cut', () => {
    const table = compiled(SOMETHING_OF_EVERYTHING);
    expect(addon.checkTable(table.subarray(0, table.length - 8))).toMatch(/^table refused: /);
    expect(addon.checkTable(new Uint8Array())).toMatch(/^table refused: 0 bytes/);
  });
});

describe('the native router', () => {
  const table = compiled(SOMETHING_OF_EVERYTHING);

  it.each([
    { host: 'elsewhere.org', path: '/', expected: { kind: 'action', listener: 'default/edge/any', action: 'split' } },
    { host: '', path: '/exact', expected: { kind: 'action', listener: 'default/edge/any', action: 'too fine' } },
    {
      host: 'API.Example.com.',
      path: '/v2/é/x',
      expected: { kind: 'action', listener: 'edge/*.example.com', action: 'too fine' },
    },
    {
      host: 'api.example.com',
      path: '/v2/e',
      expected: { kind: 'action', listener: 'edge/*.example.com', action: 'none' },
    },
    { host: 'api.example.com', path: '/v3', expected: { kind: 'noRoute', listener: 'edge/*.example.com' } },
    { host: 'x.example.com', path: '/', expected: { kind: 'noRoute', listener: 'edge/*.example.com' } },
  ])('gives $host $path to $expected.action', ({ host, path, expected }) => {
    const request = { method: 'GET', host, path, headers: [['X-Team', 'blue']] as const };
    expect(addon.routeTable(table, 0, request)).toMatchObject(expected);
  });

  it('knows no listener at a socket id that this table does not have', () => {
    expect(addon.routeTable(table, 99, { method: 'GET', host: 'a', path: '/', headers: [] })).toMatchObject({
      kind: 'noListener',
    });
  });
});
