/** Clients that send garbage, too much, half of something, or vanish: counted, answered where it helps, nothing left behind. */
import { connect as connectTls } from 'node:tls';
import { beforeAll, describe, expect, test } from 'vitest';
import { each } from './each.js';
import { until } from './instance.js';
import { exchange, type Place, Rig } from './rig.js';
import { field, Wire } from './wire.js';

let rig: Rig;
let pids: string;
beforeAll(async () => {
  rig = await Rig.start({ places: 20, settings: { limits: { headBytes: 4096, headers: 20 } } });
  pids = rig.instance.workerPids().sort().join();
});

const get = (place: Place): string => `GET / HTTP/1.1\r\nHost: ${place.host}\r\n\r\n`;
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

describe('too much', () => {
  const HEAD = 'GET / HTTP/1.1\r\nHost: p0.corp.test\r\n';
  each([
    { what: 'a target above the limit of the head', bytes: `GET /${'x'.repeat(5000)} HTTP/1.1\r\n`, status: 414 },
    { what: 'a first line without end', bytes: 'x'.repeat(5000), status: 414 },
    { what: 'one long field', bytes: `${HEAD}X: ${'x'.repeat(5000)}\r\n\r\n`, status: 431 },
    { what: 'a field name without end', bytes: `${HEAD}${'x'.repeat(5000)}`, status: 431 },
    { what: 'many fields', bytes: `${HEAD}${'X: y\r\n'.repeat(20)}\r\n`, status: 431 },
    { what: 'a head of a megabyte', bytes: `${HEAD}${'X: y\r\n'.repeat(170_000)}\r\n`, status: 431 },
  ])('$what is $status, read away and counted', async ({ bytes, status }) => {
    const before = await rig.closed('head_too_large');
    const client = await rig.connect();
    const sending = client.write(bytes);
    const answer = await client.answer();
    expect([answer.status, field(answer.fields, 'connection')]).toEqual([status, 'close']);
    await sending;
    client.finish();
    expect(await client.rest()).toMatchObject({ text: '', end: 'fin' });
    await until('it is counted', async () => (await rig.closed('head_too_large')) === before + 1);
  });

  test('nothing: a head of exactly 4,096 bytes, and one of 20 fields, are served', async () => {
    for (const pad of [4096, 0]) {
      const place = rig.place();
      const start = `GET / HTTP/1.1\r\nHost: ${place.host}\r\n`;
      const padded = `${start}X: ${'x'.repeat(4096 - start.length - 7)}\r\n\r\n`;
      const many = `${start}${'X: y\r\n'.repeat(19)}\r\n`;
      expect(padded).toHaveLength(4096);
      expect((await exchange(place, pad === 0 ? many : padded, OK)).answer.status).toBe(200);
    }
  });
});

describe('another protocol', () => {
  test('a TLS hello gets a plain 400 that says so, and a TLS client an error at once', async () => {
    const client = await rig.connect();
    await client.write(Buffer.from('16030100c8010000c40303', 'hex'));
    const answer = await client.answer();
    expect([answer.status, answer.body.toString()]).toEqual([
      400,
      '400 bad request: TLS bytes on a port that speaks plain HTTP\n',
    ]);
    const code = await new Promise<string>((resolve) => {
      const socket = connectTls({ port: rig.port, host: '127.0.0.1', rejectUnauthorized: false });
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
    });
    expect(code).toMatch(/^ERR_SSL/);
  });

  each([
    { what: 'SSH', bytes: 'SSH-2.0-OpenSSH_9.9\r\n', status: 400 },
    { what: 'SMTP', bytes: 'EHLO mail.test\r\n', status: 400 },
    { what: 'Redis', bytes: '*1\r\n$4\r\nPING\r\n', status: 400 },
    { what: 'PROXY v1', bytes: 'PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\nGET / HTTP/1.1\r\n', status: 400 },
    { what: 'PROXY v2', bytes: '\r\n\r\n\0\r\nQUIT\n', status: 400 },
    { what: 'HTTP/0.9', bytes: 'GET /\r\n', status: 400 },
    { what: 'HTTP/2', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', status: 505 },
  ])('$what gets $status as soon as it is recognised', async ({ bytes, status }) => {
    const client = await rig.connect();
    await client.write(bytes);
    expect((await client.answer()).status).toBe(status);
  });

  test('two hundred connections of random bytes are all counted, none is served', async () => {
    const seed = Date.now() % 1_000_000;
    let state = seed;
    const random = (below: number): number => {
      // A linear congruential generator: repeatable from the seed in the message.
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state % below;
    };
    const before = await closedInAll();
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          const bytes = Buffer.from(Array.from({ length: 1 + random(400) }, () => random(256)));
          const client = await rig.connect();
          await client.write(bytes);
          client.finish();
          const { text } = await client.rest();
          expect(text, `seed ${seed}`).toMatch(/^(HTTP\/1\.1 (400|505|501) |$)/);
        }),
      );
    }
    await until('all are counted', async () => (await closedInAll()) === before + 200);
  });
});

describe('a client that', () => {
  each([
    { what: 'sends half a head, then FIN', how: 'fin', bytes: 'GET / HT', reason: 'client_aborted' },
    { what: 'sends half a head, then a reset', how: 'reset', bytes: 'GET / HT', reason: 'client_reset' },
    { what: 'sends nothing, then FIN', how: 'fin', bytes: '', reason: 'client_closed' },
    { what: 'sends nothing, then a reset', how: 'reset', bytes: '', reason: 'client_reset' },
  ])('$what is counted as $reason', async ({ how, bytes, reason }) => {
    const before = await rig.closed(reason);
    const client = await rig.connect();
    if (bytes !== '') await client.write(bytes);
    if (how === 'fin') client.finish();
    else client.reset();
    await until('it is counted', async () => (await rig.closed(reason)) === before + 1);
  });

  each([
    { what: 'FIN', end: (client: Wire) => client.finish(), reason: 'client_aborted' },
    { what: 'a reset', end: (client: Wire) => client.reset(), reason: 'client_reset' },
  ])('ends in the middle of its body with $what ends the request at the endpoint', async ({ end, reason }) => {
    const place = rig.place();
    const before = await rig.closed(reason);
    const client = await rig.connect();
    await client.write(`PUT / HTTP/1.1\r\nHost: ${place.host}\r\nContent-Length: 100\r\n\r\nhalf`);
    const server = await place.endpoint.accept();
    await server.requestHead();
    await server.sees('half');
    end(client);
    expect((await server.rest()).text).toBe('half');
    await until('it is counted', async () => (await rig.closed(reason)) === before + 1);
  });

  test('resets while it waits for its answer ends the request at the endpoint', async () => {
    const place = rig.place();
    const before = await rig.closed('client_reset');
    const client = await rig.connect();
    await client.write(get(place));
    const server = await place.endpoint.accept();
    await server.request();
    client.reset();
    expect((await server.rest()).text).toBe('');
    await until('it is counted', async () => (await rig.closed('client_reset')) === before + 1);
  });

  each([
    { what: 'a length', head: `Content-Length: ${1 << 30}`, piece: Buffer.alloc(1 << 20) },
    {
      what: 'chunks',
      head: 'Transfer-Encoding: chunked',
      piece: Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(1 << 20), Buffer.from('\r\n')]),
    },
  ])('resets in the middle of an answer with $what ends it at the endpoint', async ({ head, piece }) => {
    const place = rig.place();
    const before = await rig.closed('client_reset');
    const client = await rig.connect();
    await client.write(get(place));
    const server = await place.endpoint.accept();
    await server.request();
    await server.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`);
    await server.write(piece);
    await client.take(1 << 20);
    client.reset();
    await until('the endpoint is let go', async () => {
      server.socket.write(piece);
      return server.ended !== undefined;
    });
    await until('it is counted', async () => (await rig.closed('client_reset')) === before + 1);
  });

  test('closes without reading answers to its hundred pipelined requests harms nobody', async () => {
    const place = rig.place();
    place.endpoint.serve(() => `HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n${'x'.repeat(20_000)}`);
    const client = await rig.connect();
    client.pause();
    await client.write(get(place).repeat(100));
    client.socket.destroy();
    const next = await Wire.connect(rig.port);
    await next.write(get(place));
    expect((await next.answer()).body.length).toBe(20_000);
  });
});

test('behind all of this nothing is under way, every connection is counted, and the workers are the same', async () => {
  await until('all gauges are at 0', async () => (await rig.underWay()) === 0);
  const accepted = await rig.instance.metric('weirgate_listener_connections_accepted_total');
  expect(await rig.instance.metric('weirgate_listener_connections_closed_total')).toBe(accepted);
  await until('no connection is open', async () => {
    return (await rig.instance.metric('weirgate_worker_connections_active')) === 0;
  });
  expect(rig.instance.workerPids().sort().join()).toBe(pids);
  expect(await rig.instance.metric('weirgate_worker_restarts_total')).toBe(0);
});

async function closedInAll(): Promise<number> {
  return rig.instance.metric('weirgate_connections_closed_total');
}
