/** Interim answers, Expect, and answers that come before the request is complete (cases H19 and H20). */
import { beforeAll, describe, expect, test } from 'vitest';
import { each } from './each.js';
import { until } from './instance.js';
import { Rig } from './rig.js';
import { field, type Wire } from './wire.js';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start({ places: 30 });
});

const HINT = (n: number): string => `HTTP/1.1 103 Early Hints\r\nLink: </${n}.css>; rel=preload\r\n\r\n`;

describe('103 Early Hints', () => {
  test('three of them in one segment with the answer reach a 1.1 client in order, each by itself', async () => {
    const place = rig.place();
    const client = await rig.connect();
    await client.write(`GET / HTTP/1.1\r\nHost: ${place.host}\r\n\r\n`);
    const server = await place.endpoint.accept();
    await server.request();
    await server.write(`${HINT(1)}${HINT(2)}${HINT(3)}HTTP/1.1 200 OK\r\nX-Final: 1\r\nContent-Length: 2\r\n\r\nok`);
    for (const n of [1, 2, 3]) {
      const hint = await client.answer();
      expect([hint.status, hint.fields]).toEqual([103, [`Link: </${n}.css>; rel=preload`]]);
    }
    const final = await client.answer();
    expect([final.status, final.fields]).toEqual([200, ['X-Final: 1', 'content-length: 2']]);
    expect(client.pending.length).toBe(0);
  });

  test('one of them is there before the answer is', async () => {
    const place = rig.place();
    const client = await rig.connect();
    await client.write(`GET / HTTP/1.1\r\nHost: ${place.host}\r\n\r\n`);
    const server = await place.endpoint.accept();
    await server.request();
    await server.write(HINT(1));
    expect((await client.answer()).status).toBe(103);
    await server.write('HTTP/1.1 204 No Content\r\n\r\n');
    expect((await client.answer()).status).toBe(204);
  });

  test('none of them reaches a 1.0 client', async () => {
    const place = rig.place();
    const client = await rig.connect();
    await client.write(`GET / HTTP/1.0\r\nHost: ${place.host}\r\n\r\n`);
    const server = await place.endpoint.accept();
    await server.request();
    await server.write(`${HINT(1)}${HINT(2)}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`);
    expect((await client.rest()).text).toBe('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok');
  });

  test('one that comes byte by byte is passed on, as is the answer behind it', async () => {
    const place = rig.place();
    const client = await rig.connect();
    await client.write(`HEAD / HTTP/1.1\r\nHost: ${place.host}\r\n\r\n`);
    const server = await place.endpoint.accept();
    await server.request();
    await server.drip(`${HINT(1)}HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n`);
    expect((await client.answer('HEAD')).status).toBe(103);
    expect((await client.answer('HEAD')).fields).toEqual(['content-length: 9']);
  });
});

describe('Expect: 100-continue', () => {
  const head = (host: string): string =>
    `PUT / HTTP/1.1\r\nHost: ${host}\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n`;

  test("the endpoint says 100, nobody else does: the client's body follows it", async () => {
    const place = rig.place();
    const client = await rig.connect();
    await client.write(head(place.host));
    const server = await place.endpoint.accept();
    expect(field((await server.requestHead()).fields, 'expect')).toBe('100-continue');
    expect(client.pending.length).toBe(0);
    await server.write('HTTP/1.1 100 Continue\r\n\r\n');
    expect((await client.answer()).status).toBe(100);
    await client.write('hello');
    expect((await server.take(5)).toString()).toBe('hello');
    await server.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    const answer = await client.answer();
    expect([answer.status, field(answer.fields, 'connection')]).toEqual([200, undefined]);
  });

  test('a refusal instead of 100 is there at once, and the connection of a body that never came ends', async () => {
    const place = rig.place();
    const client = await rig.connect();
    await client.write(head(place.host));
    const server = await place.endpoint.accept();
    await server.requestHead();
    await server.write('HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno');
    const answer = await client.answer();
    expect([answer.status, answer.body.toString(), field(answer.fields, 'connection')]).toEqual([417, 'no', 'close']);
    expect(await client.isOver()).toBe(true);
    client.finish();
    expect(await server.isOver()).toBe(true);
  });

  test('a 404 of our own comes without a 100 before it', async () => {
    const client = await rig.connect();
    await client.write(head('nowhere.test'));
    const answer = await client.answer();
    expect([answer.status, field(answer.fields, 'connection')]).toEqual([404, 'close']);
  });

  test('a client that does not wait is served as well', async () => {
    const place = rig.place();
    const client = await rig.connect();
    await client.write(`${head(place.host)}hello`);
    const server = await place.endpoint.accept();
    expect((await server.request()).body.toString()).toBe('hello');
    await server.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    expect((await client.answer()).status).toBe(100);
    expect((await client.answer()).status).toBe(200);
  });
});

describe('an endpoint that refuses an upload of 8 MB', () => {
  const SIZE = 8 << 20;
  const PIECE = Buffer.alloc(256 * 1024, 'x');
  const CHUNK = Buffer.concat([Buffer.from(`${PIECE.length.toString(16)}\r\n`), PIECE, Buffer.from('\r\n')]);
  const REFUSAL = 'HTTP/1.1 413 Content Too Large\r\nContent-Length: 9\r\n\r\ntoo large';
  const RUNS = 20;

  /** Sends as fast as the connection takes it, until everything is out or the other side is gone. */
  async function upload(client: Wire, chunked: boolean): Promise<void> {
    for (let sent = 0; sent < SIZE && client.socket.writable; sent += PIECE.length) {
      await client.write(chunked ? CHUNK : PIECE);
    }
    if (chunked) await client.write('0\r\n\r\n');
  }

  each([
    { how: 'at the head, then closes', framing: 'a length', chunked: false, after: 0, closes: true },
    { how: 'at the head, then closes', framing: 'chunks', chunked: true, after: 0, closes: true },
    { how: 'after 1 MB, then closes', framing: 'a length', chunked: false, after: 1 << 20, closes: true },
    { how: 'after 1 MB, then closes', framing: 'chunks', chunked: true, after: 1 << 20, closes: true },
    { how: 'at the head, and reads on', framing: 'a length', chunked: false, after: 0, closes: false },
  ])(`$how is heard in ${RUNS} of ${RUNS} runs by a client that sends $framing`, async ({ chunked, after, closes }) => {
    const place = rig.place();
    const framing = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${SIZE}`;
    place.endpoint.holds = true;
    for (let run = 0; run < RUNS; run += 1) {
      const client = await rig.connect();
      const uploading = client
        .write(`PUT /${run} HTTP/1.1\r\nHost: ${place.host}\r\n${framing}\r\n\r\n`)
        .then(() => upload(client, chunked));
      const server = await place.endpoint.accept();
      server.resume();
      await server.requestHead();
      await server.take(after);
      server.pause();
      await server.write(REFUSAL);
      // With bytes unread this is a reset.
      if (closes) server.socket.destroy();
      const answer = await client.answer();
      expect([run, answer.status, answer.body.toString()]).toEqual([run, 413, 'too large']);
      expect(field(answer.fields, 'connection')).toBe('close');
      await uploading;
      client.finish();
      expect(await client.rest()).toMatchObject({ text: '', end: 'fin' });
      server.socket.destroy();
    }
    await until('nothing is open', async () => {
      return (await rig.instance.metric('weirgate_route_requests_active', { route: place.route })) === 0;
    });
  });

  test('with Expect is heard before a byte of the body is sent', async () => {
    const place = rig.place();
    for (let run = 0; run < RUNS; run += 1) {
      const client = await rig.connect();
      await client.write(
        `PUT / HTTP/1.1\r\nHost: ${place.host}\r\nExpect: 100-continue\r\nContent-Length: ${SIZE}\r\n\r\n`,
      );
      const server = await place.endpoint.accept();
      await server.requestHead();
      await server.write(REFUSAL);
      server.socket.destroy();
      expect((await client.answer()).status).toBe(413);
      expect(server.pending.length).toBe(0);
    }
  });
});
