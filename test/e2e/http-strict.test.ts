/**
 * Ambiguous framing is refused, never repaired: each request hides a second one, which no endpoint may ever see
 * (cases H3 and H4).
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { each } from './each.js';
import { until } from './instance.js';
import { Rig } from './rig.js';
import { field, Wire } from './wire.js';

const HOST = 'p0.corp.test';
let rig: Rig;
/** Request lines that the endpoint has seen. */
const seen: string[] = [];

beforeAll(async () => {
  rig = await Rig.start({ places: 1, workers: 1 });
  rig.place().endpoint.serve(({ line, fields, body }) => {
    seen.push(line);
    const text = JSON.stringify({ line, fields, body: body.toString('latin1') });
    return `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
  });
});

/** Sends the bytes and reads all there is: the answers' statuses, and whether the connection was closed. */
async function statuses(bytes: string): Promise<{ answers: number[]; bodies: string[]; closed: boolean }> {
  const client = await rig.connect();
  await client.write(bytes);
  // Its own FIN makes the end of a kept connection visible without waiting for a time limit.
  client.finish();
  const { text } = await client.rest();
  const answers = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
  return { answers, bodies: text.split('\r\n\r\n').slice(1), closed: /connection: close/i.test(text) };
}

const GHOST = `GET /ghost HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`;
const HIDDEN = `0\r\n\r\n${GHOST}`;
const post = (fields: string, body: string): string =>
  `POST /open HTTP/1.1\r\nHost: ${HOST}\r\n${fields}\r\n\r\n${body}`;

describe('Transfer-Encoding beside Content-Length', () => {
  each([
    { what: 'plain', lines: 'Transfer-Encoding: chunked' },
    { what: 'a tab before the value', lines: 'Transfer-Encoding:\tchunked' },
    { what: 'a tab behind the value', lines: 'Transfer-Encoding: chunked\t' },
    { what: 'another word before it', lines: 'Transfer-Encoding: xchunked' },
    { what: 'identity behind it', lines: 'Transfer-Encoding: chunked, identity' },
    { what: 'identity before it', lines: 'Transfer-Encoding: identity, chunked' },
    { what: 'two lines', lines: 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked' },
    { what: 'two lines, one of them odd', lines: 'Transfer-Encoding: chunked\r\nTransfer-Encoding: cow' },
    { what: 'a vertical tab', lines: 'Transfer-Encoding:\x0bchunked' },
    { what: 'another case', lines: 'Transfer-Encoding: Chunked' },
    { what: 'a space before the colon', lines: 'Transfer-Encoding : chunked' },
    { what: 'a folded line', lines: 'Transfer-Encoding:\r\n chunked' },
    { what: 'a folded line behind another field', lines: 'X-A: b\r\n Transfer-Encoding: chunked' },
    { what: 'a quoted value', lines: 'Transfer-Encoding: "chunked"' },
    { what: 'a parameter', lines: 'Transfer-Encoding: chunked;q=1' },
    { what: 'an empty value', lines: 'Transfer-Encoding:' },
    { what: 'a NUL', lines: 'Transfer-Encoding: chunked\0' },
    { what: 'a bare LF', lines: 'X-A: b\nTransfer-Encoding: chunked' },
    { what: 'a bare CR', lines: 'X-A: b\rTransfer-Encoding: chunked' },
  ])('with $what is 400 and the end of the connection', async ({ lines }) => {
    for (const fields of [
      `${lines}\r\nContent-Length: ${HIDDEN.length}`,
      `Content-Length: ${HIDDEN.length}\r\n${lines}`,
    ]) {
      const { answers, closed } = await statuses(post(fields, HIDDEN));
      expect([answers, closed]).toEqual([[400], true]);
    }
  });

  test('Chunked alone is taken, and what follows the last chunk is the next request', async () => {
    const next = `GET /visible HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`;
    const { answers } = await statuses(post('Transfer-Encoding: Chunked', `0\r\n\r\n${next}`));
    expect(answers).toEqual([200, 200]);
    expect(seen).toContain('GET /visible HTTP/1.1');
  });

  test('a coding that is not served is 501 by itself', async () => {
    const { answers, closed } = await statuses(post('Transfer-Encoding: gzip, chunked', HIDDEN));
    expect([answers, closed]).toEqual([[501], true]);
  });

  test('chunked in a 1.0 request is 400', async () => {
    const bytes = `POST /open HTTP/1.0\r\nHost: ${HOST}\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n${HIDDEN}`;
    expect((await statuses(bytes)).answers).toEqual([400]);
  });
});

describe('Content-Length', () => {
  each([
    { what: 'empty', value: '' },
    { what: 'blank', value: ' ' },
    { what: '+18', value: '+18' },
    { what: '-0', value: '-0' },
    { what: '0x12', value: '0x12' },
    { what: '18;', value: '18;' },
    { what: '18, 19', value: '18, 19' },
    { what: '18,', value: '18,' },
    { what: 'of 25 digits', value: '1'.repeat(25) },
    { what: 'of 2^63', value: '9223372036854775808' },
    { what: '1 8', value: '1 8' },
    { what: 'in Arabic digits', value: '\xd9\xa1' },
  ])('$what is 400 and the end of the connection', async ({ value }) => {
    const { answers, closed } = await statuses(post(`Content-Length: ${value}`, GHOST));
    expect([answers, closed]).toEqual([[400], true]);
  });

  each([
    { what: 'on two lines', lines: 'Content-Length: 18\r\nContent-Length: 19' },
    { what: 'twice the same on two lines', lines: 'Content-Length: 18\r\nContent-Length: 18' },
    { what: 'with a space before the colon', lines: 'Content-Length : 18' },
    { what: 'on a folded line', lines: 'Content-Length:\r\n 18' },
  ])('$what is 400', async ({ lines }) => {
    expect((await statuses(post(lines, GHOST))).answers).toEqual([400]);
  });

  each([
    { value: '18, 18', why: 'a list of equal numbers is one number: RFC 9110 §8.6' },
    { value: '018', why: 'leading zeros are digits' },
  ])('$value is 18, and goes upstream as 18: $why', async ({ value }) => {
    const client = await rig.connect();
    await client.write(post(`Content-Length: ${value}`, 'x'.repeat(18)));
    const { line, fields, body } = JSON.parse((await client.answer()).body.toString());
    expect([line, body]).toEqual(['POST /open HTTP/1.1', 'x'.repeat(18)]);
    expect(fields.filter((one: string) => /^content-length:/i.test(one))).toEqual(['content-length: 18']);
  });
});

describe('the chunks of a request', () => {
  each([
    { what: 'a size that is no number', body: `xyz\r\n${HIDDEN}` },
    { what: 'a size with a sign', body: `+5\r\nhello\r\n${HIDDEN}` },
    { what: 'a size with 0x', body: `0x5\r\nhello\r\n${HIDDEN}` },
    { what: 'a size of 17 digits', body: `00000000000000005\r\nhello\r\n${HIDDEN}` },
    { what: 'a size line that ends with LF', body: `5\nhello\r\n${HIDDEN}` },
    { what: 'an extension with a bare LF', body: `5;a\nb\r\nhello\r\n${HIDDEN}` },
    { what: 'data longer than its size', body: `3\r\nhello\r\n${HIDDEN}` },
    { what: 'data shorter than its size', body: `9\r\nhello\r\n${HIDDEN}` },
    { what: 'a trailer that is no field', body: `0\r\nnothing\r\n\r\n${GHOST}` },
    { what: 'a trailer that would be framing', body: `0\r\nContent-Length: 5\r\n\r\n${GHOST}` },
  ])('with $what are 400 and the end of the connection', async ({ body }) => {
    const { answers, closed } = await statuses(post('Transfer-Encoding: chunked', body));
    expect([answers, closed]).toEqual([[400], true]);
  });

  test('with a fault behind good chunks are 400 as well, and the endpoint sees no end of them', async () => {
    const before = seen.length;
    const client = await rig.connect();
    await client.write(post('Transfer-Encoding: chunked', '5\r\nhello\r\n'));
    await client.write(`zz\r\n${HIDDEN}`);
    expect((await client.answer()).status).toBe(400);
    expect(seen.length).toBe(before);
  });
});

describe('the head of a request', () => {
  each([
    { what: 'no Host', bytes: 'GET / HTTP/1.1\r\n\r\n' },
    { what: 'two Hosts', bytes: `GET / HTTP/1.1\r\nHost: ${HOST}\r\nHost: ${HOST}\r\n\r\n` },
    { what: 'an empty Host', bytes: 'GET / HTTP/1.1\r\nHost:\r\n\r\n' },
    { what: 'a Host with a path', bytes: `GET / HTTP/1.1\r\nHost: ${HOST}/x\r\n\r\n` },
    { what: 'a Host with user information', bytes: `GET / HTTP/1.1\r\nHost: a@${HOST}\r\n\r\n` },
    { what: 'a Host list', bytes: `GET / HTTP/1.1\r\nHost: ${HOST}, evil.test\r\n\r\n` },
    { what: 'a field without colon', bytes: `GET / HTTP/1.1\r\nHost: ${HOST}\r\nnothing\r\n\r\n` },
    { what: 'a field without name', bytes: `GET / HTTP/1.1\r\nHost: ${HOST}\r\n: x\r\n\r\n` },
    { what: 'a space within a name', bytes: `GET / HTTP/1.1\r\nHost: ${HOST}\r\nX Y: z\r\n\r\n` },
    { what: 'a space before the first field', bytes: `GET / HTTP/1.1\r\n Host: ${HOST}\r\n\r\n` },
    { what: 'a tab in the request line', bytes: `GET\t/ HTTP/1.1\r\nHost: ${HOST}\r\n\r\n` },
    { what: 'two spaces in the request line', bytes: `GET  / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n` },
    { what: 'a space behind the version', bytes: `GET / HTTP/1.1 \r\nHost: ${HOST}\r\n\r\n` },
    { what: 'no version', bytes: `GET /\r\nHost: ${HOST}\r\n\r\n` },
    { what: 'a method that is no token', bytes: `G(T / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n` },
    { what: 'a raw byte above ASCII in the target', bytes: `GET /\xe9 HTTP/1.1\r\nHost: ${HOST}\r\n\r\n` },
    { what: 'a NUL in a value', bytes: `GET / HTTP/1.1\r\nHost: ${HOST}\r\nX: a\0b\r\n\r\n` },
    { what: 'an escape character in a value', bytes: `GET / HTTP/1.1\r\nHost: ${HOST}\r\nX: a\x1bb\r\n\r\n` },
    { what: 'lines that end with LF', bytes: `GET / HTTP/1.1\nHost: ${HOST}\n\n` },
  ])('with $what is 400 and the end of the connection', async ({ bytes }) => {
    const { answers, closed } = await statuses(bytes + GHOST);
    expect([answers, closed]).toEqual([[400], true]);
  });

  each([
    { what: 'HTTP/2 preface', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', status: 505 },
    { what: 'HTTP/2.0 in the request line', bytes: `GET / HTTP/2.0\r\nHost: ${HOST}\r\n\r\n`, status: 505 },
    { what: 'HTTP/1.2', bytes: `GET / HTTP/1.2\r\nHost: ${HOST}\r\n\r\n`, status: 505 },
    { what: 'CONNECT', bytes: `CONNECT ${HOST}:443 HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`, status: 501 },
  ])('with $what is $status', async ({ bytes, status }) => {
    expect((await statuses(bytes + GHOST)).answers).toEqual([status]);
  });

  test('says in the body what is wrong', async () => {
    const { bodies } = await statuses(`GET / HTTP/1.1\r\nHost : ${HOST}\r\n\r\n`);
    expect(bodies).toEqual(['400 bad request: whitespace between a field name and its colon\n']);
  });
});

describe('the answer of an endpoint', () => {
  let strict: Rig;
  beforeAll(async () => {
    strict = await Rig.start({ places: 20, workers: 1 });
  });

  each([
    {
      what: 'both framings',
      head: 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    },
    { what: 'two lengths', head: 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nbody' },
    { what: 'a length that is no number', head: 'HTTP/1.1 200 OK\r\nContent-Length: 4x\r\n\r\nbody' },
    { what: 'an unknown coding', head: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nbody' },
    { what: 'a folded field', head: 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n' },
    { what: 'another protocol', head: '+OK ready\r\n\r\n' },
    { what: 'another version', head: 'HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n' },
    { what: 'a status of two digits', head: 'HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n' },
    {
      what: 'a switch of protocols that nobody asked for',
      head: 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
    },
  ])('with $what is 502 with the cause, and the client may go on', async ({ head }) => {
    const place = strict.place();
    const before = await strict.closed('bad_response');
    const client = await Wire.connect(place.port);
    await client.write(`GET / HTTP/1.1\r\nHost: ${place.host}\r\n\r\n`);
    const server = await place.endpoint.accept();
    await server.request();
    await server.write(head);
    const answer = await client.answer();
    expect(answer.status).toBe(502);
    expect(answer.body.toString()).toMatch(/^502 bad gateway: endpoint 127\.0\.0\.1:\d+ .+\n$/);
    expect(field(answer.fields, 'connection')).toBeUndefined();
    // The poisoned connection is gone, the client's is not.
    expect(await server.isOver()).toBe(true);
    await client.write(`GET /next HTTP/1.1\r\nHost: ${place.host}\r\n\r\n`);
    expect((await (await place.endpoint.accept()).request()).target).toBe('/next');
    await until('the fault is counted', async () => (await strict.closed('bad_response')) === before + 1);
  });
});

describe('what follows', () => {
  const good = (path: string, ...fields: string[]): string =>
    [`GET ${path} HTTP/1.1`, `Host: ${HOST}`, ...fields, '', ''].join('\r\n');

  test('a request with Connection: close is not served', async () => {
    expect((await statuses(good('/last', 'Connection: close') + GHOST)).answers).toEqual([200]);
  });

  test('a 1.0 request without keep-alive is not served', async () => {
    expect((await statuses(`GET /last HTTP/1.0\r\nHost: ${HOST}\r\n\r\n${GHOST}`)).answers).toEqual([200]);
  });

  test('a faulty request behind a good one is not served, the good one is', async () => {
    const { answers, closed } = await statuses(`${good('/first')}GET / HTTP/1.1\r\n\r\n${GHOST}`);
    expect([answers, closed]).toEqual([[200, 400], true]);
  });

  test('a request of ours that gets a 404 with its body unread is not taken for another request', async () => {
    const body = GHOST.repeat(3);
    const bytes = `POST / HTTP/1.1\r\nHost: nowhere.test\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    expect((await statuses(bytes)).answers).toEqual([404]);
  });
});

test('no endpoint has seen the hidden request', () => {
  expect(seen.filter((line) => line.includes('ghost'))).toEqual([]);
  expect(seen.length).toBeGreaterThan(3);
});
