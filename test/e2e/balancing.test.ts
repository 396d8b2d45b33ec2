/** Shares of endpoints and backends are those of the whole host, however many workers there are (case H21). */
import { describe, expect, test } from 'vitest';
import { freePort, Instance } from './instance.js';
import {
  backend,
  backendRef,
  type Doc,
  gateway,
  gatewayClass,
  httpListener,
  httpRoute,
  simpleTcp,
  tcpListener,
  tcpRoute,
  yaml,
} from './manifests.js';
import { ask, httpBackend, tcpBackend } from './peers.js';
import { Wire } from './wire.js';

const WORKERS = 4;

/** How often each value comes. */
function tally(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values.toSorted()) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

describe('over four workers', () => {
  test('thirty TCP connections one after the other are 10, 10 and 10 for three endpoints, each turn of three complete', async () => {
    const port = await freePort();
    const endpoints = [];
    for (const name of ['a', 'b', 'c']) endpoints.push(await tcpBackend((socket) => socket.end(name)));
    await Instance.start({
      workers: WORKERS,
      files: {
        'edge.yaml': simpleTcp(port, ...endpoints.map((endpoint) => endpoint.port)),
      },
    });
    const got: string[] = [];
    for (let number = 0; number < 30; number += 1) {
      const client = await Wire.connect(port);
      got.push((await client.rest()).text);
      client.finish();
    }
    expect(tally(got)).toEqual({ a: 10, b: 10, c: 10 });
    for (let at = 0; at < 30; at += 3) expect(new Set(got.slice(at, at + 3)).size).toBe(3);
  });

  test('eight endpoints of weights 1 to 8 get exactly their shares of 3,600 requests over 64 connections', async () => {
    const port = await freePort();
    const endpoints = [];
    for (let weight = 1; weight <= 8; weight += 1) endpoints.push({ weight, backend: await httpBackend(`w${weight}`) });
    const pool = {
      ...backend('pool'),
      spec: {
        endpoints: endpoints.map(({ weight, backend: { port: at } }) => ({ address: '127.0.0.1', port: at, weight })),
      },
    };
    const instance = await Instance.start({
      workers: WORKERS,
      files: {
        'edge.yaml': yaml(
          gatewayClass(),
          gateway('edge', [httpListener(port)]),
          httpRoute('all', { rules: [{ backendRefs: [backendRef('pool')] }] }),
          pool,
        ),
      },
    });
    let left = 3_600;
    const client = async (): Promise<void> => {
      const wire = await Wire.connect(port);
      while (left-- > 0) {
        await wire.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
        expect((await wire.answer()).status).toBe(200);
      }
    };
    await Promise.all(Array.from({ length: 64 }, client));
    expect(endpoints.map(({ backend: { seen } }) => seen.length)).toEqual([100, 200, 300, 400, 500, 600, 700, 800]);
    // That several workers had a part in it is what makes this more than arithmetic.
    const accepts = (await instance.metrics()).match(/^weirgate_worker_accepts_total\{worker="\d"\} [1-9]/gm);
    expect(accepts?.length).toBe(WORKERS);
  });

  test('weights 80 and 20 are 4 and 1 of any five requests in a row, each on a connection of its own', async () => {
    const port = await freePort();
    const [blue, green] = [await httpBackend('blue'), await httpBackend('green')];
    const files = (...weights: readonly [number, number]): string =>
      yaml(
        gatewayClass(),
        gateway('edge', [httpListener(port)]),
        httpRoute('all', {
          rules: [{ backendRefs: [backendRef('blue', weights[0]), backendRef('green', weights[1])] }],
        }),
        backend('blue', blue.port),
        backend('green', green.port),
      );
    const instance = await Instance.start({ workers: WORKERS, files: { 'edge.yaml': files(80, 20) } });
    const names = async (count: number): Promise<string[]> => {
      const got: string[] = [];
      for (let number = 0; number < count; number += 1) got.push(String((await ask(port)).headers['x-backend']));
      return got;
    };
    const got = await names(100);
    expect(tally(got)).toEqual({ blue: 80, green: 20 });
    for (let at = 0; at + 5 <= got.length; at += 1) expect(tally(got.slice(at, at + 5))).toEqual({ blue: 4, green: 1 });

    instance.write('edge.yaml', files(1, 3));
    expect((await instance.reload()).status).toBe(0);
    expect(tally(await names(40))).toEqual({ blue: 10, green: 30 });

    instance.write('edge.yaml', files(0, 1));
    expect((await instance.reload()).status).toBe(0);
    expect(tally(await names(10))).toEqual({ green: 10 });
  });

  test('two rules with one backend each take their own turns: neither shifts the shares of the other', async () => {
    const port = await freePort();
    const [one, two] = [await httpBackend('one'), await httpBackend('two')];
    const rule = (value: string): Doc => ({
      matches: [{ path: { type: 'PathPrefix', value } }],
      backendRefs: [backendRef('one'), backendRef('two')],
    });
    await Instance.start({
      workers: WORKERS,
      files: {
        'edge.yaml': yaml(
          gatewayClass(),
          gateway('edge', [httpListener(port)]),
          httpRoute('all', { rules: [rule('/a'), rule('/b')] }),
          backend('one', one.port),
          backend('two', two.port),
        ),
      },
    });
    const got: Record<string, string[]> = { '/a': [], '/b': [] };
    for (let number = 0; number < 20; number += 1) {
      for (const path of ['/a', '/b']) got[path]?.push(String((await ask(port, { path })).headers['x-backend']));
    }
    expect([tally(got['/a'] ?? []), tally(got['/b'] ?? [])]).toEqual([
      { one: 10, two: 10 },
      { one: 10, two: 10 },
    ]);
  });
});

test('a TCP connection stays with the backend that was drawn: its other endpoints are tried, never another backend', async () => {
  const [port, dead] = [await freePort(), await freePort()];
  const [good, half] = [await tcpBackend((s) => s.end('good')), await tcpBackend((s) => s.end('half'))];
  const instance = await Instance.start({
    workers: 1,
    files: {
      'edge.yaml': yaml(
        gatewayClass(),
        gateway('edge', [tcpListener(port)]),
        tcpRoute('all', [backendRef('good', 1), backendRef('half', 1), backendRef('dead', 1)]),
        backend('good', good.port),
        backend('half', dead, half.port),
        backend('dead', dead),
      ),
    },
  });
  const got: string[] = [];
  for (let number = 0; number < 30; number += 1) {
    // The reset may be there before the connect returns.
    const client = await Wire.connect(port).catch(() => undefined);
    const { text, end } = (await client?.rest()) ?? { text: '', end: 'reset' };
    got.push(text === '' ? end : text);
    client?.finish();
  }
  expect(tally(got)).toEqual({ good: 10, half: 10, reset: 10 });
  expect(await instance.metric('weirgate_connections_closed_total', { reason: 'connect_refused' })).toBe(10);
});
