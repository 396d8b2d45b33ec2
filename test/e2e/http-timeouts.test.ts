/** Every wait has an end: who is waited for decides what the client is told and what is counted. */
import { beforeAll, describe, expect, test } from 'vitest';
import { each } from './each.js';
import { until } from './instance.js';
import { exchange, Rig } from './rig.js';
import { field, Wire } from './wire.js';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const get = (host: string): string => `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

describe('limits of a Gateway', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.start({
      places: 20,
      workers: 1,
      settings: { timeouts: { idle: '600ms', header: '250ms', streamIdle: '400ms' } },
    });
  });

  test('a kept connection without a further request gets a FIN after the idle limit', async () => {
    const before = await rig.closed('idle_timeout');
    const place = rig.place();
    const { client } = await exchange(place, get(place.host), OK);
    expect(await client.rest()).toMatchObject({ text: '', end: 'fin' });
    await until('it is counted', async () => (await rig.closed('idle_timeout')) === before + 1);
  });

  test('a connection that never says anything gets a FIN after the header limit, without an answer', async () => {
    const before = await rig.closed('header_timeout');
    const client = await rig.connect();
    expect(await client.rest()).toMatchObject({ text: '', end: 'fin' });
    await until('it is counted', async () => (await rig.closed('header_timeout')) === before + 1);
  });

  test('half a head gets 408, even if a byte of it comes now and then', async () => {
    const before = await rig.closed('header_timeout');
    const [still, dripping] = [await rig.connect(), await rig.connect()];
    await still.write('GET / HTTP/1.1\r\nHo');
    let answered = false;
    const drip = (async () => {
      await dripping.write('GET / HTTP/1.1\r\n');
      await until('it is answered', async () => {
        await dripping.write('x');
        return answered;
      });
    })();
    for (const client of [still, dripping]) {
      const answer = await client.answer();
      expect([answer.status, answer.body.toString(), field(answer.fields, 'connection')]).toEqual([
        408,
        '408 request timeout: the request head did not arrive in time\n',
        'close',
      ]);
    }
    answered = true;
    await drip;
    still.finish();
    dripping.finish();
    await until('both are counted', async () => (await rig.closed('header_timeout')) === before + 2);
  });

  test('the header limit of a later request runs from its own first byte', async () => {
    const place = rig.place();
    const { client, server } = await exchange(place, get(place.host), OK);
    // A stranger's 408 says that the header limit has passed meanwhile.
    const stranger = await rig.connect();
    await stranger.write('GET / HT');
    expect((await stranger.answer()).status).toBe(408);
    await client.write('GET /la');
    await client.write(`ter HTTP/1.1\r\nHost: ${place.host}\r\n\r\n`);
    expect((await server.request()).target).toBe('/later');
  });

  test('a body that stops coming gets 408, and the endpoint sees no end of it', async () => {
    const place = rig.place();
    const client = await rig.connect();
    await client.write(`PUT / HTTP/1.1\r\nHost: ${place.host}\r\nContent-Length: 10\r\n\r\nhello`);
    const server = await place.endpoint.accept();
    await server.requestHead();
    const answer = await client.answer();
    expect([answer.status, answer.body.toString()]).toEqual([
      408,
      '408 request timeout: the request body did not arrive in time\n',
    ]);
    expect((await server.rest()).text).toBe('hello');
    client.finish();
    await until('it is counted', async () => (await rig.closed('client_stalled')) >= 1);
  });

  test('an endpoint that does not take the body is blamed, not the client: 504', async () => {
    const place = rig.place();
    place.endpoint.holds = true;
    const before = await rig.closed('stream_idle_timeout');
    const client = await rig.connect();
    await client.write(`PUT / HTTP/1.1\r\nHost: ${place.host}\r\nContent-Length: ${64 << 20}\r\n\r\n`);
    // More than all buffers on the way hold.
    client.socket.write(Buffer.alloc(64 << 20));
    await place.endpoint.accept();
    const answer = await client.answer();
    expect([answer.status, answer.body.toString()]).toEqual([
      504,
      `504 gateway timeout: endpoint 127.0.0.1:${place.endpoint.port} did not answer in time\n`,
    ]);
    client.socket.destroy();
    await until('it is counted', async () => (await rig.closed('stream_idle_timeout')) === before + 1);
  });

  test('an endpoint that takes the request and says nothing gets the client 504, which may go on', async () => {
    const place = rig.place();
    const client = await rig.connect();
    await client.write(get(place.host));
    const server = await place.endpoint.accept();
    const answer = await client.answer();
    expect([answer.status, answer.body.toString(), field(answer.fields, 'connection')]).toEqual([
      504,
      `504 gateway timeout: endpoint 127.0.0.1:${place.endpoint.port} did not answer in time\n`,
      undefined,
    ]);
    await server.request();
    expect(await server.isOver()).toBe(true);
    await client.write(get(place.host));
    await (await place.endpoint.accept()).write(OK);
    expect((await client.answer()).status).toBe(200);
  });

  each([
    { what: 'a length', head: 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello' },
    { what: 'chunks', head: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n' },
  ])('an answer with $what that stops coming is cut', async ({ head }) => {
    const place = rig.place();
    const before = await rig.closed('stream_idle_timeout');
    const client = await rig.connect();
    await client.write(get(place.host));
    const server = await place.endpoint.accept();
    await server.request();
    await server.write(head);
    await client.sees('hello');
    expect((await client.rest()).end).toBe('reset');
    expect((await server.rest()).text).toBe('');
    expect(await rig.closed('stream_idle_timeout')).toBe(before + 1);
  });

  test('a body that goes on now and then is not cut, however long it takes', async () => {
    const place = rig.place();
    const client = await rig.connect();
    await client.write(`PUT / HTTP/1.1\r\nHost: ${place.host}\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const server = await place.endpoint.accept();
    const startedAt = Date.now();
    await until('twice the limit has passed', async () => {
      await client.write('1\r\nx\r\n');
      return Date.now() - startedAt > 900;
    });
    await client.write('0\r\n\r\n');
    await server.request();
    await server.write(OK);
    expect((await client.answer()).status).toBe(200);
  });

  test('a client that does not take its answer is cut and blamed, and the endpoint is let go', async () => {
    const place = rig.place();
    const before = await rig.closed('client_stalled');
    const client = await rig.connect();
    client.pause();
    await client.write(get(place.host));
    const server = await place.endpoint.accept();
    await server.request();
    await server.write(`HTTP/1.1 200 OK\r\nContent-Length: ${64 << 20}\r\n\r\n`);
    server.socket.write(Buffer.alloc(64 << 20));
    await until('the endpoint is let go', () => server.ended !== undefined);
    expect(await rig.closed('client_stalled')).toBe(before + 1);
    client.socket.destroy();
  });

  test('nothing is left under way', async () => {
    await until('all gauges are at 0', async () => (await rig.underWay()) === 0);
  });
});

describe('limits of a rule', () => {
  const RULES = [{ request: '300ms' }, { request: '5s', backendRequest: '300ms' }, { request: '400ms' }];
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.start({
      places: RULES.length,
      workers: 1,
      rule: (place) => ({ timeouts: RULES[place] }),
    });
  });

  each([
    { what: 'request', text: 'the request took longer than its limit', reason: 'request_timeout' },
    { what: 'backendRequest', text: 'endpoint 127.0.0.1:PORT did not answer in time', reason: 'upstream_timeout' },
  ])('$what: 504 says "$text", when the limit is over and not before', async ({ text, reason }) => {
    const place = rig.place();
    const client = await rig.connect();
    const startedAt = performance.now();
    await client.write(get(place.host));
    await (await place.endpoint.accept()).request();
    const answer = await client.answer();
    expect(performance.now() - startedAt).toBeGreaterThan(295);
    expect([answer.status, answer.body.toString()]).toEqual([
      504,
      `504 gateway timeout: ${text.replace('PORT', String(place.endpoint.port))}\n`,
    ]);
    expect(await rig.closed(reason)).toBe(1);
  });

  test('request: an answer that has begun and goes on beyond it is cut', async () => {
    const place = rig.place();
    const client = await rig.connect();
    await client.write(get(place.host));
    const server = await place.endpoint.accept();
    await server.request();
    await server.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    await until('the client is cut', async () => {
      await server.write('1\r\nx\r\n');
      return client.ended !== undefined;
    });
    expect((await client.rest()).text).not.toMatch(/\r\n0\r\n\r\n$/);
    expect(await rig.closed('request_timeout')).toBe(2);
  });
});

test('limits of 0s are off', async () => {
  const off = { idle: '0s', header: '0s', connect: '0s', streamIdle: '0s', tunnelIdle: '0s', halfClosed: '0s' };
  const rig = await Rig.start({
    places: 1,
    workers: 1,
    settings: { timeouts: off },
    rule: () => ({ timeouts: { request: '0s', backendRequest: '0s' } }),
  });
  const place = rig.place();
  const client = await Wire.connect(rig.port);
  for (const part of ['PUT / HTTP/1.1\r\n', `Host: ${place.host}\r\n`, 'Content-Length: 2\r\n\r\n', 'h']) {
    await client.write(part);
    // Time enough for a limit that is over at once: the instance answers something else meanwhile.
    await rig.instance.metrics();
  }
  const server = await place.endpoint.accept();
  await server.requestHead();
  await client.write('i');
  await server.take(2);
  await rig.instance.metrics();
  await server.write(OK);
  expect((await client.answer()).status).toBe(200);
  await rig.instance.metrics();
  await client.write(get(place.host));
  await server.request();
  await server.write(OK);
  expect((await client.answer()).status).toBe(200);
});
