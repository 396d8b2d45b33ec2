/**
 * Ports: what /proc says, and what becomes of it.
 */
import { describe, expect, it } from 'vitest';
import { hasCapability, judgePorts, type PortFacts, parseProcNet, readPortFacts } from '../../src/cli/check-ports.js';
import type { IrSocket } from '../../src/ir/ir.js';

const HEADER = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';

function line(local: string, state: string, inode: number): string {
  return `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0000000000000000 100 0 0 10 0\n`;
}

function socket(ip: string, port: number): IrSocket {
  return { key: `tcp/${ip}:${port}`, transport: 'tcp', ip, port, protocol: 'http', listeners: [] };
}

const PLACE = {
  object: 'Gateway default/edge',
  path: 'spec.listeners[0].port',
  span: { file: 'a.yaml', line: 1, column: 1 },
};

function judge(sockets: readonly IrSocket[], facts: Partial<PortFacts>, instancePid = 0): string[] {
  const none: PortFacts = {
    listening: [],
    unprivilegedStart: 1024,
    mayBindPrivileged: false,
    ownerOf: () => undefined,
  };
  return judgePorts(sockets, { ...none, ...facts }, instancePid, () => PLACE).map(
    ({ code, message }) => `${code} ${message}`,
  );
}

describe('/proc', () => {
  it('lists listening sockets of both families', () => {
    const table =
      HEADER +
      line('0100007F:1F90', '0A', 11) +
      line('00000000:0050', '0A', 12) +
      line('0100007F:1F91', '01', 13) +
      line('00000000000000000000000000000000:1F92', '0A', 14) +
      line('00000000000000000000000001000000:1F93', '0A', 15) +
      line('B80D0120000000000000000001000000:1F94', '0A', 16) +
      line('000080FE000000000100000002000000:1F95', '0A', 17);
    expect(parseProcNet(table)).toEqual([
      { ip: '127.0.0.1', port: 8080, inode: '11' },
      { ip: '0.0.0.0', port: 80, inode: '12' },
      { ip: '::', port: 8082, inode: '14' },
      { ip: '::1', port: 8083, inode: '15' },
      { ip: '2001:db8::1', port: 8084, inode: '16' },
      { ip: 'fe80::1:0:2', port: 8085, inode: '17' },
    ]);
  });

  it('tells capabilities apart', () => {
    expect(hasCapability('CapEff:\t0000000000000400\n', 10n)).toBe(true);
    expect(hasCapability('CapEff:\t00000000fffffbff\n', 10n)).toBe(false);
    expect(hasCapability('', 10n)).toBe(false);
  });

  it('can be read on this machine', () => {
    expect(readPortFacts().unprivilegedStart).toBeGreaterThanOrEqual(0);
  });
});

describe('ports', () => {
  const held = (ip: string): Partial<PortFacts> => ({
    listening: [{ ip, port: 8080, inode: '7' }],
    ownerOf: (inode) => (inode === '7' ? { pid: 42, command: 'nginx' } : undefined),
  });

  it.each([
    ['127.0.0.1', '127.0.0.1', true],
    ['0.0.0.0', '127.0.0.1', true],
    ['::', '127.0.0.1', true],
    ['127.0.0.1', '::', true],
    ['127.0.0.1', '127.0.0.2', false],
    ['::1', '127.0.0.1', false],
    ['0.0.0.0', '::1', false],
  ])('held on %s, wanted on %s: in use %s', (ip, wanted, inUse) => {
    const expected = inUse ? [`WG4091 tcp/${wanted}:8080 is in use by nginx (pid 42)`] : [];
    expect(judge([socket(wanted, 8080)], held(ip))).toEqual(expected);
  });

  it('of the running instance are its own', () => {
    expect(judge([socket('127.0.0.1', 8080)], held('127.0.0.1'), 42)).toEqual([]);
    expect(judge([socket('127.0.0.1', 8080)], held('127.0.0.1'), 43)).toHaveLength(1);
  });

  it('whose owner may not be seen are in use all the same', () => {
    const facts = { ...held('127.0.0.1'), ownerOf: () => undefined };
    expect(judge([socket('127.0.0.1', 8080)], facts, 42)).toEqual([
      'WG4091 tcp/127.0.0.1:8080 is in use by a program of another user',
    ]);
  });

  it('below the limit need the right', () => {
    expect(judge([socket('::', 80)], {})).toEqual([
      'WG4092 this user may not open port 80: ports below 1024 need CAP_NET_BIND_SERVICE',
    ]);
    expect(judge([socket('::', 80)], { mayBindPrivileged: true })).toEqual([]);
    expect(judge([socket('::', 80)], { unprivilegedStart: 80 })).toEqual([]);
  });
});
