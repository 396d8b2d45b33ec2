/** Bodies and connections of HTTP/1 as client and endpoint see them, each framed by hand. */
import { createHash, randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { each } from './each.js';
import { exchange, type Place, Rig } from './rig.js';
import { field, values, Wire } from './wire.js';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start({ places: 60 });
});

const get = (place: Place, path = '/', ...fields: string[]): string =>
  [`GET ${path} HTTP/1.1`, `Host: ${place.host}`, ...fields, '', ''].join('\r\n');

describe('keep-alive', () => {
  test('twenty requests of one client use one connection on either side', async () => {
    const place = rig.place();
    place.endpoint.serve(({ target }) => `HTTP/1.1 200 OK\r\nContent-Length: ${target.length}\r\n\r\n${target}`);
    const client = await rig.connect();
    for (let number = 0; number < 20; number += 1) {
      await client.write(get(place, `/${number}`));
      expect((await client.answer()).body.toString()).toBe(`/${number}`);
    }
    expect(place.endpoint.wires).toHaveLength(1);
  });

  test('clients that come one after the other share the connections of their worker', async () => {
    const place = rig.place();
    place.endpoint.serve(() => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    for (let number = 0; number < 20; number += 1) {
      const client = await rig.connect();
      await client.write(get(place));
      expect((await client.answer()).status).toBe(200);
      client.finish();
    }
    // Two workers, each with one connection of its own.
    expect(place.endpoint.wires.length).toBeLessThanOrEqual(2);
    const labels = { endpoint: `127.0.0.1:${place.endpoint.port}` };
    expect(await rig.instance.metric('weirgate_endpoint_connections_reused_total', labels)).toBe(
      20 - place.endpoint.wires.length,
    );
  });

  test('concurrent clients of one endpoint never share a connection', async () => {
    const place = rig.place();
    const clients = await Promise.all(Array.from({ length: 8 }, () => rig.connect()));
    await Promise.all(clients.map((client, n) => client.write(get(place, `/${n}`))));
    const servers = await Promise.all(clients.map(() => place.endpoint.accept()));
    for (const server of servers) {
      const { target } = await server.request();
      await server.write(`HTTP/1.1 200 OK\r\nContent-Length: ${target.length}\r\n\r\n${target}`);
    }
    for (const [n, client] of clients.entries()) expect((await client.answer()).body.toString()).toBe(`/${n}`);
  });

  each([
    { what: 'a client that says close', version: '1.1', option: 'Connection: close', kept: false, says: 'close' },
    { what: 'a 1.1 client that says nothing', version: '1.1', option: 'X-Nothing: here', kept: true, says: undefined },
    { what: 'a 1.0 client that says nothing', version: '1.0', option: 'X-Nothing: here', kept: false, says: 'close' },
    {
      what: 'a 1.0 client that says keep-alive',
      version: '1.0',
      option: 'Connection: Keep-Alive',
      kept: true,
      says: 'keep-alive',
    },
  ])('$what is told $says; kept: $kept', async ({ version, option, kept, says }) => {
    const place = rig.place();
    const request = `GET / HTTP/${version}\r\nHost: ${place.host}\r\n${option}\r\n\r\n`;
    const { client, server, answer } = await exchange(place, request, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    expect(field(answer.fields, 'connection')).toBe(says);
    expect(answer.body.toString()).toBe('ok');
    if (!kept) {
      expect((await client.rest()).end).toBe('fin');
      return;
    }
    await client.write(request);
    await server.request();
    await server.write('HTTP/1.1 204 No Content\r\n\r\n');
    expect((await client.answer()).status).toBe(204);
  });

  each([
    { what: 'says close', head: 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok', reused: false },
    { what: 'speaks 1.0', head: 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', reused: false },
    {
      what: 'speaks 1.0 with keep-alive',
      head: 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok',
      reused: true,
    },
    { what: 'sends a byte behind its answer', head: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok!', reused: false },
    {
      what: 'sends a second answer unasked',
      head: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil',
      reused: false,
    },
  ])(
    'the connection of an endpoint that $what is used again: $reused; the client is kept',
    async ({ head, reused }) => {
      const place = rig.place();
      const { client, server, answer } = await exchange(place, get(place), head);
      expect(answer.body.toString()).toBe('ok');
      expect(field(answer.fields, 'connection')).toBeUndefined();
      await client.write(get(place, '/second'));
      const second = reused ? server : await place.endpoint.accept();
      expect((await second.request()).target).toBe('/second');
      await second.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nagain');
      expect((await client.answer()).body.toString()).toBe('again');
      expect(place.endpoint.wires).toHaveLength(reused ? 1 : 2);
    },
  );

  test('an idle connection that the endpoint has closed costs no request', async () => {
    const place = rig.place();
    const { client, server } = await exchange(place, get(place), 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    server.socket.destroy();
    await client.write(get(place, '/next'));
    const next = await place.endpoint.accept();
    expect((await next.request()).target).toBe('/next');
    await next.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    expect((await client.answer()).status).toBe(200);
  });
});

describe('pipelining', () => {
  test('fifty requests in one segment are answered in order, whatever their bodies', async () => {
    const place = rig.place();
    place.endpoint.serve(({ method, target, body }) => {
      const text = `${method} ${target} ${body.toString()}`;
      return `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
    });
    const host = `Host: ${place.host}\r\n`;
    const client = await rig.connect();
    const requests = Array.from({ length: 50 }, (_, n) => {
      if (n % 3 === 0) return { bytes: `GET /${n} HTTP/1.1\r\n${host}\r\n`, want: `GET /${n} ` };
      if (n % 3 === 1) {
        return { bytes: `POST /${n} HTTP/1.1\r\n${host}Content-Length: 4\r\n\r\nGET `, want: `POST /${n} GET ` };
      }
      return {
        bytes: `PUT /${n} HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n3\r\nGET\r\n1\r\n \r\n0\r\n\r\n`,
        want: `PUT /${n} GET `,
      };
    });
    await client.write(requests.map(({ bytes }) => bytes).join(''));
    for (const { want } of requests) expect((await client.answer()).body.toString()).toBe(want);
  });

  test('the second request waits until the first is answered', async () => {
    const place = rig.place();
    const client = await rig.connect();
    await client.write(get(place, '/first') + get(place, '/second'));
    const server = await place.endpoint.accept();
    expect((await server.request()).target).toBe('/first');
    await server.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n');
    await server.write('first');
    expect((await client.answer()).body.toString()).toBe('first');
    expect((await server.request()).target).toBe('/second');
    expect(place.endpoint.wires).toHaveLength(1);
    await server.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond');
    expect((await client.answer()).body.toString()).toBe('second');
  });

  test('a client that half-closes behind its requests gets all answers, then FIN', async () => {
    const place = rig.place();
    place.endpoint.serve(({ target }) => `HTTP/1.1 200 OK\r\nContent-Length: ${target.length}\r\n\r\n${target}`);
    const client = await rig.connect();
    await client.write(get(place, '/a') + get(place, '/b'));
    client.finish();
    expect((await client.answer()).body.toString()).toBe('/a');
    expect((await client.answer()).body.toString()).toBe('/b');
    expect(await client.rest()).toMatchObject({ text: '', end: 'fin' });
  });
});

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n';

describe('answers', () => {
  test('chunks reach a 1.1 client as they are, trailers included', async () => {
    const place = rig.place();
    const body = '5;note="a"\r\nhello\r\n7\r\n, world\r\n0\r\nX-Sum: 12\r\nX-More: y\r\n\r\n';
    const { client, answer } = await exchange(place, get(place), `${CHUNKED}Trailer: X-Sum\r\n\r\n${body}`);
    expect(answer.body.toString()).toBe('hello, world');
    expect(answer.trailers).toEqual(['X-Sum: 12', 'X-More: y']);
    expect(values(answer.fields, 'transfer-encoding')).toEqual(['chunked']);
    expect(field(answer.fields, 'trailer')).toBe('X-Sum');
    expect(client.pending.length).toBe(0);
  });

  test('chunks reach a 1.0 client as bare bytes that end with the connection', async () => {
    const place = rig.place();
    const request = `GET / HTTP/1.0\r\nHost: ${place.host}\r\nConnection: keep-alive\r\n\r\n`;
    const { answer } = await exchange(
      place,
      request,
      `${CHUNKED}Trailer: X-Sum\r\n\r\n5\r\nhello\r\n7\r\n, world\r\n0\r\nX-Sum: 12\r\n\r\n`,
    );
    expect(answer.body.toString()).toBe('hello, world');
    expect(answer.fields.map((line) => line.toLowerCase())).toEqual(['connection: close']);
  });

  test('a body that ends with the connection reaches a 1.1 client in chunks, and the client is kept', async () => {
    const place = rig.place();
    const client = await rig.connect();
    await client.write(get(place));
    const server = await place.endpoint.accept();
    await server.request();
    await server.write('HTTP/1.1 200 OK\r\n\r\nfirst ');
    await server.write('second');
    server.finish();
    const answer = await client.answer();
    expect(field(answer.fields, 'transfer-encoding')).toBe('chunked');
    expect(answer.body.toString()).toBe('first second');
    await client.write(get(place, '/next'));
    expect((await (await place.endpoint.accept()).request()).target).toBe('/next');
  });

  test('a body that ends with the connection reaches a 1.0 client as it is', async () => {
    const place = rig.place();
    const client = await rig.connect();
    await client.write(`GET / HTTP/1.0\r\nHost: ${place.host}\r\n\r\n`);
    const server = await place.endpoint.accept();
    await server.request();
    await server.write('HTTP/1.0 200 OK\r\n\r\nuntil the end');
    server.finish();
    const { text, end } = await client.rest();
    expect(text).toBe('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nuntil the end');
    expect(end).toBe('fin');
  });

  each([
    {
      what: 'to HEAD with a length',
      method: 'HEAD',
      head: 'HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n',
      field: 'content-length: 12345',
    },
    { what: 'to HEAD with chunks', method: 'HEAD', head: `${CHUNKED}\r\n`, field: 'transfer-encoding: chunked' },
    { what: 'to HEAD with neither', method: 'HEAD', head: 'HTTP/1.1 200 OK\r\n\r\n', field: undefined },
    { what: '204', method: 'GET', head: 'HTTP/1.1 204 No Content\r\n\r\n', field: undefined },
    {
      what: '204 with a length of 0, which it must not have',
      method: 'DELETE',
      head: 'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n',
      field: undefined,
    },
    {
      what: '304 with the length of what it stands for',
      method: 'GET',
      head: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 777\r\n\r\n',
      field: 'content-length: 777',
    },
    {
      what: 'with a length of 0',
      method: 'GET',
      head: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
      field: 'content-length: 0',
    },
  ])('an answer $what has no body, and both connections go on', async ({ method, head, field: wanted }) => {
    const place = rig.place();
    const request = `${method} / HTTP/1.1\r\nHost: ${place.host}\r\n\r\n`;
    const { client, server, answer } = await exchange(place, request, head, method);
    expect(answer.fields).toEqual(wanted === undefined ? [] : [wanted]);
    await client.write(get(place, '/next'));
    expect((await server.request()).target).toBe('/next');
    await server.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext');
    expect((await client.answer()).body.toString()).toBe('next');
  });

  each([
    { what: 'with a length', answer: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello' },
    { what: 'in chunks', answer: `${CHUNKED}\r\n5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n` },
  ])('an answer $what that comes byte by byte is whole', async ({ answer }) => {
    const place = rig.place();
    const client = await rig.connect();
    await client.write(get(place));
    const server = await place.endpoint.accept();
    await server.request();
    await server.drip(answer);
    expect((await client.answer()).body.toString()).toBe('hello');
    await client.write(get(place, '/next'));
    expect((await server.request()).target).toBe('/next');
  });

  each([
    { what: 'a length of 4 MB', chunked: false, version: '1.1' },
    { what: 'chunks of 4 MB', chunked: true, version: '1.1' },
    { what: 'chunks of 4 MB for a 1.0 client', chunked: true, version: '1.0' },
  ])('$what arrive unchanged', async ({ chunked, version }) => {
    const place = rig.place();
    const data = randomBytes(4 << 20);
    const client = await rig.connect();
    await client.write(`GET / HTTP/${version}\r\nHost: ${place.host}\r\n\r\n`);
    const server = await place.endpoint.accept();
    await server.request();
    if (chunked) {
      await server.write(`${CHUNKED}\r\n`);
      for (let at = 0; at < data.length; at += 100_001) {
        const piece = data.subarray(at, at + 100_001);
        await server.write(
          Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
        );
      }
      await server.write('0\r\n\r\n');
    } else {
      await server.write(`HTTP/1.1 200 OK\r\nContent-Length: ${data.length}\r\n\r\n`);
      await server.write(data);
    }
    expect(sha((await client.answer()).body)).toBe(sha(data));
  });

  each([
    {
      what: 'a body shorter than its length',
      head: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello',
      text: 'hello',
    },
    { what: 'chunks without the last one', head: `${CHUNKED}\r\n5\r\nhello\r\n`, text: 'hello' },
    { what: 'chunks that end within a trailer', head: `${CHUNKED}\r\n5\r\nhello\r\n0\r\nX-`, text: 'X-' },
    { what: 'a malformed chunk', head: `${CHUNKED}\r\n5\r\nhello\r\nxyz\r\n`, text: '' },
  ])('$what is cut for the client as well, never completed', async ({ head, text }) => {
    const place = rig.place();
    const client = await rig.connect();
    await client.write(get(place));
    const server = await place.endpoint.accept();
    await server.request();
    await server.write(head);
    // Node takes a reset that comes together with data for a FIN: the data first.
    if (text !== '') await client.sees(text);
    server.finish();
    const { text: got, end } = await client.rest();
    expect(got).not.toMatch(/\r\n0\r\n\r\n$/);
    expect(end).toBe('reset');
  });
});

describe('requests', () => {
  each([
    { what: 'a length', fields: 'Content-Length: 11', body: 'hello world', framing: 'content-length: 11' },
    { what: 'a length of 0', fields: 'Content-Length: 0', body: '', framing: 'content-length: 0' },
    {
      what: 'chunks and trailers',
      fields: 'Transfer-Encoding: chunked\r\nTrailer: X-Sum',
      body: '5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nX-Sum: 11\r\n\r\n',
      framing: 'transfer-encoding: chunked',
    },
    {
      what: 'the last chunk only',
      fields: 'Transfer-Encoding: chunked',
      body: '0\r\n\r\n',
      framing: 'transfer-encoding: chunked',
    },
    {
      what: 'chunks in another case',
      fields: 'transfer-encoding: CHUNKED',
      body: '1\r\nx\r\n0\r\n\r\n',
      framing: 'transfer-encoding: chunked',
    },
  ])(
    'a body with $what reaches the endpoint with one framing, at once and byte by byte',
    async ({ fields, body, framing }) => {
      const place = rig.place();
      const bytes = `POST /up HTTP/1.1\r\nHost: ${place.host}\r\n${fields}\r\n\r\n${body}`;
      const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
      const { client, server, request } = await exchange(place, bytes, ok, 'POST');
      const framings = request.fields.filter((line) => /^(content-length|transfer-encoding):/i.test(line));
      expect(framings).toEqual([framing]);
      await client.drip(bytes);
      const again = await server.request();
      expect([again.body, again.trailers, again.fields]).toEqual([request.body, request.trailers, request.fields]);
      await server.write(ok);
      expect((await client.answer()).status).toBe(200);
    },
  );

  test('a GET without framing fields has none upstream either', async () => {
    const place = rig.place();
    const { request } = await exchange(place, get(place), 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    expect(request.fields.filter((line) => /^(content-length|transfer-encoding):/i.test(line))).toEqual([]);
  });

  each([
    { what: 'a length', chunked: false },
    { what: 'chunks', chunked: true },
  ])('an upload of 4 MB with $what arrives unchanged, and its bytes are counted once', async ({ chunked }) => {
    const place = rig.place();
    const data = randomBytes(4 << 20);
    const client = await rig.connect();
    const framing = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${data.length}`;
    const sending = (async () => {
      await client.write(`PUT / HTTP/1.1\r\nHost: ${place.host}\r\n${framing}\r\n\r\n`);
      if (!chunked) return client.write(data);
      for (let at = 0; at < data.length; at += 70_000) {
        const piece = data.subarray(at, at + 70_000);
        await client.write(
          Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
        );
      }
      await client.write('0\r\n\r\n');
    })();
    const server = await place.endpoint.accept();
    const request = await server.request();
    await sending;
    await server.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    expect((await client.answer()).status).toBe(200);
    expect(sha(request.body)).toBe(sha(data));
    const endpoint = { endpoint: `127.0.0.1:${place.endpoint.port}`, direction: 'out' };
    const counted = [
      await rig.instance.metric('weirgate_route_bytes_total', { route: place.route, direction: 'in' }),
      await rig.instance.metric('weirgate_endpoint_bytes_total', endpoint),
    ];
    for (const bytes of counted) {
      expect(bytes).toBeGreaterThanOrEqual(data.length);
      expect(bytes).toBeLessThan(data.length + 2_000);
    }
  });

  test('an empty line before a request is skipped, also between two requests', async () => {
    const place = rig.place();
    place.endpoint.serve(({ target }) => `HTTP/1.1 200 OK\r\nContent-Length: ${target.length}\r\n\r\n${target}`);
    const client = await rig.connect();
    await client.write(`\r\n${get(place, '/a')}\r\n${get(place, '/b')}`);
    expect((await client.answer()).body.toString()).toBe('/a');
    expect((await client.answer()).body.toString()).toBe('/b');
  });
});

test('with idlePerEndpoint 0 every request has a connection of its own', async () => {
  const own = await Rig.start({ places: 1, workers: 1, settings: { limits: { idlePerEndpoint: 0 } } });
  const place = own.place();
  place.endpoint.serve(() => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  const client = await Wire.connect(place.port);
  for (let number = 0; number < 3; number += 1) {
    await client.write(get(place));
    await client.answer();
  }
  expect(place.endpoint.wires).toHaveLength(3);
});

function sha(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
