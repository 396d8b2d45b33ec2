/** Bodies that go on while somebody answers them or reloads, and what a kept connection sees of a reload. */
import { expect, test } from 'vitest';
import { each } from './each.js';
import { freePort, Instance } from './instance.js';
import {
  backend,
  backendRef,
  config,
  type Doc,
  gateway,
  gatewayClass,
  httpListener,
  httpRoute,
  yaml,
} from './manifests.js';
import { Endpoint, Rig } from './rig.js';
import { Wire } from './wire.js';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

each([
  { what: 'chunks', framing: 'Transfer-Encoding: chunked', piece: '5\r\nhello\r\n', end: '0\r\n\r\n' },
  { what: 'a length', framing: 'Content-Length: 50', piece: 'hello', end: '' },
])('a request and its answer, both with $what, take turns piece by piece', async ({ framing, piece, end }) => {
  const rig = await Rig.start({ places: 1, workers: 1 });
  const place = rig.place();
  const client = await rig.connect();
  await client.write(`POST / HTTP/1.1\r\nHost: ${place.host}\r\n${framing}\r\n\r\n`);
  const server = await place.endpoint.accept();
  await server.requestHead();
  await server.write(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n`);
  while ((await client.line()) !== '');
  for (let turn = 0; turn < 10; turn += 1) {
    await client.write(piece);
    expect((await server.take(piece.length)).toString()).toBe(piece);
    await server.write(piece);
    expect((await client.take(piece.length)).toString()).toBe(piece);
  }
  await client.write(end);
  await server.take(end.length);
  await server.write(end);
  expect((await client.take(end.length)).toString()).toBe(end);
  // The answer began before the request was complete: whether it would be was not known then.
  expect(await client.isOver()).toBe(true);
});

/** One listener and one route whose rules and settings change from reload to reload. */
async function changing(): Promise<{
  instance: Instance;
  port: number;
  endpoint: Endpoint;
  reload: (rules: readonly Doc[], settings?: Doc) => Promise<void>;
}> {
  const [port, endpoint] = [await freePort(), await Endpoint.listen()];
  const files = (rules: readonly Doc[], settings: Doc): string =>
    yaml(
      gatewayClass('settings'),
      config('settings', settings),
      gateway('edge', [httpListener(port)]),
      httpRoute('all', { rules }),
      backend('pool', endpoint.port),
    );
  const instance = await Instance.start({ files: { 'edge.yaml': files([rule('/')], {}) } });
  return {
    instance,
    port,
    endpoint,
    reload: async (rules, settings = {}) => {
      instance.write('edge.yaml', files(rules, settings));
      expect((await instance.reload()).status).toBe(0);
    },
  };
}

const rule = (value: string, more: Doc = {}): Doc => ({
  ...more,
  matches: [{ path: { type: 'PathPrefix', value } }],
  backendRefs: [backendRef('pool')],
});

test('an upload and an answer that are under way when their route goes come to their ends', async () => {
  const { port, endpoint, reload } = await changing();
  const [uploading, reading] = [await Wire.connect(port), await Wire.connect(port)];
  await uploading.write('PUT /up HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nfirst');
  const upload = await endpoint.accept();
  await upload.requestHead();
  await reading.write('GET /down HTTP/1.1\r\nHost: x\r\n\r\n');
  const answer = await endpoint.accept();
  await answer.request();
  await answer.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst');
  await reading.sees('first');
  await reload([rule('/other')]);
  await uploading.write('other');
  expect((await upload.take(10)).toString()).toBe('firstother');
  await upload.write(OK);
  expect((await uploading.answer()).status).toBe(200);
  await answer.write('other');
  expect((await reading.answer()).body.toString()).toBe('firstother');
  // Both connections are kept, and see the new table from here on.
  for (const client of [uploading, reading]) {
    await client.write('GET /down HTTP/1.1\r\nHost: x\r\n\r\n');
    expect((await client.answer()).status).toBe(404);
  }
});

test('a kept connection has the routes and the time limits of the newest table at its next request', async () => {
  const { port, endpoint, reload } = await changing();
  const client = await Wire.connect(port);
  await client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const server = await endpoint.accept();
  await server.request();
  await server.write(OK);
  expect((await client.answer()).status).toBe(200);

  await reload([rule('/new', { timeouts: { request: '200ms' } })]);
  await client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  expect((await client.answer()).status).toBe(404);
  await client.write('GET /new HTTP/1.1\r\nHost: x\r\n\r\n');
  expect((await client.answer()).status).toBe(504);

  await reload([rule('/')], { timeouts: { idle: '200ms' } });
  await client.write('GET /gone HTTP/1.1\r\nHost: x\r\n\r\n');
  const again = await endpoint.accept();
  await again.request();
  await again.write(OK);
  expect((await client.answer()).status).toBe(200);
  expect(await client.rest()).toMatchObject({ text: '', end: 'fin' });
});
