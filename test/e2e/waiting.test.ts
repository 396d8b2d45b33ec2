/** A worker that has nothing to do but wait does not turn: each way to wait for somebody, looked at for a while. */
import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { each } from './each.js';
import { until } from './instance.js';
import { type Place, Rig } from './rig.js';
import { Wire } from './wire.js';

/** The loop wakes five times a second for its heartbeat, and now and then for a timer that was moved. */
const LOOK_MS = 300;
const MOST_TURNS = 10;

async function expectCalm(rig: Rig): Promise<void> {
  const turns = (): Promise<number> => rig.instance.metric('weirgate_worker_turns_total');
  let before = 0;
  let after = 0;
  // What led here may still be on its way at the first look.
  await until(
    'the loop is calm',
    async () => {
      before = await turns();
      const startedAt = Date.now();
      await until('the look is over', () => Date.now() - startedAt >= LOOK_MS);
      after = await turns();
      return after - before <= MOST_TURNS;
    },
    3_000,
  );
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const get = (place: Place): string => `GET / HTTP/1.1\r\nHost: ${place.host}\r\n\r\n`;
const LOTS = Buffer.alloc(32 << 20);

describe('HTTP', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.start({ places: 12, workers: 1 });
  });

  async function asked(place: Place, request = get(place)): Promise<{ client: Wire; server: Wire }> {
    const client = await rig.connect();
    await client.write(request);
    const server = await place.endpoint.accept();
    await server.requestHead();
    return { client, server };
  }

  each([
    { what: 'half a head', begin: async () => void (await (await rig.connect()).write('GET / HT')) },
    {
      what: 'the next request of a kept connection, with an idle one to the endpoint',
      begin: async (place: Place) => {
        const { client, server } = await asked(place);
        await server.write(OK);
        await client.answer();
      },
    },
    {
      what: 'the answer to a client that has sent its FIN',
      begin: async (place: Place) => (await asked(place)).client.finish(),
    },
    {
      what: 'the answer to the first of many pipelined requests',
      begin: async (place: Place) => void (await asked(place, get(place).repeat(200))),
    },
    {
      what: 'the rest of an answer',
      begin: async (place: Place) => {
        const { client, server } = await asked(place);
        await server.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nbegin');
        await client.sees('begin');
      },
    },
    {
      what: 'a client that does not take its answer',
      begin: async (place: Place) => {
        const { client, server } = await asked(place);
        client.pause();
        server.socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${LOTS.length}\r\n\r\n`);
        server.socket.write(LOTS);
      },
    },
    {
      what: 'a client that does not take its chunks, from an endpoint that has ended',
      begin: async (place: Place) => {
        const { client, server } = await asked(place);
        client.pause();
        server.socket.write('HTTP/1.1 200 OK\r\n\r\n');
        server.socket.end(LOTS);
      },
    },
    {
      what: 'an endpoint that does not take an upload',
      begin: async (place: Place) => {
        place.endpoint.holds = true;
        const client = await rig.connect();
        client.socket.write(`PUT / HTTP/1.1\r\nHost: ${place.host}\r\nContent-Length: ${LOTS.length}\r\n\r\n`);
        client.socket.write(LOTS);
        await place.endpoint.accept();
      },
    },
    {
      what: 'the rest of an upload',
      begin: async (place: Place) =>
        void (await asked(place, `PUT / HTTP/1.1\r\nHost: ${place.host}\r\nContent-Length: 100\r\n\r\nhalf`)),
    },
    {
      what: 'the FIN of a client whose upload was refused',
      begin: async (place: Place) => {
        const { client, server } = await asked(
          place,
          `PUT / HTTP/1.1\r\nHost: ${place.host}\r\nContent-Length: 100\r\n\r\nhalf`,
        );
        await server.write('HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n');
        expect((await client.answer()).status).toBe(413);
      },
    },
    {
      what: 'the other direction of an upgraded connection',
      begin: async (place: Place) => {
        const { client, server } = await asked(
          place,
          `GET / HTTP/1.1\r\nHost: ${place.host}\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n`,
        );
        await server.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
        await client.answer();
        client.finish();
        await server.isOver();
      },
    },
  ] as readonly { what: string; begin: (place: Place) => Promise<void> }[])(
    'waiting for $what takes no turns',
    async ({ begin }) => {
      await begin(rig.place());
      await expectCalm(rig);
    },
  );
});

describe('TCP', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.start({ places: 6, workers: 1, protocol: 'TCP' });
  });

  each([
    { what: 'the first byte of either side', begin: () => {} },
    { what: 'the FIN of the server behind that of the client', begin: (client: Wire) => client.finish() },
    { what: 'the FIN of the client behind that of the server', begin: (_: Wire, server: Wire) => server.finish() },
    {
      what: 'a server that does not read, behind a client that has ended',
      begin: (client: Wire, server: Wire) => {
        server.pause();
        client.socket.end(LOTS);
      },
    },
    {
      what: 'a client that does not read, behind a server that has ended',
      begin: (client: Wire, server: Wire) => {
        client.pause();
        server.socket.end(LOTS);
      },
    },
    {
      what: 'two sides neither of which reads',
      begin: (client: Wire, server: Wire) => {
        client.pause();
        server.pause();
        client.socket.write(LOTS);
        server.socket.write(LOTS);
      },
    },
  ] as readonly { what: string; begin: (client: Wire, server: Wire) => void }[])(
    'waiting for $what takes no turns',
    async ({ begin }) => {
      const place = rig.place();
      const client = await Wire.connect(place.port);
      const server = await place.endpoint.accept();
      begin(client, server);
      await expectCalm(rig);
    },
  );
});

test('descriptors of a worker are as many as before, behind four hundred connections of all kinds', async () => {
  const rig = await Rig.start({ places: 1, workers: 1 });
  const place = rig.place();
  place.endpoint.serve(() => OK);
  const open = (): number => Math.max(...rig.instance.workerPids().map((pid) => readdirSync(`/proc/${pid}/fd`).length));
  const kinds: ((client: Wire, n: number) => Promise<void>)[] = [
    async (client) => {
      await client.write(get(place));
      await client.answer();
      client.finish();
    },
    async (client) => {
      await client.write('garbage\r\n\r\n');
      client.finish();
    },
    async (client) => client.reset(),
    async (client) => {
      await client.write(get(place));
      client.reset();
    },
    async (client) => {
      await client.write(`PUT / HTTP/1.1\r\nHost: ${place.host}\r\nContent-Length: 100\r\n\r\nhalf`);
      client.finish();
    },
    async (client) => {
      await client.write(`GET / HTTP/1.1\r\nHost: ${place.host}\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n`);
      await client.answer();
      client.reset();
    },
  ];
  const round = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at += 20) {
      await Promise.all(
        Array.from({ length: 20 }, async (_, n) => (kinds[n % kinds.length] ?? kinds[0])?.(await rig.connect(), n)),
      );
    }
    await until('nothing is under way', async () => (await rig.underWay()) === 0);
  };
  await round(20);
  // Idle connections to the endpoint come and go: closing the endpoint takes them away.
  const settled = async (): Promise<number> => {
    for (const { socket } of place.endpoint.wires) socket.destroy();
    let last = -1;
    await until('descriptors stay as they are', () => {
      const now = open();
      const same = now === last;
      last = now;
      return same;
    });
    return last;
  };
  const before = await settled();
  await round(400);
  await until('as many as before', async () => (await settled()) <= before);
});
