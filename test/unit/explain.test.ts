import { describe, expect, it } from 'vitest';
import { type Decision, explainRequest } from '../../src/explain/explain.js';
import type { Ir } from '../../src/ir/ir.js';
import { action, cluster, exact, httpListener, httpSocket, ir, oneListener, prefix } from '../support/ir.js';

function decide(from: Ir, host: string, path: string, method = 'GET', headers: [string, string][] = []): Decision {
  return explainRequest(from, from.sockets[0]!, { method, host, path, query: '', headers });
}

function actionOf(decision: Decision): string {
  return decision.kind === 'action' ? decision.action : decision.kind;
}

describe('explainRequest', () => {
  const hosts = oneListener([
    { hostname: 'a.example.com', matches: [prefix('/only', 0)] },
    { hostname: '*.example.com', matches: [prefix('/', 1)] },
    { hostname: '', matches: [prefix('/', 2)] },
  ]);

  it.each([
    { host: 'a.example.com', path: '/only', expected: 'a0' },
    { host: 'A.EXAMPLE.com.', path: '/only/x', expected: 'a0' },
    { host: 'a.example.com', path: '/else', expected: 'a1' },
    { host: 'x.y.example.com', path: '/', expected: 'a1' },
    { host: 'example.com', path: '/', expected: 'a2' },
    { host: '', path: '/', expected: 'a2' },
  ])('sends $host $path to $expected', ({ host, path, expected }) => {
    expect(actionOf(decide(hosts, host, path))).toBe(expected);
  });

  it.each([
    { path: '/v2', expected: 'a0' },
    { path: '/v2/', expected: 'a2' },
    { path: '/v2/x', expected: 'a1' },
    { path: '/v2/xy', expected: 'a2' },
    { path: '/v2x', expected: 'noRoute' },
  ])('judges the path $path by whole elements: $expected', ({ path, expected }) => {
    const paths = oneListener([{ hostname: '', matches: [prefix('/v2/', 2), prefix('/v2/x', 1), exact('/v2', 0)] }]);
    expect(actionOf(decide(paths, 'h', path))).toBe(expected);
  });

  it('demands method and every header, names in any case, the first of a name', () => {
    const wanted = oneListener([
      {
        hostname: '',
        matches: [prefix('/', 0, { method: 'POST', headers: [{ name: 'x-team', type: 'exact', value: 'blue' }] })],
      },
    ]);
    expect(
      actionOf(
        decide(wanted, 'h', '/', 'POST', [
          ['X-Team', 'blue'],
          ['x-team', 'red'],
        ]),
      ),
    ).toBe('a0');
    expect(
      actionOf(
        decide(wanted, 'h', '/', 'POST', [
          ['x-team', 'red'],
          ['X-Team', 'blue'],
        ]),
      ),
    ).toBe('noRoute');
    expect(actionOf(decide(wanted, 'h', '/', 'POST'))).toBe('noRoute');
    expect(actionOf(decide(wanted, 'h', '/', 'post', [['x-team', 'blue']]))).toBe('noRoute');
  });

  it('never serves a host by a less specific listener', () => {
    const isolated = ir({
      sockets: [httpSocket(80, [0, 1])],
      listeners: [
        httpListener('', [{ hostname: '', matches: [prefix('/', 0)] }], 'any'),
        httpListener('*.foo.com', [{ hostname: '*.foo.com', matches: [prefix('/a', 0)] }], 'foo'),
      ],
      actions: [action('a0')],
      clusters: [cluster('one', [])],
    });
    expect(decide(isolated, 'x.foo.com', '/b')).toMatchObject({ kind: 'noRoute', listener: 'foo' });
    expect(decide(isolated, 'foo.com', '/b')).toMatchObject({ kind: 'action', listener: 'any' });
  });

  it('says why every other candidate lost', () => {
    const decision = decide(hosts, 'a.example.com', '/only');
    expect(decision.lost).toEqual([]);
    const other = decide(hosts, 'b.example.com', '/x');
    expect(other.lost).toEqual([{ kind: 'virtualHost', name: 'a.example.com', why: 'it does not cover the host' }]);
    const ranked = oneListener([
      { hostname: '', matches: [prefix('/a', 0), prefix('/', 1), prefix('/a', 2, { method: 'PUT' })] },
    ]);
    expect(decide(ranked, 'h', '/a').lost).toEqual([
      { kind: 'match', name: 'a2 at any host: PUT prefix /a', why: 'the method is GET' },
      { kind: 'match', name: 'a1 at any host: any method prefix /', why: 'prefix /a is more specific' },
    ]);
  });

  it('names the shares of the backends, invalid references among them', () => {
    const split: Ir = {
      ...oneListener([{ hostname: '', matches: [prefix('/', 0)] }]),
      actions: [
        {
          ...action('a0', [3]),
          backends: [
            { kind: 'cluster', weight: 3, cluster: 0, filters: [] },
            { kind: 'invalid', weight: 1, status: 500 },
          ],
        },
      ],
    };
    expect(decide(split, 'h', '/')).toMatchObject({
      shares: [
        { backend: 'Service/default/web:80', share: 0.75 },
        { backend: 'invalid reference (500)', share: 0.25 },
      ],
    });
  });
});
