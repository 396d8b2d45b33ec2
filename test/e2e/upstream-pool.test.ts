/** Connections to endpoints that are kept between requests, and the race with an endpoint that closes one. */
import { beforeAll, expect, test } from 'vitest';
import { each } from './each.js';
import { type Place, Rig } from './rig.js';
import { Wire } from './wire.js';

const NO_CONTENT = 'HTTP/1.1 204 No Content\r\n\r\n';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start({ places: 8, workers: 1 });
});

/** A kept connection that its endpoint gives up at the first byte of the next request: the lost race. */
async function doomed(place: Place, client: Wire): Promise<void> {
  await client.write(`GET / HTTP/1.1\r\nHost: ${place.host}\r\n\r\n`);
  const kept = await place.endpoint.accept();
  await kept.request();
  await kept.write(NO_CONTENT);
  expect((await client.answer()).status).toBe(204);
  const lost = kept.handOver(() => kept.reset());
  expect(lost).toHaveLength(0);
}

function framed(length: number, coding: 'length' | 'chunked'): readonly [fields: string, body: string] {
  const data = 'b'.repeat(length);
  return coding === 'length'
    ? [`Content-Length: ${length}\r\n`, data]
    : ['Transfer-Encoding: chunked\r\n', `${length.toString(16)}\r\n${data}\r\n0\r\n\r\n`];
}

each([
  { method: 'PUT', length: 60_000, coding: 'length' },
  { method: 'PUT', length: 65_500, coding: 'length' },
  { method: 'PUT', length: 300_000, coding: 'length' },
  { method: 'PUT', length: 300_000, coding: 'chunked' },
  { method: 'POST', length: 300_000, coding: 'length' },
] as const)('$method of $length bytes ($coding) is answered though the kept connection dies', async (row) => {
  const place = rig.place();
  const client = await Wire.connect(place.port);
  await doomed(place, client);
  const [fields, body] = framed(row.length, row.coding);
  await client.write(`${row.method} /put HTTP/1.1\r\nHost: ${place.host}\r\n${fields}\r\n`);
  // Behind the head, so that it is not read with it.
  const sending = client.write(body);
  const fresh = await place.endpoint.accept();
  const request = await fresh.request();
  expect([request.method, request.body.length]).toEqual([row.method, row.length]);
  await fresh.write(NO_CONTENT);
  expect((await client.answer()).status).toBe(204);
  await sending;
});

test('small requests take the kept connection', async () => {
  const place = rig.place();
  const client = await Wire.connect(place.port);
  place.endpoint.serve(() => NO_CONTENT);
  for (const method of ['GET', 'PUT', 'POST', 'DELETE']) {
    const [fields, body] = method === 'GET' || method === 'DELETE' ? ['', ''] : framed(1_000, 'length');
    await client.write(`${method} / HTTP/1.1\r\nHost: ${place.host}\r\n${fields}\r\n${body}`);
    expect((await client.answer()).status).toBe(204);
  }
  expect(place.endpoint.wires).toHaveLength(1);
});
