/** Words for kinds, and tables as kubectl users know them. */
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseKinds, parseWanted } from '../../../src/cli/kind-names.js';
import { formatOutcome } from '../../../src/cli/reload.js';
import { formatDocument, ListWriter } from '../../../src/cli/status-documents.js';
import { duration, formatFaults, Table, type TableOptions } from '../../../src/cli/status-tables.js';
import { CONTROLLER_NAME } from '../../../src/gateway-api/index.js';
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

  it('may be written with their group, and listeners are asked for like a kind', () => {
    expect(parseKinds('httproutes.gateway.networking.k8s.io')).toEqual({ ok: true, value: ['HTTPRoute'] });
    expect(parseWanted('listeners')).toEqual({
      ok: true,
      value: { kinds: ['Gateway', 'ListenerSet'], listeners: true },
    });
    expect(parseWanted('btlspolicy,refgrant,lset')).toEqual({
      ok: true,
      value: { kinds: ['BackendTLSPolicy', 'ReferenceGrant', 'ListenerSet'], listeners: false },
    });
  });

  it('that do not exist are refused with the nearest word', () => {
    expect(parseKinds('gatewys')).toEqual({ ok: false, error: '"gatewys" is no kind; did you mean gateways?' });
    expect(parseKinds('pods')).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^"pods" is no kind; kinds are .*httproute/),
    });
  });
});

const tableOf = (objects: readonly ListedObject[], allNamespaces = false, more: Partial<TableOptions> = {}): string => {
  const table = Table.ofKind(objects[0]?.kind ?? '', { ...options, ...more });
  for (const object of objects) table.add(object);
  return table.format({ allNamespaces, isNamed: false });
};

const API = 'gateway.networking.k8s.io/v1';
const object = (kind: string, fields: object): ListedObject => ({
  apiVersion: API,
  kind,
  metadata: { name: 'x', namespace: 'default', generation: 1 },
  ...fields,
});
const entry = (controllerName: string, accepted: string): object => ({
  controllerName,
  conditions: [condition('Accepted', accepted), condition('ResolvedRefs', 'True')],
});

describe('a table', () => {
  it('has kubectl’s columns', () => {
    expect(tableOf([gateway('default', 'True')])).toBe(
      'NAME   CLASS      ADDRESS     PROGRAMMED   AGE\nedge   weirgate   192.0.2.1   True         4h\n',
    );
  });

  it.each([
    ['GatewayClass', 'NAME CONTROLLER ACCEPTED AGE DESCRIPTION'],
    ['Gateway', 'NAME CLASS ADDRESS PROGRAMMED AGE ACCEPTED PORTS LISTENERS ROUTES'],
    ['ListenerSet', 'NAME ACCEPTED PROGRAMMED AGE PARENT PORTS LISTENERS ROUTES'],
    ['HTTPRoute', 'NAME HOSTNAMES AGE ACCEPTED RESOLVED PARENTS RULES'],
    ['GRPCRoute', 'NAME HOSTNAMES AGE ACCEPTED RESOLVED PARENTS RULES'],
    ['TLSRoute', 'NAME AGE HOSTNAMES ACCEPTED RESOLVED PARENTS RULES'],
    ['TCPRoute', 'NAME AGE ACCEPTED RESOLVED PARENTS RULES'],
    ['UDPRoute', 'NAME AGE ACCEPTED RESOLVED PARENTS RULES'],
    ['ReferenceGrant', 'NAME AGE FROM TO'],
    ['BackendTLSPolicy', 'NAME AGE ACCEPTED RESOLVED TARGETS HOSTNAME'],
    ['Service', 'NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE SELECTOR'],
    ['EndpointSlice', 'NAME ADDRESSTYPE PORTS ENDPOINTS AGE'],
    ['Secret', 'NAME TYPE DATA AGE'],
    ['ConfigMap', 'NAME DATA AGE'],
    ['Namespace', 'NAME STATUS AGE'],
    ['WeirgateConfig', 'NAME AGE'],
  ])('of %s has its columns up to AGE, and ours behind it with -o wide', (kind, columns) => {
    // Whatever is missing or of another type: a table of it is no reason to fail.
    for (const odd of [
      {},
      { spec: null, status: 7 },
      { spec: { listeners: 'x', rules: [null], from: 5 }, data: null },
    ]) {
      const [wide] = tableOf([object(kind, odd)], false, { wide: true }).split('\n');
      const [narrow] = tableOf([object(kind, odd)]).split('\n');
      expect(wide?.split(/ {3,}/).join(' ')).toBe(columns);
      expect(narrow?.split(/ {3,}/).join(' ')).toBe(columns.replace(/ AGE.*/, ' AGE'));
    }
  });

  it('has a column NAMESPACE with -A, and when it needs one', () => {
    const one = tableOf([gateway('a', 'True')], true);
    const two = tableOf([gateway('a', 'True'), gateway('b', 'False')]);
    expect(one.split('\n')[0]).toMatch(/^NAMESPACE {3}NAME/);
    expect(two.split('\n')[2]).toMatch(/^b {11}edge .* False/);
    const { namespace, ...metadata } = gateway('a', 'True').metadata;
    expect(tableOf([{ ...object('GatewayClass', {}), metadata }], true), 'of none at all').toMatch(/^NAME /);
  });

  it('with -o wide says more', () => {
    const [header, row] = tableOf([gateway('a', 'True')], false, { wide: true }).split('\n');
    expect(header).toMatch(/AGE {3}ACCEPTED {3}PORTS {4}LISTENERS {3}ROUTES$/);
    expect(row).toMatch(/4h {4}True {7}80,443 {3}1 {11}2$/);
  });

  it('of routes shows the worst over our parents; what other controllers say is theirs', () => {
    const route = object('HTTPRoute', {
      spec: {
        hostnames: ['a.test', 'b.test'],
        parentRefs: [
          { name: 'edge', sectionName: 'http' },
          { kind: 'ListenerSet', name: 'team', port: 80 },
        ],
        rules: [{}],
      },
      status: { parents: [entry(CONTROLLER_NAME, 'True'), entry('example.com/other', 'False')] },
    });
    const wide = (own: ListedObject): string | undefined => tableOf([own], false, { wide: true }).split('\n')[1];
    expect(wide(route)).toBe('x      a.test,b.test   -     True       True       edge/http,ListenerSet/team:80   1');
    const refused = {
      ...route,
      status: { parents: [entry(CONTROLLER_NAME, 'True'), entry(CONTROLLER_NAME, 'False')] },
    };
    expect(wide(refused)).toContain('   False      True   ');
    expect(wide({ ...route, status: { parents: [] } })).toContain('   -          -   ');
  });

  it('of listeners has a line each, whatever has them', () => {
    const table = Table.ofListeners({ ...options, wide: true });
    table.add(
      object('Gateway', {
        spec: {
          listeners: [
            { name: 'http', port: 80, protocol: 'HTTP' },
            { name: 'tls', port: 443, protocol: 'TLS', hostname: '*.a.test', tls: { mode: 'Passthrough' } },
          ],
        },
        status: {
          listeners: [
            {
              name: 'http',
              attachedRoutes: 3,
              supportedKinds: [{ kind: 'HTTPRoute' }, { kind: 'GRPCRoute' }],
              conditions: ['Accepted', 'Programmed', 'ResolvedRefs'].map((type) => condition(type, 'True')),
            },
          ],
        },
      }),
    );
    table.add(
      object('ListenerSet', {
        spec: { listeners: [{ name: 'own', port: 81, protocol: 'HTTP' }] },
        status: { listeners: [{ name: 'own', conditions: [condition('Accepted', 'False', 'PortUnavailable')] }] },
      }),
    );
    expect(
      table
        .format({ allNamespaces: false, isNamed: false })
        .split('\n')
        .map((line) => line.split(/ {3,}/)),
    ).toEqual([
      [
        'NAME',
        'OF',
        'PROTOCOL',
        'PORT',
        'HOSTNAME',
        'PROGRAMMED',
        'ROUTES',
        'ACCEPTED',
        'CONFLICTED',
        'RESOLVED',
        'TLS',
        'KINDS',
        'REASON',
      ],
      ['http', 'Gateway/x', 'HTTP', '80', '*', 'True', '3', 'True', '-', 'True', '-', 'HTTPRoute,GRPCRoute'],
      ['tls', 'Gateway/x', 'TLS', '443', '*.a.test', '-', '-', '-', '-', '-', 'Passthrough', '-'],
      ['own', 'ListenerSet/x', 'HTTP', '81', '*', '-', '-', 'False', '-', '-', '-', '-', 'PortUnavailable'],
      [''],
    ]);
  });
});

describe('whole objects', () => {
  const written = async (format: 'json' | 'yaml', pages: readonly (readonly ListedObject[])[]): Promise<string> => {
    let text = '';
    const writer = new ListWriter(format, async (part) => {
      text += part;
    });
    for (const page of pages) await writer.add(page);
    await writer.end({ weirgate: { version: '1' } });
    return text;
  };
  const odd = object('HTTPRoute', { spec: { b: ['two\nlines', '{"a":\n1}'], a: { on: 'yes', empty: {}, none: [] } } });

  it('are one List, however many pages they come in', async () => {
    const expected = { apiVersion: 'v1', kind: 'List', metadata: { weirgate: { version: '1' } } };
    for (const pages of [[], [[]], [[odd]], [[odd, gateway('a', 'True')], [], [odd]]]) {
      const items = pages.flat();
      expect(JSON.parse(await written('json', pages))).toEqual({ ...expected, items });
      expect(parse(await written('yaml', pages))).toEqual({ ...expected, items });
    }
  });

  it('look as kubectl prints them: sorted keys, two blanks in JSON, lists at the level of their key in YAML', async () => {
    expect(await written('json', [[object('Gateway', {})]])).toBe(
      `${JSON.stringify({ apiVersion: 'v1', items: [{ apiVersion: API, kind: 'Gateway', metadata: { generation: 1, name: 'x', namespace: 'default' } }], kind: 'List', metadata: { weirgate: { version: '1' } } }, undefined, 2)}\n`,
    );
    expect(await written('yaml', [[object('Gateway', {})]])).toMatch(
      /^apiVersion: v1\nitems:\n- apiVersion: .*\n {2}kind: Gateway\n/,
    );
    expect(formatDocument(object('Gateway', { spec: { listeners: [{ name: 'a' }] } }))).toBe(
      `apiVersion: ${API}\nkind: Gateway\nmetadata:\n  generation: 1\n  name: x\n  namespace: default\nspec:\n  listeners:\n  - name: a\n`,
    );
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
