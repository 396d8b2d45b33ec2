/** Backends and raw clients for end-to-end tests; all on loopback, all closed with the test. */
import { createServer as createHttpServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { atEnd } from './at-end.js';

export interface Backend {
  readonly port: number;
  /** Connections open now. */
  readonly sockets: ReadonlySet<Socket>;
  /** Requests seen (HTTP backends). */
  readonly seen: SeenRequest[];
  close(): Promise<void>;
}

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly raw: readonly string[];
}

async function listen(server: Server, port = 0): Promise<Backend & { readonly seen: SeenRequest[] }> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', 4096, resolve);
  });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  atEnd(close);
  return { port: (server.address() as AddressInfo).port, sockets, seen: [], close };
}

/** An HTTP backend; without a handler it answers its name and, as JSON, what it saw. */
export async function httpBackend(
  name: string,
  handler?: (request: IncomingMessage, response: ServerResponse) => void,
  port = 0,
): Promise<Backend> {
  const seen: SeenRequest[] = [];
  const server = createHttpServer({ keepAliveTimeout: 60_000, insecureHTTPParser: false }, (req, res) => {
    seen.push({ method: req.method ?? '', url: req.url ?? '', headers: req.headers, raw: req.rawHeaders });
    if (handler !== undefined) return handler(req, res);
    req.resume();
    req.on('end', () => {
      const body = JSON.stringify({ name, method: req.method, url: req.url, headers: req.headers });
      res.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'x-backend': name,
      });
      res.end(body);
    });
  });
  const backend = await listen(server, port);
  return { ...backend, seen };
}

/** A TCP backend that hands each connection to `serve`. Half-open connections are allowed. */
export function tcpBackend(serve: (socket: Socket) => void, port = 0): Promise<Backend> {
  return listen(createServer({ allowHalfOpen: true, noDelay: true }, serve), port);
}

export const echoBackend = (): Promise<Backend> => tcpBackend((socket) => socket.pipe(socket));

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface AskOptions {
  readonly host?: string;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Address to connect to. */
  readonly address?: string;
}

/** One request on a connection of its own. */
export function ask(port: number, options: AskOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: options.address ?? '127.0.0.1',
        port,
        path: options.path ?? '/',
        method: options.method ?? 'GET',
        agent: false,
        headers: { host: options.host ?? 'test.example', ...options.headers },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          });
        });
      },
    );
    call.once('error', reject);
    call.end(options.body);
  });
}

export interface RawConversation {
  readonly text: string;
  /** How it ended: the peer's FIN, a reset, or our own patience. */
  readonly end: 'fin' | 'reset' | 'timeout';
}

/** Sends bytes as they are and reads until the peer closes, `enough` says so, or the time is over. */
export function raw(
  port: number,
  bytes: string | Buffer,
  options: {
    readonly enough?: (text: string) => boolean;
    readonly limitMs?: number;
    readonly halfClose?: boolean;
  } = {},
): Promise<RawConversation> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    const finish = (end: RawConversation['end']): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, end });
    };
    const timer = setTimeout(() => finish('timeout'), options.limitMs ?? 5_000);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (options.enough?.(text) === true) finish('timeout');
    });
    socket.once('end', () => finish('fin'));
    socket.once('error', () => finish('reset'));
    if (options.halfClose === true) socket.end(bytes);
    else socket.write(bytes);
  });
}
