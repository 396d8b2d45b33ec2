/** Upgraded connections: after a 101 both sides talk past the proxy, for as long as they like (case H9). */
import { createHash, randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { freePort, Instance, until } from './instance.js';
import { backend, backendRef, type Doc, gateway, gatewayClass, httpListener, httpRoute, yaml } from './manifests.js';
import { Endpoint, type Place, Rig } from './rig.js';
import { values, Wire } from './wire.js';

const SWITCH =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: y\r\n\r\n';
const ask = (host: string, path = '/chat'): string =>
  [
    `GET ${path} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: keep-alive, Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Key: x',
    '',
    '',
  ].join('\r\n');

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start({ places: 20, settings: { timeouts: { tunnelIdle: '10s' } } });
});

async function upgraded(place: Place): Promise<{ client: Wire; server: Wire }> {
  const client = await Wire.connect(place.port);
  await client.write(ask(place.host));
  const server = await place.endpoint.accept();
  await server.request();
  await server.write(SWITCH);
  expect((await client.answer()).status).toBe(101);
  return { client, server };
}

test('both heads pass the upgrade on, and bytes that come early are the first ones of the tunnel', async () => {
  const place = rig.place();
  const client = await Wire.connect(place.port);
  await client.write(`${ask(place.host)}early from the client`);
  const server = await place.endpoint.accept();
  const request = await server.request();
  expect(values(request.fields, 'connection')).toEqual(['upgrade']);
  expect(values(request.fields, 'upgrade')).toEqual(['websocket']);
  expect(values(request.fields, 'sec-websocket-key')).toEqual(['x']);
  await server.write(`${SWITCH}early from the server`);
  const answer = await client.answer();
  expect(answer.fields).toEqual(['Sec-WebSocket-Accept: y', 'connection: upgrade', 'upgrade: websocket']);
  expect((await client.take(21)).toString()).toBe('early from the server');
  expect((await server.take(21)).toString()).toBe('early from the client');
  await client.write('later');
  await server.write('GET / HTTP/1.1\r\n\r\n');
  expect((await server.take(5)).toString()).toBe('later');
  expect((await client.take(18)).toString()).toBe('GET / HTTP/1.1\r\n\r\n');
});

test('8 MB in both directions at once arrive unchanged', async () => {
  const { client, server } = await upgraded(rig.place());
  const [up, down] = [randomBytes(8 << 20), randomBytes(8 << 20)];
  const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
  const [, , atServer, atClient] = await Promise.all([
    client.write(up),
    server.write(down),
    server.take(up.length),
    client.take(down.length),
  ]);
  expect([sha(atServer), sha(atClient)]).toEqual([sha(up), sha(down)]);
});

test('a FIN ends one direction only, whichever side sends it first', async () => {
  for (const first of ['client', 'server'] as const) {
    const { [first]: one, [first === 'client' ? 'server' : 'client']: other } = await upgraded(rig.place());
    await one.write('last words');
    one.finish();
    expect(await other.rest()).toMatchObject({ text: 'last words', end: 'fin' });
    await other.write('an answer all the same');
    other.finish();
    expect(await one.rest()).toMatchObject({ text: 'an answer all the same', end: 'fin' });
  }
});

test('a reset on one side is a reset on the other', async () => {
  for (const first of ['client', 'server'] as const) {
    const { [first]: one, [first === 'client' ? 'server' : 'client']: other } = await upgraded(rig.place());
    one.reset();
    expect((await other.rest()).end).toBe('reset');
  }
});

test('another answer than 101 is an ordinary one, and the connections go on in HTTP', async () => {
  const place = rig.place();
  const client = await Wire.connect(place.port);
  await client.write(ask(place.host));
  const server = await place.endpoint.accept();
  await server.request();
  await server.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
  expect((await client.answer()).body.toString()).toBe('no');
  await client.write(`GET /plain HTTP/1.1\r\nHost: ${place.host}\r\n\r\n`);
  expect((await server.request()).target).toBe('/plain');
});

test('an offer of h2c, and an upgrade in HTTP/1.0, are not passed on', async () => {
  const requests = [
    (host: string) =>
      `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n\r\n`,
    (host: string) => `GET / HTTP/1.0\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  ];
  for (const request of requests) {
    const place = rig.place();
    const client = await Wire.connect(place.port);
    await client.write(request(place.host));
    const server = await place.endpoint.accept();
    const names = (await server.request()).fields.map((line) => line.slice(0, line.indexOf(':')).toLowerCase());
    expect(names).toEqual(['host', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host']);
  }
});

test('an ended tunnel is counted as such, its bytes on the rule, and nothing stays open', async () => {
  const own = await Rig.start({ places: 1, workers: 1 });
  const place = own.place();
  const { client, server } = await upgraded(place);
  const gauge = (): Promise<number> => own.instance.metric('weirgate_route_requests_active', { route: place.route });
  expect(await gauge()).toBe(1);
  await client.write('x'.repeat(1000));
  await server.take(1000);
  await server.write('y'.repeat(3000));
  await client.take(3000);
  client.finish();
  server.finish();
  await until('the tunnel is counted', async () => (await own.closed('upgrade_done')) === 1);
  const bytes = (direction: string): Promise<number> =>
    own.instance.metric('weirgate_route_bytes_total', { route: place.route, direction });
  expect([await gauge(), await bytes('in'), await bytes('out')]).toEqual([0, 1000, 3000]);
  for (const name of ['accepted', 'closed']) {
    expect(await own.instance.metric(`weirgate_listener_connections_${name}_total`)).toBe(1);
  }
});

test('a silent tunnel ends at its time limit, by a reset of both sides', async () => {
  const own = await Rig.start({ places: 1, workers: 1, settings: { timeouts: { tunnelIdle: '200ms' } } });
  const { client, server } = await upgraded(own.place());
  expect((await client.rest()).end).toBe('reset');
  expect((await server.rest()).end).toBe('reset');
  expect(await own.closed('tunnel_idle_timeout')).toBe(1);
});

test('twenty tunnels outlive four reloads that change their weights and other routes, each at its endpoint', async () => {
  const [blue, green] = [await Endpoint.listen(), await Endpoint.listen()];
  const port = await freePort();
  const files = (round: number): string => {
    const extra: Doc[] = Array.from({ length: round % 3 }, (_, n) =>
      httpRoute(`extra-${round}-${n}`, {
        hostnames: [`e${n}.corp.test`],
        rules: [{ backendRefs: [backendRef('blue')] }],
      }),
    );
    return yaml(
      gatewayClass(),
      gateway('edge', [httpListener(port)]),
      httpRoute('chat', {
        hostnames: ['chat.corp.test'],
        rules: [{ backendRefs: [backendRef('blue', 1 + (round % 2)), backendRef('green', 1 + (round % 5))] }],
      }),
      ...extra,
      backend('blue', blue.port),
      backend('green', green.port),
    );
  };
  const instance = await Instance.start({ files: { 'edge.yaml': files(0) } });
  const clients = await Promise.all(Array.from({ length: 20 }, () => Wire.connect(port)));
  await Promise.all(clients.map((client, n) => client.write(ask('chat.corp.test', `/${n}`))));
  await until('all are at an endpoint', () => blue.wires.length + green.wires.length === clients.length);
  const pairs: { client: Wire; server: Wire }[] = [];
  for (const server of [...blue.wires, ...green.wires]) {
    const client = clients[Number((await server.request()).target.slice(1))] as Wire;
    await server.write(SWITCH);
    expect((await client.answer()).status).toBe(101);
    pairs.push({ client, server });
  }
  expect(blue.wires.length).toBe(10);
  for (let round = 1; round <= 4; round += 1) {
    instance.write('edge.yaml', files(round));
    const { status, stderr } = await instance.reload();
    expect([status, stderr]).toEqual([0, '']);
    for (const [number, { client, server }] of pairs.entries()) {
      const text = `ping ${round} ${number}`;
      await client.write(text);
      expect((await server.take(text.length)).toString()).toBe(text);
      await server.write(text.toUpperCase());
      expect((await client.take(text.length)).toString()).toBe(text.toUpperCase());
    }
  }
  expect((await instance.status()).metadata.weirgate.generation).toBeGreaterThan(4);
  expect(pairs.filter(({ client, server }) => client.ended !== undefined || server.ended !== undefined)).toEqual([]);
});
