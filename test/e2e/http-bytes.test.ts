/** Bytes of HTTP listeners are those that went over the clients' sockets, whoever wrote the answer. */
import { expect, test } from 'vitest';
import { freePort, Instance, until } from './instance.js';
import { backend, backendRef, gateway, gatewayClass, httpListener, httpRoute, yaml } from './manifests.js';
import { Endpoint } from './rig.js';
import { Wire } from './wire.js';

const UPGRADED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n';

test("every answer counts whole: endpoints' and our own, interim ones, upgrades, refused heads", async () => {
  const [port, dead] = [await freePort(), await freePort()];
  const endpoint = await Endpoint.listen();
  const instance = await Instance.start({
    workers: 1,
    files: {
      'edge.yaml': yaml(
        gatewayClass(),
        gateway('edge', [httpListener(port)]),
        httpRoute('web', { hostnames: ['web.test'], rules: [{ backendRefs: [backendRef('web')] }] }),
        httpRoute('dead', { hostnames: ['dead.test'], rules: [{ backendRefs: [backendRef('dead')] }] }),
        httpRoute('none', { hostnames: ['none.test'], rules: [{ backendRefs: [backendRef('missing')] }] }),
        backend('web', endpoint.port),
        backend('dead', dead),
      ),
    },
  });
  const bytes = async (direction: string): Promise<number> =>
    instance.metric('weirgate_listener_bytes_total', { direction, listener: 'default/edge/http' });
  const request = (host: string, first = 'GET / HTTP/1.1', more = ''): string =>
    `${first}\r\nHost: ${host}\r\n${more}\r\n`;
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n';
  const cases: readonly {
    readonly what: string;
    readonly ask: string;
    readonly answer?: string;
    readonly later?: string;
  }[] = [
    { what: 'an answer', ask: request('web.test'), answer: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello' },
    { what: 'a chunked one', ask: request('web.test'), answer: chunked },
    {
      what: 'one that ends with the connection',
      ask: request('web.test'),
      answer: 'HTTP/1.1 200 OK\r\n\r\nuntil the end',
    },
    {
      what: 'an interim one before it',
      ask: request('web.test'),
      answer: 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n',
    },
    {
      what: 'an upgrade and what follows',
      ask: request('web.test', 'GET / HTTP/1.1', 'Connection: Upgrade\r\nUpgrade: chat\r\n'),
      answer: `${UPGRADED}at once`,
      later: 'and later',
    },
    { what: 'no route', ask: request('other.test') },
    { what: 'no route, HEAD', ask: request('other.test', 'HEAD / HTTP/1.1') },
    { what: 'a backend that refuses', ask: request('dead.test') },
    { what: 'a backend that does not exist', ask: request('none.test') },
    {
      what: 'a body that is malformed',
      ask: `${request('web.test', 'POST / HTTP/1.1', 'Transfer-Encoding: chunked\r\n')}x`,
    },
    { what: 'a malformed answer', ask: request('web.test'), answer: 'HTTP/1.1 nonsense\r\n\r\n' },
    { what: 'a refused head', ask: request('web.test', 'GET / HTTP/7.0') },
    { what: 'garbage', ask: 'what is this?\r\n\r\n' },
  ];
  for (const { what, ask, answer, later = '' } of cases) {
    const before = [await bytes('in'), await bytes('out')] as const;
    const client = await Wire.connect(port);
    await client.write(ask);
    if (answer !== undefined) {
      const server = await endpoint.accept();
      await server.requestHead();
      await server.write(answer);
      if (later !== '') {
        await client.sees('at once');
        await client.write('told');
        await server.sees('told');
        await server.write(later);
      }
      server.finish();
    }
    await client.sees(later === '' ? '\r\n\r\n' : later);
    client.finish();
    const got = (await client.rest()).bytes.length;
    const sent = ask.length + (later === '' ? 0 : 'told'.length);
    const counted = async (): Promise<string> =>
      `${what}: ${(await bytes('in')) - before[0]} in, ${(await bytes('out')) - before[1]} out`;
    const want = `${what}: ${sent - (what.startsWith('a body') ? 1 : 0)} in, ${got} out`;
    await until(want, async () => (await counted()) === want).catch(async () => expect(await counted()).toBe(want));
  }
}, 60_000);
