/** Words for kinds, and tables as kubectl users know them. */
import { describe, expect, it } from 'vitest';
import { parseKinds } from '../../../src/cli/kind-names.js';
import { formatOutcome } from '../../../src/cli/reload.js';
import { duration, formatFaults, formatObjects } from '../../../src/cli/status-tables.js';
import type { ListedObject } from '../../../src/ipc/admin-protocol.js';
import { faultsOf } from '../../../src/primary/faults.js';

const options = {
  wide: false,
  now: new Date('2026-12-01T00:00:00Z'),
  paint: (_: string, text: string): string => text,
};
const condition = (type: string, status: string, reason = type): Record<string, string> => ({
  type,
  status,
  reason,
  message: `${type} is ${status}`,
});

const gateway = (namespace: string, programmed: string): ListedObject => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name: 'edge', namespace, generation: 1, creationTimestamp: '2026-11-30T20:00:00Z' },
  spec: { gatewayClassName: 'weirgate', listeners: [{ port: 80 }, { port: 443 }, { port: 80 }] },
  status: {
    conditions: [condition('Accepted', 'True'), condition('Programmed', programmed)],
    addresses: [{ type: 'IPAddress', value: '192.0.2.1' }],
    listeners: [{ name: 'http', attachedRoutes: 2, conditions: [condition('Conflicted', 'False')] }],
  },
});

describe('kinds', () => {
  it.each([
    ['gateway', ['Gateway']],
    ['Gateways', ['Gateway']],
    ['gw', ['Gateway']],
    ['gtw', ['Gateway']],
    ['gc', ['GatewayClass']],
    ['routes', ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute', 'UDPRoute']],
    ['gw,routes,httproute', ['Gateway', 'HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute', 'UDPRoute']],
    ['svc', ['Service']],
  ])('"%s" is %j', (text, kinds) => {
    expect(parseKinds(text)).toEqual({ ok: true, value: kinds });
  });

  it('that do not exist are refused with the nearest word', () => {
    expect(parseKinds('gatewys')).toEqual({ ok: false, error: '"gatewys" is no kind; did you mean gateways?' });
  });
});

describe('a table', () => {
  it('has kubectl’s columns', () => {
    expect(formatObjects([gateway('default', 'True')], false, options)).toBe(
      'NAME   CLASS      ADDRESS     PROGRAMMED   AGE\nedge   weirgate   192.0.2.1   True         4h\n',
    );
  });

  it('has a column NAMESPACE with -A, and when it needs one', () => {
    const one = formatObjects([gateway('a', 'True')], true, options);
    const two = formatObjects([gateway('a', 'True'), gateway('b', 'False')], false, options);
    expect(one.split('\n')[0]).toMatch(/^NAMESPACE {3}NAME/);
    expect(two.split('\n')[2]).toMatch(/^b {11}edge .* False/);
  });

  it('with -o wide says more', () => {
    const [header, row] = formatObjects([gateway('a', 'True')], false, { ...options, wide: true }).split('\n');
    expect(header).toMatch(/AGE {3}ACCEPTED {3}PORTS {4}LISTENERS {3}ROUTES$/);
    expect(row).toMatch(/4h {4}True {7}80,443 {3}1 {11}2$/);
  });

  it('of routes shows the worst over all parents', () => {
    const route: ListedObject = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name: 'web', namespace: 'default', generation: 1 },
      spec: {},
      status: {
        parents: [
          { conditions: [condition('Accepted', 'True'), condition('ResolvedRefs', 'True')] },
          { conditions: [condition('Accepted', 'False'), condition('ResolvedRefs', 'True')] },
        ],
      },
    };
    expect(formatObjects([route], false, options).split('\n')[1]).toBe('web    *           False      True       -');
  });
});

describe('faults', () => {
  it('are conditions that are not as they should be, wherever they stand', () => {
    const status = {
      conditions: [
        condition('Accepted', 'True'),
        condition('Programmed', 'Unknown', 'Pending'),
        condition('Other', 'False'),
      ],
      listeners: [{ name: 'http', conditions: [condition('Conflicted', 'True', 'HostnameConflict')] }],
      parents: [
        {
          parentRef: { namespace: 'a', name: 'edge', sectionName: 'x' },
          conditions: [condition('ResolvedRefs', 'False')],
        },
      ],
      ancestors: [{ ancestorRef: { name: 'edge' }, conditions: [condition('Accepted', 'False')] }],
    };
    const faults = faultsOf('Gateway a/edge', status);
    expect(faults.map(({ part, condition: type, reason }) => [part, type, reason])).toEqual([
      ['', 'Programmed', 'Pending'],
      ['listener http', 'Conflicted', 'HostnameConflict'],
      ['parent a/edge/x', 'ResolvedRefs', 'ResolvedRefs'],
      ['ancestor edge', 'Accepted', 'Accepted'],
    ]);
    expect(formatFaults(faults.slice(0, 1), 4, options.paint)).toBe(
      '✗ Gateway a/edge: Programmed Pending: Programmed is Unknown\n… and 3 more\n',
    );
  });

  it('are none in a status of another shape', () => {
    for (const status of [undefined, null, 'x', { conditions: 'x', listeners: [null] }]) {
      expect(faultsOf('x', status)).toEqual([]);
    }
  });
});

describe('an age', () => {
  it.each([
    [0, '0s'],
    [59, '59s'],
    [60, '1m'],
    [192, '3m12s'],
    [3_600, '1h'],
    [18_180, '5h3m'],
    [172_800, '2d'],
    [-5, '0s'],
  ])('of %i seconds is %s', (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });
});

describe('the outcome of a reload', () => {
  const answer = { generation: 4, diagnostics: [], message: '', durationMs: 12 };

  it('lists what changed', () => {
    const changes = [
      { object: 'HTTPRoute default/a', change: 'added' as const },
      { object: 'HTTPRoute default/b', change: 'changed' as const },
      { object: 'HTTPRoute default/c', change: 'removed' as const },
    ];
    expect(formatOutcome({ ...answer, outcome: 'programmed', changes })).toBe(
      '+ HTTPRoute default/a\n~ HTTPRoute default/b\n- HTTPRoute default/c\ngeneration 4 serves, 3 changes, 12 ms\n',
    );
  });

  it('cuts a long list and counts the rest', () => {
    const changes = Array.from({ length: 60 }, (_, i) => ({
      object: `Service default/${i}`,
      change: 'added' as const,
    }));
    const text = formatOutcome({ ...answer, outcome: 'programmed', changes });
    expect(text.split('\n')).toHaveLength(53);
    expect(text).toContain('… and 10 more\n');
  });

  it('says when there was nothing to do', () => {
    expect(formatOutcome({ ...answer, outcome: 'unchanged', changes: [] })).toContain(
      'nothing to change: generation 4',
    );
  });
});
