/** TCP sessions as both ends see them: every FIN and every reset arrives as what it was (case H6). */
import { createHash, randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { each } from './each.js';
import { freePort, Instance, until } from './instance.js';
import {
  backend,
  backendRef,
  config,
  type Doc,
  gateway,
  gatewayClass,
  tcpListener,
  tcpRoute,
  yaml,
} from './manifests.js';
import { raw, tcpBackend } from './peers.js';
import { Endpoint, type Place, Rig } from './rig.js';
import { Wire } from './wire.js';

const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start({ places: 20, protocol: 'TCP' });
});

async function session(place: Place): Promise<{ client: Wire; server: Wire }> {
  const client = await Wire.connect(place.port);
  return { client, server: await place.endpoint.accept() };
}

const SIDES = [
  { first: 'client', second: 'server' },
  { first: 'server', second: 'client' },
] as const;

test('a server that speaks first is heard before the client says anything', async () => {
  const { client, server } = await session(rig.place());
  await server.write('220 ready\r\n');
  expect(await client.line()).toBe('220 ready');
  await client.write('quit\r\n');
  expect(await server.line()).toBe('quit');
});

test('what a client sends before there is a session arrives, even if it has ended by then', async () => {
  const place = rig.place();
  const client = await Wire.connect(place.port);
  await client.write('all at once');
  client.finish();
  const server = await place.endpoint.accept();
  expect(await server.rest()).toMatchObject({ text: 'all at once', end: 'fin' });
  await server.write('heard');
  server.finish();
  expect(await client.rest()).toMatchObject({ text: 'heard', end: 'fin' });
});

each(SIDES)(
  '3 MiB and a FIN from the $first are answered by a hash and 5 MiB of the $second',
  async ({ first, second }) => {
    const both = await session(rig.place());
    const [one, other] = [both[first], both[second]];
    const [question, answer] = [randomBytes(3 << 20), randomBytes(5 << 20)];
    const asking = one.write(question);
    one.finish();
    const { bytes, end } = await other.rest();
    await asking;
    expect(end).toBe('fin');
    // The direction back is quiet for a while: it must not be taken for over.
    await rig.instance.metrics();
    await other.write(sha(bytes));
    await other.write(answer);
    other.finish();
    const got = await one.rest();
    expect([got.bytes.subarray(0, 64).toString(), sha(got.bytes.subarray(64)), got.end]).toEqual([
      sha(question),
      sha(answer),
      'fin',
    ]);
  },
);

each(SIDES)('a FIN of the $first without a byte reaches the $second alone', async ({ first, second }) => {
  const both = await session(rig.place());
  both[first].finish();
  expect(await both[second].rest()).toMatchObject({ text: '', end: 'fin' });
  for (let n = 0; n < 3; n += 1) {
    await both[second].write(`more ${n}`);
    await both[first].sees(`more ${n}`);
  }
});

each(SIDES)('a reset of the $first is a reset for the $second', async ({ first, second }) => {
  const both = await session(rig.place());
  await both[first].write('some');
  await both[second].sees('some');
  both[first].reset();
  expect((await both[second].rest()).end).toBe('reset');
});

test('a reset of the client ends the session at the server at once, also when its bytes are stuck', async () => {
  const { client, server } = await session(rig.place());
  server.pause();
  const before = await rig.closed('client_reset');
  client.socket.write(Buffer.alloc(50 << 20));
  await stuck(client);
  client.reset();
  await until('it is counted', async () => (await rig.closed('client_reset')) === before + 1);
  server.resume();
  // (Node takes a reset behind data for a FIN.)
  expect((await server.rest()).bytes.length).toBeLessThan(50 << 20);
});

test('a reset of the server reaches a slow client behind the bytes that came before it', async () => {
  const { client, server } = await session(rig.place());
  client.pause();
  const before = await rig.closed('upstream_reset');
  server.socket.write(Buffer.alloc(50 << 20));
  await stuck(server);
  server.reset();
  client.resume();
  expect((await client.rest()).bytes.length).toBeGreaterThan(1 << 20);
  await until('it is counted', async () => (await rig.closed('upstream_reset')) === before + 1);
});

/** Resolves when nothing more of what the wire writes is taken: no change over ten looks of 20 ms. */
async function stuck({ socket }: Wire): Promise<void> {
  let last = -1;
  for (let looks = 0; looks < 10; looks += 1) {
    const left = socket.writableLength;
    if (left !== last) looks = 0;
    last = left;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('bytes that the server sent before its FIN all reach a slow client', async () => {
  const { client, server } = await session(rig.place());
  client.pause();
  const data = randomBytes(2 << 20);
  await server.write(data);
  server.finish();
  client.resume();
  const got = await client.rest();
  expect([sha(got.bytes), got.end]).toEqual([sha(data), 'fin']);
});

test('every size from 1 byte to 1 MB makes its way there and back', async () => {
  const { client, server } = await session(rig.place());
  for (let size = 1; size <= 1 << 20; size = size * 3 + 1) {
    const data = randomBytes(size);
    await client.write(data);
    const there = await server.take(size);
    await server.write(there);
    expect(sha(await client.take(size))).toBe(sha(data));
  }
});

describe('endpoints', () => {
  const start = async (ports: readonly number[], settings?: Doc): Promise<{ port: number; instance: Instance }> => {
    const port = await freePort();
    const instance = await Instance.start({
      files: {
        'edge.yaml': yaml(
          gatewayClass(settings === undefined ? undefined : 'settings'),
          ...(settings === undefined ? [] : [config('settings', settings)]),
          gateway('edge', [tcpListener(port)]),
          tcpRoute('all', [backendRef('pool')]),
          ...(ports.length === 0 ? [] : [backend('pool', ...ports)]),
        ),
      },
    });
    return { port, instance };
  };
  const reason = (instance: Instance, name: string): Promise<number> =>
    instance.metric('weirgate_connections_closed_total', { reason: name });

  test('one that refuses is left for the next one, no client notices, and connects are counted when they stand', async () => {
    const good = await tcpBackend((socket) => socket.end('good'));
    const dead = await freePort();
    const { port, instance } = await start([dead, good.port]);
    for (let n = 0; n < 20; n += 1) {
      const client = await Wire.connect(port);
      expect((await client.rest()).text).toBe('good');
      client.finish();
    }
    const count = (name: string, at: number): Promise<number> =>
      instance.metric(`weirgate_endpoint_${name}_total`, { endpoint: `127.0.0.1:${at}` });
    expect(await count('connects', good.port)).toBe(20);
    expect(await count('requests', good.port)).toBe(20);
    expect(await count('connects', dead)).toBe(0);
    const failures = await count('connect_failures', dead);
    expect(failures).toBeGreaterThanOrEqual(1);
    expect(failures).toBeLessThanOrEqual(3);
  });

  test('that all refuse leave the client a reset, and the reason is counted', async () => {
    const { port, instance } = await start([await freePort(), await freePort()]);
    expect((await raw(port, 'hello?')).end).toBe('reset');
    expect(await reason(instance, 'connect_refused')).toBe(1);
  });

  test('that do not exist leave the client a reset, and the reason is counted', async () => {
    const { port, instance } = await start([]);
    expect((await raw(port, 'hello?')).end).toBe('reset');
    expect(await reason(instance, 'backend_invalid')).toBe(1);
  });

  test('a silent session is reset on both sides after the tunnel limit, a busy one is not', async () => {
    const endpoint = await Endpoint.listen();
    const { port, instance } = await start([endpoint.port], { timeouts: { tunnelIdle: '400ms' } });
    const [silent, busy] = [await Wire.connect(port), await Wire.connect(port)];
    const servers = [await endpoint.accept(), await endpoint.accept()];
    let pings = 0;
    await until('the silent one has ended', async () => {
      await busy.write('ping');
      pings += 1;
      return silent.ended !== undefined;
    });
    expect((await silent.rest()).end).toBe('reset');
    await until('its server knows', () => servers.filter(({ ended }) => ended !== undefined).length === 1);
    expect(busy.ended).toBeUndefined();
    expect(pings).toBeGreaterThan(3);
    expect(await reason(instance, 'tunnel_idle_timeout')).toBe(1);
  });

  test('a half-closed session has its own, shorter limit', async () => {
    const endpoint = await Endpoint.listen();
    const { port, instance } = await start([endpoint.port], { timeouts: { tunnelIdle: '1h', halfClosed: '300ms' } });
    const client = await Wire.connect(port);
    const server = await endpoint.accept();
    await client.write('bye');
    client.finish();
    expect((await server.rest()).text).toBe('bye');
    expect((await client.rest()).end).toBe('reset');
    expect(await reason(instance, 'half_closed_timeout')).toBe(1);
  });
});

test('an ended session is counted with its bytes, and nothing is left under way', async () => {
  const own = await Rig.start({ places: 1, workers: 1, protocol: 'TCP' });
  const { client, server } = await session(own.place());
  expect(await own.underWay()).toBe(3);
  await client.write('x'.repeat(100));
  await server.take(100);
  await server.write('y'.repeat(70_000));
  await client.take(70_000);
  client.finish();
  server.finish();
  await client.rest();
  await until('it is over', async () => (await own.underWay()) === 0);
  expect(await own.closed('tcp_done')).toBe(1);
  for (const name of ['listener', 'route']) {
    for (const [direction, bytes] of [
      ['in', 100],
      ['out', 70_000],
    ] as const) {
      expect(await own.instance.metric(`weirgate_${name}_bytes_total`, { direction })).toBe(bytes);
    }
  }
  expect(await own.instance.metric('weirgate_endpoint_bytes_total', { direction: 'out' })).toBe(100);
});
