/** Which fields a request and an answer carry on the other side. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from './at-end.js';
import { freePort, Instance, until } from './instance.js';
import {
  backend,
  backendRef,
  config,
  type Doc,
  gateway,
  gatewayClass,
  httpListener,
  httpRoute,
  simpleHttp,
  yaml,
} from './manifests.js';
import { ask } from './peers.js';
import { Endpoint, exchange, type Place, Rig } from './rig.js';
import { values, Wire } from './wire.js';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const request = (place: Place, ...fields: string[]): string =>
  ['GET /path?q HTTP/1.1', `Host: ${place.host}`, ...fields, '', ''].join('\r\n');

describe('by default', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.start({ places: 20, workers: 1 });
  });

  test('a plain request gets the three forwarding fields and nothing else', async () => {
    const place = rig.place();
    const { request: seen } = await exchange(place, request(place, 'Accept: */*', 'X-Own: 1'), OK);
    expect(seen.line).toBe('GET /path?q HTTP/1.1');
    expect(seen.fields).toEqual([
      `Host: ${place.host}`,
      'Accept: */*',
      'X-Own: 1',
      'x-forwarded-for: 127.0.0.1',
      'x-forwarded-proto: http',
      `x-forwarded-host: ${place.host}`,
    ]);
  });

  test("a client's own forwarding fields are dropped, however they are spelled or protected", async () => {
    const place = rig.place();
    const { request: seen } = await exchange(
      place,
      request(
        place,
        'X-Forwarded-For: 10.9.8.7',
        'x-forwarded-for: 10.9.8.6',
        'X-Forwarded-Proto: https',
        'X-FORWARDED-HOST: evil.test',
        'X-Forwarded-Port: 444',
        'X_Forwarded_For: 10.9.8.5',
        'Forwarded: for=10.9.8.7',
        'Connection: x-forwarded-for, x-forwarded-host',
      ),
      OK,
    );
    expect(seen.fields).toEqual([
      `Host: ${place.host}`,
      'x-forwarded-for: 127.0.0.1',
      'x-forwarded-proto: http',
      `x-forwarded-host: ${place.host}`,
    ]);
  });

  test('hop-by-hop fields end here in both directions, also those that Connection names', async () => {
    const place = rig.place();
    const { request: seen, answer } = await exchange(
      place,
      request(
        place,
        'Connection: keep-alive, X-Hop, x-other',
        'Keep-Alive: timeout=5',
        'Proxy-Connection: keep-alive',
        'TE: trailers',
        'X-Hop: secret',
        'X-Other: secret',
        'Upgrade: nothing/1',
        'X-End: stays',
      ),
      [
        'HTTP/1.1 200 OK',
        'Connection: keep-alive, X-Back',
        'Keep-Alive: timeout=5',
        'X-Back: secret',
        'X-Stay: 1',
        'Content-Length: 2',
        '',
        'ok',
      ].join('\r\n'),
    );
    expect(seen.fields.filter((line) => !/^(host|x-forwarded-)/i.test(line))).toEqual(['X-End: stays']);
    expect(answer.fields).toEqual(['X-Stay: 1', 'content-length: 2']);
  });

  test('Host and the framing cannot be named away by Connection', async () => {
    const place = rig.place();
    const { request: seen } = await exchange(
      place,
      `POST / HTTP/1.1\r\nHost: ${place.host}\r\nConnection: host, content-length\r\nContent-Length: 3\r\n\r\nabc`,
      OK,
    );
    expect(seen.body.toString()).toBe('abc');
    expect(values(seen.fields, 'host')).toEqual([place.host]);
  });

  test('status, reason, order and repetition of fields, and odd bytes arrive as the endpoint sent them', async () => {
    const place = rig.place();
    const { answer } = await exchange(
      place,
      request(place),
      'HTTP/1.1 299 Ganz \xe9igen\r\nSet-Cookie: a=1\r\nX-B: \xff\xfe\r\nset-cookie: b=2\r\nX-Empty:\r\nContent-Length: 0\r\n\r\n',
    );
    expect(answer.line).toBe('HTTP/1.1 299 Ganz \xe9igen');
    expect(answer.fields).toEqual([
      'Set-Cookie: a=1',
      'X-B: \xff\xfe',
      'set-cookie: b=2',
      'X-Empty:',
      'content-length: 0',
    ]);
  });

  test('Via is neither added nor removed', async () => {
    const place = rig.place();
    const { request: seen, answer } = await exchange(
      place,
      request(place, 'Via: 1.1 edge'),
      'HTTP/1.1 200 OK\r\nVia: 1.1 origin\r\nContent-Length: 2\r\n\r\nok',
    );
    expect([values(seen.fields, 'via'), values(answer.fields, 'via')]).toEqual([['1.1 edge'], ['1.1 origin']]);
  });

  test('a 1.0 request without Host reaches no place, and one with Host goes upstream as 1.1', async () => {
    const place = rig.place();
    const client = await rig.connect();
    await client.write('GET / HTTP/1.0\r\n\r\n');
    expect((await client.answer()).status).toBe(404);
    const { request: seen } = await exchange(place, `GET / HTTP/1.0\r\nHost: ${place.host}\r\n\r\n`, OK);
    expect(seen.line).toBe('GET / HTTP/1.1');
  });

  test('a head of 100 kB and 300 fields reaches the client as the endpoint sent it', async () => {
    const place = rig.place();
    const fields = Array.from({ length: 300 }, (_, n) => `X-${n}: ${'x'.repeat(330)}`);
    const { answer } = await exchange(
      place,
      request(place),
      `HTTP/1.1 200 OK\r\n${fields.join('\r\n')}\r\nContent-Length: 2\r\n\r\nok`,
    );
    expect(answer.fields).toEqual([...fields, 'content-length: 2']);
    expect(answer.body.toString()).toBe('ok');
  });

  test("a request whose peer has another address says so: the peer's, not the listener's", async () => {
    const place = rig.place();
    const client = await Wire.connect(rig.port, { from: '127.0.0.77' });
    await client.write(request(place));
    const server = await place.endpoint.accept();
    expect(values((await server.request()).fields, 'x-forwarded-for')).toEqual(['127.0.0.77']);
    await server.write(OK);
    await client.answer();
  });
});

describe('with via and trusted proxies', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.start({ places: 20, workers: 1, settings: { via: true, trustedProxies: ['127.0.0.64/26'] } });
  });

  const from = async (address: string, place: Place, ...fields: string[]): Promise<readonly string[]> => {
    const client = await Wire.connect(rig.port, { from: address });
    await client.write(request(place, ...fields));
    const server = await place.endpoint.accept();
    const seen = await server.request();
    await server.write(OK);
    expect(values((await client.answer()).fields, 'via')).toEqual(['1.1 weirgate']);
    return seen.fields;
  };

  test("a trusted proxy's values are kept, its address is appended", async () => {
    const place = rig.place();
    const fields = await from(
      '127.0.0.127',
      place,
      'X-Forwarded-For: 10.9.8.7',
      'X-Forwarded-For: 10.9.8.6',
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: shop.example',
      'X-Forwarded-Port: 444',
      'Via: 1.1 edge',
    );
    expect(values(fields, 'x-forwarded-for')).toEqual(['10.9.8.7, 10.9.8.6, 127.0.0.127']);
    expect(values(fields, 'x-forwarded-proto')).toEqual(['https']);
    expect(values(fields, 'x-forwarded-host')).toEqual(['shop.example']);
    expect(values(fields, 'x-forwarded-port')).toEqual(['444']);
    expect(values(fields, 'via')).toEqual(['1.1 edge', '1.1 weirgate']);
  });

  test('what a trusted proxy leaves out is filled in', async () => {
    const place = rig.place();
    const fields = await from('127.0.0.64', place, 'X-Forwarded-For: 10.9.8.7');
    expect(values(fields, 'x-forwarded-for')).toEqual(['10.9.8.7, 127.0.0.64']);
    expect(values(fields, 'x-forwarded-proto')).toEqual(['http']);
    expect(values(fields, 'x-forwarded-host')).toEqual([place.host]);
  });

  test('the neighbours of the trusted network are not trusted', async () => {
    for (const address of ['127.0.0.63', '127.0.0.128']) {
      const place = rig.place();
      const fields = await from(address, place, 'X-Forwarded-For: 10.9.8.7', 'X-Forwarded-Proto: https');
      expect(values(fields, 'x-forwarded-for')).toEqual([address]);
      expect(values(fields, 'x-forwarded-proto')).toEqual(['http']);
    }
  });
});

test('an IPv4 client of a listener on every address is an IPv4 client everywhere: fields, trust and log', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'weirgate-log-')), 'access.log');
  atEnd(async () => rmSync(dirname(file), { recursive: true, force: true }));
  const port = await freePort();
  const endpoint = await Endpoint.listen();
  await Instance.start({
    files: {
      'edge.yaml': yaml(
        gatewayClass('settings'),
        config('settings', { trustedProxies: ['127.0.0.3/32'], accessLog: { target: file } }),
        // Without addresses: [::], or 0.0.0.0 where there is no IPv6.
        { ...gateway('edge', []), spec: { gatewayClassName: 'weirgate', listeners: [httpListener(port)] } },
        httpRoute('all', { rules: [{ backendRefs: [backendRef('pool')] }] }),
        backend('pool', endpoint.port),
      ),
    },
  });
  for (const [from, wanted] of [
    ['127.0.0.3', '10.9.8.7, 127.0.0.3'],
    ['127.0.0.4', '127.0.0.4'],
  ] as const) {
    const client = await Wire.connect(port, { from });
    await client.write('GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 10.9.8.7\r\nConnection: close\r\n\r\n');
    const server = await endpoint.accept();
    expect(values((await server.request()).fields, 'x-forwarded-for')).toEqual([wanted]);
    await server.write('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    await client.rest();
  }
  let peers: string[] = [];
  await until('both are logged', () => {
    peers = readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => String(JSON.parse(line).peer));
    return peers.length === 2;
  });
  expect(peers.map((peer) => peer.replace(/:\d+$/, '')).toSorted()).toEqual(['127.0.0.3', '127.0.0.4']);
});

test('a 1.0 request that names no host goes upstream with the address that the client connected to', async () => {
  const port = await freePort();
  const endpoint = await Endpoint.listen();
  await Instance.start({ files: { 'edge.yaml': simpleHttp(port, endpoint.port) } });
  const client = await Wire.connect(port);
  await client.write('GET /probe HTTP/1.0\r\n\r\n');
  const { line, fields } = await (await endpoint.accept()).request();
  expect(line).toBe('GET /probe HTTP/1.1');
  expect(values(fields, 'host')).toEqual([`127.0.0.1:${port}`]);
  expect(values(fields, 'x-forwarded-host')).toEqual([]);
});

test('IPv6 clients and endpoints are served, and X-Forwarded-For has their address without brackets', async () => {
  // Where the host has no IPv6 the same is asked of IPv4.
  const has6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));
  const [address, authority] = has6 ? ['::1', '[::1]'] : ['127.0.0.1', '127.0.0.1'];
  const port = await freePort(address);
  const seen: (readonly string[])[] = [];
  const server = createServer((req, res) => {
    seen.push(req.rawHeaders);
    res.end('ok');
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  atEnd(async () => void server.close());
  const edge = gateway('edge', [httpListener(port)]);
  await Instance.start({
    files: {
      'edge.yaml': yaml(
        gatewayClass(),
        { ...edge, spec: { ...(edge.spec as Doc), addresses: [{ type: 'IPAddress', value: address }] } },
        httpRoute('all', { rules: [{ backendRefs: [backendRef('pool')] }] }),
        { ...backend('pool'), spec: { endpoints: [{ address, port: (server.address() as AddressInfo).port }] } },
      ),
    },
  });
  const answer = await ask(port, { address, host: `${authority}:${port}` });
  expect([answer.status, answer.body]).toEqual([200, 'ok']);
  const [raw = []] = seen;
  expect(raw[raw.indexOf('x-forwarded-for') + 1]).toBe(address);
  expect(raw[raw.indexOf('host') + 1]).toBe(`${authority}:${port}`);
});
