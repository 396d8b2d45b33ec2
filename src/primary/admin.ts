/**
 * The admin interface: HTTP on a Unix socket, for `weirgate status`, scrapers and probes. GET has no side effects.
 * Serves `primary.ts`, which answers through `AdminSource`. It is the only JavaScript server of the product.
 */
import { lstatSync, mkdirSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { askAdmin } from '../ipc/admin-client.js';
import type { ReloadAnswer } from '../ipc/admin-protocol.js';
import { OPENMETRICS_TYPE } from '../observe/openmetrics.js';
import { answerObjects, type ObjectSource, parseObjectQuery } from './admin-objects.js';

/** Where the answers come from. */
export interface AdminSource extends ObjectSource {
  /** The IR that serves as JSON, without private keys; `null` before the first generation. */
  ir(): Promise<Uint8Array>;
  /** Pieces of the exposition. */
  metrics(): Iterable<string>;
  /** `wait`: answer when the reload is settled. */
  reload(wait: boolean): Promise<ReloadAnswer>;
  /** True while the loops of the workers live. */
  isLive(): boolean;
}

/** Why the admin socket cannot be opened, for people. */
export class AdminSocketError extends Error {
  readonly code = 'WEIRGATE_ADMIN_SOCKET';
}

/** Readable and writable for the owner and the group: who may use it may reload and see the configuration. */
const SOCKET_MODE = 0o660;
const PRIVATE_SOCKET_MODE = 0o600;
/** An admin request carries no body worth speaking of. */
const MAX_HEAD_BYTES = 8 * 1024;
/** For finding out whether a socket's owner lives. */
const PROBE_MS = 1_000;

/** Opens the socket at `path` and answers from `source`. Rejects with `AdminSocketError`. */
export async function openAdmin(path: string, source: AdminSource): Promise<AdminServer> {
  makeFolder(dirname(path));
  await refuseTaken(path);
  const server = createServer({ maxHeaderSize: MAX_HEAD_BYTES, requestTimeout: 10_000 }, (request, response) => {
    answer(request, response, source).catch((error: Error) => fail(response, error));
  });
  try {
    await listen(server, path);
  } catch (error) {
    server.close();
    throw new AdminSocketError(`cannot open the admin socket ${path}: ${(error as Error).message}`);
  }
  return new AdminServer(server, path);
}

/** The open admin socket. */
export class AdminServer {
  readonly #server: Server;
  readonly #path: string;
  readonly #inode: number;

  constructor(server: Server, path: string) {
    this.#server = server;
    this.#path = path;
    this.#inode = lstatSync(path).ino;
  }

  /** Closes the socket and removes its file, unless another instance has put its own there. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    try {
      if (lstatSync(this.#path).ino === this.#inode) unlinkSync(this.#path);
    } catch {
      // Somebody has removed it already.
    }
    await closed;
  }
}

/**
 * Listens under a name of its own and renames it into place: what a dead instance left is replaced in one step, and
 * libuv, which removes the name it listened on when it closes, cannot remove another instance's socket.
 */
async function listen(server: Server, path: string): Promise<void> {
  const own = join(dirname(path), `.${process.pid}`);
  rmSync(own, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // The file gets its mode from the first moment on: chmod after listen would leave it open to others for an instant.
    const before = process.umask(0o777 & ~modeFor());
    // The file is made within the call.
    server.listen(own, resolve);
    process.umask(before);
  });
  renameSync(own, path);
}

/** A service's group may look; an ordinary user's instance is the user's own. */
function modeFor(): number {
  return process.getuid?.() === 0 || process.env.RUNTIME_DIRECTORY !== undefined ? SOCKET_MODE : PRIVATE_SOCKET_MODE;
}

/** A folder that others could write to would let them put their own socket in our place. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const info = lstatSync(folder);
    const uid = process.getuid?.() ?? 0;
    if (info.isDirectory() && info.uid !== uid && info.uid !== 0) {
      throw new AdminSocketError(
        `the folder ${folder} belongs to uid ${info.uid}, not to us (uid ${uid}): choose another with --admin`,
      );
    }
  } catch (error) {
    if (error instanceof AdminSocketError) throw error;
    throw new AdminSocketError(`cannot make the folder ${folder} of the admin socket: ${(error as Error).message}`);
  }
}

/** Rejects when the path is a living instance's socket, or no socket at all. What a dead one left may be replaced. */
async function refuseTaken(path: string): Promise<void> {
  const info = lstatSync(path, { throwIfNoEntry: false });
  if (info === undefined) return;
  if (!info.isSocket()) throw new AdminSocketError(`${path} exists and is not a socket: choose another with --admin`);
  const asked = await askAdmin(path, 'GET', '/version', { timeoutMs: PROBE_MS });
  if (asked.ok || asked.error.code !== 'ECONNREFUSED') {
    const pid = asked.ok ? pidIn(asked.value.body) : undefined;
    const owner = pid === undefined ? 'another process' : `the instance with pid ${pid}`;
    throw new AdminSocketError(`the admin socket ${path} belongs to ${owner}: choose another with --admin`);
  }
}

function pidIn(body: string): number | undefined {
  try {
    const { pid } = JSON.parse(body) as { readonly pid?: unknown };
    return typeof pid === 'number' ? pid : undefined;
  } catch {
    return undefined;
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, source: AdminSource): Promise<void> {
  request.resume();
  const url = new URL(request.url ?? '/', 'http://weirgate');
  const route = ROUTES.get(url.pathname);
  if (route === undefined) return text(response, 404, `no such path: ${url.pathname}\n`);
  if (request.method !== route.method && !(request.method === 'HEAD' && route.method === 'GET')) {
    response.setHeader('allow', route.method);
    return text(response, 405, `${url.pathname} takes ${route.method}\n`);
  }
  await route.answer(response, source, url.searchParams);
}

interface Route {
  readonly method: 'GET' | 'POST';
  readonly answer: (response: ServerResponse, source: AdminSource, query: URLSearchParams) => Promise<void> | void;
}

const ROUTES: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['/metrics', { method: 'GET', answer: answerMetrics }],
  ['/ir', { method: 'GET', answer: answerIr }],
  ['/objects', { method: 'GET', answer: listObjects }],
  ['/overview', { method: 'GET', answer: (response, source) => json(response, 200, source.overview()) }],
  ['/version', { method: 'GET', answer: answerVersion }],
  ['/livez', { method: 'GET', answer: answerLive }],
  ['/readyz', { method: 'GET', answer: answerReady }],
  ['/reload', { method: 'POST', answer: answerReload }],
]);

async function answerMetrics(response: ServerResponse, source: AdminSource): Promise<void> {
  response.writeHead(200, { 'content-type': OPENMETRICS_TYPE });
  await pipeline(Readable.from(source.metrics()), response);
}

async function listObjects(response: ServerResponse, source: AdminSource, query: URLSearchParams): Promise<void> {
  const request = parseObjectQuery(query);
  if (typeof request === 'string') text(response, 400, `${request}\n`);
  else await answerObjects(response, source, request);
}

async function answerIr(response: ServerResponse, source: AdminSource): Promise<void> {
  const body = await source.ir();
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(body);
}

function answerVersion(response: ServerResponse, source: AdminSource): void {
  const { version, layoutHash, pid } = source.overview();
  json(response, 200, { version, layoutHash, pid });
}

function answerLive(response: ServerResponse, source: AdminSource): void {
  if (source.isLive()) text(response, 200, 'ok\n');
  else text(response, 503, 'a worker gives no sign of life\n');
}

function answerReady(response: ServerResponse, source: AdminSource): void {
  const { phase } = source.overview();
  text(response, phase === 'serving' ? 200 : 503, phase === 'serving' ? 'ok\n' : `${phase}\n`);
}

async function answerReload(response: ServerResponse, source: AdminSource, query: URLSearchParams): Promise<void> {
  const wait = query.get('wait') === '1';
  const answered = await source.reload(wait);
  const status = answered.outcome === 'refused' ? 422 : answered.outcome === 'requested' ? 202 : 200;
  json(response, status, answered);
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(value)}\n`);
}

function text(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(body);
}

function fail(response: ServerResponse, error: Error): void {
  if (response.headersSent) response.destroy();
  else text(response, 500, `${error.message}\n`);
}
