import { describe, expect, it } from 'vitest';
import { compile, SlotBook } from '../../src/compile/compile.js';
import { dumpTable } from '../../src/compile/dump.js';
import type { Ir } from '../../src/ir/ir.js';
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
  tcpListener,
  tcpSocket,
} from '../support/ir.js';

function dump(from: Ir): string[] {
  return dumpTable(compile(from, new SlotBook(), 1).table)
    .trimEnd()
    .split('\n');
}

describe('compile', () => {
  it('carries layout hash and generation in the header', () => {
    const { table } = compile(ir({}), new SlotBook(), 2 ** 40);
    const view = new DataView(table.buffer);
    expect(view.getBigUint64(HEADER.layoutHash, true)).toBe(LAYOUT_HASH);
    expect(view.getBigUint64(HEADER.generation, true)).toBe(2n ** 40n);
    expect(view.getUint32(HEADER.length, true)).toBe(table.length);
  });

  it('gives equal IRs equal bytes', () => {
    const make = () =>
      compile(oneListener([{ hostname: '', matches: [prefix('/a', 0), exact('/b', 1)] }]), new SlotBook(), 3);
    expect(make()).toEqual(make());
  });

  it('groups matches by path in order and ignores the trailing slash of prefixes', () => {
    const lines = dump(
      oneListener([
        {
          hostname: '',
          matches: [prefix('/v2/', 0, { method: 'GET' }), exact('/v2/', 1), prefix('/v2', 2), prefix('/', 3)],
        },
      ]),
    );
    const from = lines.findIndex((line) => line.startsWith('host 0'));
    expect(lines.slice(from, from + 8)).toEqual([
      'host 0 "" next=- prefix-levels=1 has-exact=1',
      '  prefix "/v2"',
      '    match method="GET" action=0',
      '    match method="" action=2',
      '  exact "/v2/"',
      '    match method="" action=1',
      '  prefix ""',
      '    match method="" action=3',
    ]);
  });

  it('chains virtual hosts of one name and shares the nodes of common suffixes', () => {
    const lines = dump(
      oneListener([
        { hostname: 'a.example.com', matches: [] },
        { hostname: 'a.example.com', matches: [] },
        { hostname: '*.example.com', matches: [] },
        { hostname: '', matches: [] },
      ]),
    );
    expect(lines.filter((line) => line.startsWith('host'))).toEqual([
      'host 0 "a.example.com" next=1 prefix-levels=- has-exact=0',
      'host 1 "a.example.com" next=- prefix-levels=- has-exact=0',
      'host 2 "*.example.com" next=- prefix-levels=- has-exact=0',
      'host 3 "" next=- prefix-levels=- has-exact=0',
    ]);
    expect(lines.filter((line) => line.startsWith('node'))).toEqual([
      'node 0 parent=- label="" exact=- wildcard=3',
      'node 1 parent=0 label="com" exact=- wildcard=-',
      'node 2 parent=1 label="example" exact=- wildcard=2',
      'node 3 parent=2 label="a" exact=0 wildcard=-',
      'node 4 parent=- label="" exact=- wildcard=0',
    ]);
  });

  it('merges trusted networks and keeps IPv4 and IPv6 apart', () => {
    const listener = {
      ...httpListener('', []),
      trustedProxies: [
        '10.1.0.0/16',
        '10.0.0.0/9',
        '10.128.0.0/9',
        '192.0.2.7',
        '::ffff:172.16.0.0/108',
        'fd00::/8',
        '::1/128',
      ],
    };
    const lines = dump(ir({ sockets: [httpSocket(80, [0])], listeners: [listener] }));
    const zeros = '0'.repeat(24);
    expect(lines.filter((line) => line.startsWith('  trusts'))).toEqual([
      `  trusts ipv4 ${zeros}0a000000-${zeros}0affffff`,
      `  trusts ipv4 ${zeros}ac100000-${zeros}ac1fffff`,
      `  trusts ipv4 ${zeros}c0000207-${zeros}c0000207`,
      `  trusts ipv6 ${'0'.repeat(31)}1-${'0'.repeat(31)}1`,
      `  trusts ipv6 fd${'0'.repeat(30)}-fd${'f'.repeat(30)}`,
    ]);
  });

  it('shares one sequence among equal weights and writes none for weights that are too fine', () => {
    const lines = dump(
      ir({
        actions: [action('a', [80, 20]), action('b', [4, 1]), action('c', [99_999, 1]), action('d', [5])],
        clusters: [cluster('one', ['10.0.0.1:1']), cluster('two', ['10.0.0.2:1'])],
      }),
    );
    expect(lines.filter((line) => line.startsWith('  sequence'))).toEqual([
      '  sequence 0 0 1 0 0',
      '  sequence 0 0 1 0 0',
    ]);
  });

  it('keeps ids of sockets, sets and slots over generations and leaves holes for what is gone', () => {
    const book = new SlotBook();
    const first = compile(
      ir({
        sockets: [httpSocket(80, [0]), tcpSocket(81, 1)],
        listeners: [httpListener('', [], 'http'), tcpListener(0, 'tcp')],
        actions: [action('a')],
        clusters: [cluster('one', ['10.0.0.1:1', '10.0.0.2:1'])],
      }),
      book,
      1,
    );
    const second = compile(
      ir({
        sockets: [tcpSocket(81, 0)],
        listeners: [tcpListener(0, 'tcp')],
        actions: [action('a')],
        clusters: [cluster('one', ['10.0.0.2:1', '10.0.0.3:1'])],
      }),
      book,
      2,
    );
    expect(second.sockets).toEqual([{ id: 1, key: 'tcp/127.0.0.1:81' }]);
    expect(dumpTable(second.table)).toContain('socket 1 "tcp/127.0.0.1:81" tcp listener=0\n');
    expect(dumpTable(second.table)).not.toContain('socket 0');
    expect(second.slots.listeners).toEqual([first.slots.listeners[1]]);
    expect(second.slots.actions).toEqual(first.slots.actions);
    expect(second.endpointSets[0]).toMatchObject({ id: first.endpointSets[0]!.id, slot: first.endpointSets[0]!.slot });
    expect(second.slots.endpoints[0]).toEqual(first.slots.endpoints[1]);
    expect(second.slots.endpoints[1]!.slot).not.toBe(first.slots.endpoints[0]!.slot);
    expect(book.retiredBefore(2).map(({ kind, key }) => `${kind} ${key}`)).toEqual([
      'socket tcp/127.0.0.1:80',
      'listener http',
      'endpoint one 10.0.0.1:1',
    ]);
  });

  it.each([
    [
      'two listeners of one hostname',
      ir({ sockets: [httpSocket(1, [0, 1])], listeners: [httpListener('', []), httpListener('', [])] }),
    ],
    ['a TCP listener on an HTTP socket', ir({ sockets: [httpSocket(1, [0])], listeners: [tcpListener(undefined)] })],
    ['an HTTP socket without listeners', ir({ sockets: [httpSocket(1, [])] })],
    [
      'a TCP socket of two listeners',
      ir({ sockets: [{ ...tcpSocket(1, 0), listeners: [0, 0] }], listeners: [tcpListener(undefined)] }),
    ],
    [
      'two sockets of one key',
      ir({ sockets: [tcpSocket(1, 0), tcpSocket(1, 0)], listeners: [tcpListener(undefined)] }),
    ],
    ['two clusters of one key', ir({ clusters: [cluster('a', []), cluster('a', [])] })],
    ['a weight of zero', ir({ actions: [action('a', [0])], clusters: [cluster('one', [])] })],
  ])('throws for %s, which only a bug above can make', (_, broken) => {
    expect(() => compile(broken, new SlotBook(), 1)).toThrow(expect.objectContaining({ code: 'WEIRGATE_TABLE_BUG' }));
  });
});
