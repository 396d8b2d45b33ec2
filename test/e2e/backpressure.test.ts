/** A reader that does not read stops the writer at the far end; what lies between stays small, and nothing is lost. */
import { createHash, type Hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, expect } from 'vitest';
import { each } from './each.js';
import { Rig } from './rig.js';
import { Wire } from './wire.js';

const SIZE = 64 << 20;
const PIECE = 1 << 20;
/**
 * Most that the four kernel buffers on the way hold: two send buffers of 4 MiB and two receive buffers of 6 MiB (Linux's
 * tcp_wmem and tcp_rmem), and half as much again, for they are counted generously.
 */
const KERNEL_HOLDS = 40 << 20;
/** Most that a worker may grow: its own buffers (256 KiB a direction) and some pages of everything else. */
const WORKER_GROWS = 6 << 20;

/** Writes SIZE bytes of a pattern as fast as they are taken; `framed` is put around each piece. */
class Writer {
  taken = 0;
  readonly hash: Hash = createHash('sha256');
  readonly done: Promise<void>;

  constructor(wire: Wire, framed: (piece: Buffer) => Buffer = (piece) => piece, end = '') {
    this.done = (async () => {
      for (let at = 0; at < SIZE; at += PIECE) {
        const piece = Buffer.alloc(PIECE, `${at}.`);
        this.hash.update(piece);
        await wire.write(framed(piece));
        this.taken += PIECE;
      }
      if (end !== '') await wire.write(end);
    })();
  }
}

/** Resolves when the writer is stopped: nothing taken over ten looks of 20 ms. */
async function stopped(writer: Writer): Promise<void> {
  let last = -1;
  let looks = 0;
  while (looks < 10) {
    looks = writer.taken === last ? looks + 1 : 0;
    last = writer.taken;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Reads the socket's bytes away into a hash, first what the wire has already. */
function hashOf(wire: Wire, count: number): Promise<string> {
  const hash = createHash('sha256');
  let left = count;
  return new Promise((resolve, reject) => {
    const take = (chunk: Buffer): void => {
      hash.update(chunk.subarray(0, left));
      left -= Math.min(left, chunk.length);
      if (left === 0) resolve(hash.digest('hex'));
    };
    take(wire.handOver(take));
    wire.socket.once('close', () => reject(new Error(`closed, ${left} bytes missing`)));
    wire.resume();
  });
}

function residentBytes(pids: readonly number[]): number {
  const kib = (pid: number): number =>
    Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  return pids.reduce((sum, pid) => sum + kib(pid) * 1024, 0);
}

let http: Rig;
let tcp: Rig;
beforeAll(async () => {
  http = await Rig.start({ places: 8, workers: 1 });
  tcp = await Rig.start({ places: 4, workers: 1, protocol: 'TCP' });
});

async function held(rig: Rig, writer: Writer, before: number): Promise<void> {
  await stopped(writer);
  expect(writer.taken).toBeLessThan(KERNEL_HOLDS);
  expect(residentBytes(rig.instance.workerPids()) - before).toBeLessThan(WORKER_GROWS);
}

const chunk = (piece: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);

each([
  { what: 'a length', version: '1.1', head: `Content-Length: ${SIZE}\r\n`, framed: undefined, end: '' },
  { what: 'chunks', version: '1.1', head: 'Transfer-Encoding: chunked\r\n', framed: chunk, end: '0\r\n\r\n' },
  { what: 'chunks', version: '1.0', head: 'Transfer-Encoding: chunked\r\n', framed: chunk, end: '0\r\n\r\n' },
  { what: 'no framing', version: '1.1', head: '', framed: undefined, end: '' },
])(
  'a download of 64 MB with $what that a $version client does not read waits at the endpoint, then arrives whole',
  async ({ version, head, framed, end }) => {
    const place = http.place();
    const client = await Wire.connect(place.port);
    client.pause();
    await client.write(`GET / HTTP/${version}\r\nHost: ${place.host}\r\n\r\n`);
    const server = await place.endpoint.accept();
    await server.request();
    const before = residentBytes(http.instance.workerPids());
    await server.write(`HTTP/1.1 200 OK\r\n${head}\r\n`);
    const writer = new Writer(server, framed, end);
    await held(http, writer, before);
    const answer = client.answer();
    client.resume();
    await writer.done;
    server.finish();
    expect(sha((await answer).body)).toBe(writer.hash.digest('hex'));
  },
);

each([
  { what: 'a length', head: `Content-Length: ${SIZE}`, framed: undefined, end: '' },
  { what: 'chunks', head: 'Transfer-Encoding: chunked', framed: chunk, end: '0\r\n\r\n' },
])(
  'an upload of 64 MB with $what that nobody reads waits at the client, then arrives whole',
  async ({ head, framed, end }) => {
    const place = http.place();
    place.endpoint.holds = true;
    const client = await Wire.connect(place.port);
    const before = residentBytes(http.instance.workerPids());
    await client.write(`PUT / HTTP/1.1\r\nHost: ${place.host}\r\n${head}\r\n\r\n`);
    const writer = new Writer(client, framed, end);
    const server = await place.endpoint.accept();
    await held(http, writer, before);
    server.resume();
    const request = await server.request();
    await writer.done;
    expect(sha(request.body)).toBe(writer.hash.digest('hex'));
    await server.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    expect((await client.answer()).status).toBe(200);
  },
);

each([
  { from: 'client', to: 'endpoint' },
  { from: 'endpoint', to: 'client' },
])(
  '64 MB over TCP from $from that nobody reads wait there, then arrive whole, and the other way stays open',
  async ({ from }) => {
    const place = tcp.place();
    const client = await Wire.connect(place.port);
    const server = await place.endpoint.accept();
    const [source, target] = from === 'client' ? [client, server] : [server, client];
    target.pause();
    const before = residentBytes(tcp.instance.workerPids());
    const writer = new Writer(source);
    await held(tcp, writer, before);
    await target.write('still here');
    expect((await source.take(10)).toString()).toBe('still here');
    const hash = hashOf(target, SIZE);
    await writer.done;
    expect(await hash).toBe(writer.hash.digest('hex'));
  },
);

function sha(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
