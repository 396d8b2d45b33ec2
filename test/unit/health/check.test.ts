/** One check against real sockets. */
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runCheck } from '../../../src/health/check.js';
import type { IrHealthCheck } from '../../../src/ir/ir.js';

const TCP: IrHealthCheck = {
  type: 'tcp',
  intervalMs: 1000,
  timeoutMs: 2000,
  healthyThreshold: 1,
  unhealthyThreshold: 1,
  path: '/',
  host: '',
  expectedStatuses: [{ from: 200, to: 399 }],
};
const HTTP: IrHealthCheck = { ...TCP, type: 'http', path: '/healthz?deep=1', host: 'app.internal' };

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const web = (answer: RequestListener): Promise<number> => listen(createHttpServer(answer));
const check = (port: number, how: IrHealthCheck): ReturnType<typeof runCheck> =>
  runCheck({ ip: '127.0.0.1', port, check: how });

describe('a TCP check', () => {
  it('is good when the endpoint accepts', async () => {
    const port = await listen(createServer((socket) => socket.destroy()));
    expect(await check(port, TCP)).toMatchObject({ ok: true, detail: 'connected' });
  });

  it('is bad with the cause when it refuses', async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await check(port, TCP)).toMatchObject({ ok: false, detail: 'ECONNREFUSED' });
  });
});

describe('an HTTP check', () => {
  it('asks for the path with the host and takes an expected status', async () => {
    const asked: unknown[] = [];
    const port = await web((request, response) => {
      asked.push(request.method, request.url, request.headers.host, request.headers['user-agent']);
      response.writeHead(204).end();
    });
    expect(await check(port, HTTP)).toMatchObject({ ok: true, detail: 'status 204' });
    expect(asked).toEqual(['GET', '/healthz?deep=1', 'app.internal', 'weirgate-health']);
  });

  it('names the address when no host is given', async () => {
    let host: string | undefined;
    const port = await web((request, response) => {
      host = request.headers.host;
      response.end();
    });
    await check(port, { ...HTTP, host: '' });
    expect(host).toBe(`127.0.0.1:${port}`);
  });

  it('is bad with another status', async () => {
    const port = await web((_, response) => response.writeHead(503).end());
    expect(await check(port, HTTP)).toMatchObject({ ok: false, detail: 'unexpected status 503' });
  });

  it('does not wait for the body', async () => {
    const port = await web((_, response) => response.writeHead(200, { 'content-length': 1e9 }).write('x'));
    expect(await check(port, HTTP)).toMatchObject({ ok: true });
  });

  it('is bad when the endpoint speaks no HTTP, or closes at once', async () => {
    const noise = await listen(createServer((socket) => socket.end('220 mail.internal ESMTP\r\n')));
    expect((await check(noise, HTTP)).ok).toBe(false);
    const mute = await listen(createServer((socket) => socket.end()));
    expect((await check(mute, HTTP)).ok).toBe(false);
  });

  it('is bad after its time limit, and lets go of the connection', async () => {
    let closed: () => void = () => {};
    const gone = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const port = await listen(createServer((socket) => socket.on('close', closed).on('error', closed).resume()));
    expect(await check(port, { ...HTTP, timeoutMs: 50 })).toMatchObject({ ok: false, detail: 'timed out after 50 ms' });
    await gone;
  });
});
