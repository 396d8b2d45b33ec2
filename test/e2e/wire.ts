/**
 * One end of a TCP connection as a test wants it: bytes out as they are, bytes in when asked for. Reads whole messages of
 * HTTP/1 by rules of its own, simpler than the proxy's, so that the two judge each other.
 */
import { connect, type Socket } from 'node:net';
import { atEnd } from './at-end.js';

/** Longest wait for anything a peer has to do. */
const PATIENCE_MS = 5_000;

/** How the other side ended its direction. */
export type End = 'fin' | 'reset';

export interface Message {
  /** First line, without its CRLF. */
  readonly line: string;
  /** Field lines as they came. */
  readonly fields: readonly string[];
  readonly body: Buffer;
  /** Bytes of the body with their framing. */
  readonly framed: string;
  readonly trailers: readonly string[];
}

export interface Answer extends Message {
  readonly status: number;
}

export interface Request extends Message {
  readonly method: string;
  readonly target: string;
}

export class Wire {
  readonly socket: Socket;
  /** Joined when looked at, not when it comes: a large body would be copied over and over. */
  #parts: Buffer[] = [];
  #size = 0;
  #end: End | undefined;
  #wake: () => void = () => {};

  /** Takes over a socket whose data nobody has read yet. It must allow half-open connections. */
  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#parts.push(chunk);
      this.#size += chunk.length;
      this.#wake();
    });
    socket.once('end', () => this.#ended('fin'));
    socket.once('error', () => this.#ended('reset'));
    socket.once('close', () => this.#ended('reset'));
  }

  /** Connects to a port of this host. */
  static async connect(
    port: number,
    options: { readonly address?: string; readonly from?: string } = {},
  ): Promise<Wire> {
    const socket = connect({
      host: options.address ?? '127.0.0.1',
      port,
      noDelay: true,
      allowHalfOpen: true,
      ...(options.from === undefined ? {} : { localAddress: options.from }),
    });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    const wire = new Wire(socket);
    atEnd(async () => {
      socket.destroy();
    });
    return wire;
  }

  /** What has arrived and not been read. */
  get pending(): Buffer {
    if (this.#parts.length !== 1) this.#parts = [Buffer.concat(this.#parts)];
    return this.#parts[0] as Buffer;
  }

  /** How the peer ended, if it has. */
  get ended(): End | undefined {
    return this.#end;
  }

  /** Sends; resolves when the kernel has taken everything (or the peer has gone). */
  write(bytes: string | Buffer): Promise<void> {
    return new Promise((resolve) => {
      this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, () => resolve());
    });
  }

  /** Sends byte by byte, each in a segment of its own. */
  async drip(bytes: string): Promise<void> {
    for (const byte of Buffer.from(bytes, 'latin1')) await this.write(Buffer.from([byte]));
  }

  /** Sends FIN behind everything. */
  finish(): void {
    this.socket.end();
  }

  /** Sends RST. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  /** Reads nothing more from the kernel. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  /** Hands the socket's data to someone else from now on; returns what has come and was not read. */
  handOver(take: (chunk: Buffer) => void): Buffer {
    const bytes = this.#drop(this.#size);
    this.socket.removeAllListeners('data');
    this.socket.on('data', take);
    return bytes;
  }

  /** Exactly `count` bytes. */
  async take(count: number): Promise<Buffer> {
    await this.#until(`${count} bytes`, () => this.#size >= count);
    return this.#drop(count);
  }

  /** Waits until this text has arrived; takes nothing. */
  async sees(text: string): Promise<void> {
    await this.#until(JSON.stringify(text), () => this.pending.includes(text, 0, 'latin1'));
  }

  /** One line without its CRLF. */
  async line(): Promise<string> {
    await this.#until('a line', () => this.pending.includes('\r\n'));
    const length = this.pending.indexOf('\r\n');
    return (await this.take(length + 2)).subarray(0, length).toString('latin1');
  }

  /** Everything up to the peer's end, and how it ended. */
  async rest(limitMs = PATIENCE_MS): Promise<{ readonly text: string; readonly bytes: Buffer; readonly end: End }> {
    await this.#until('the end', () => this.#end !== undefined, limitMs, true);
    const bytes = this.#drop(this.#size);
    return { text: bytes.toString('latin1'), bytes, end: this.#end ?? 'reset' };
  }

  /** One answer to a request of this method; interim ones (1xx but 101) are answers of their own. */
  async answer(method = 'GET'): Promise<Answer> {
    const { line, fields } = await this.#head();
    const status = Number(line.split(' ')[1]);
    const bodiless = method === 'HEAD' || status < 200 || status === 204 || status === 304;
    const body = bodiless ? NOTHING : await this.#body(fields, true);
    return { status, line, fields, ...body };
  }

  /** One request. */
  async request(): Promise<Request> {
    const { line, fields } = await this.#head();
    const [method = '', target = ''] = line.split(' ');
    return { method, target, line, fields, ...(await this.#body(fields, false)) };
  }

  /** The head of one request; what follows is left unread. */
  async requestHead(): Promise<Omit<Request, 'body' | 'framed' | 'trailers'>> {
    const { line, fields } = await this.#head();
    const [method = '', target = ''] = line.split(' ');
    return { method, target, line, fields };
  }

  /** True when the peer has ended without a further byte, false as soon as one is there. */
  async isOver(limitMs = PATIENCE_MS): Promise<boolean> {
    await this.#until('the end or a byte', () => this.#end !== undefined || this.#size > 0, limitMs, true);
    return this.#size === 0;
  }

  async #head(): Promise<{ line: string; fields: string[] }> {
    const line = await this.line();
    const fields: string[] = [];
    for (let field = await this.line(); field !== ''; field = await this.line()) fields.push(field);
    return { line, fields };
  }

  async #body(fields: readonly string[], isAnswer: boolean): Promise<Pick<Message, 'body' | 'framed' | 'trailers'>> {
    if (field(fields, 'transfer-encoding')?.toLowerCase() === 'chunked') return this.#chunks();
    const length = field(fields, 'content-length');
    if (length !== undefined) {
      const body = await this.take(Number(length));
      return { body, framed: body.toString('latin1'), trailers: [] };
    }
    if (!isAnswer) return NOTHING;
    const { bytes: body, end } = await this.rest();
    if (end === 'reset') throw new Error(`cut after ${body.length} bytes of a body`);
    return { body, framed: body.toString('latin1'), trailers: [] };
  }

  async #chunks(): Promise<Pick<Message, 'body' | 'framed' | 'trailers'>> {
    const data: Buffer[] = [];
    const trailers: string[] = [];
    let framed = '';
    for (;;) {
      const size = await this.line();
      framed += `${size}\r\n`;
      const length = Number.parseInt(size, 16);
      if (length === 0) break;
      const chunk = await this.take(length + 2);
      data.push(chunk.subarray(0, length));
      framed += chunk.toString('latin1');
    }
    for (let trailer = await this.line(); trailer !== ''; trailer = await this.line()) trailers.push(trailer);
    return { body: Buffer.concat(data), framed, trailers };
  }

  async #until(what: string, ready: () => boolean, limitMs = PATIENCE_MS, endIsFine = false): Promise<void> {
    const deadline = Date.now() + limitMs;
    while (!ready()) {
      const state = (): string => `got ${JSON.stringify(this.pending.toString('latin1').slice(-300))}`;
      if (this.#end !== undefined && !endIsFine) throw new Error(`${this.#end} before ${what}; ${state()}`);
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`not within ${limitMs} ms: ${what}; ${state()}`);
      await new Promise<void>((resolve) => {
        const timer = Number.isFinite(left) ? setTimeout(resolve, left) : undefined;
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  #drop(count: number): Buffer {
    const bytes = this.pending;
    this.#parts = [bytes.subarray(count)];
    this.#size -= count;
    return bytes.subarray(0, count);
  }

  #ended(end: End): void {
    this.#end ??= end;
    this.#wake();
  }
}

const NOTHING = { body: Buffer.alloc(0), framed: '', trailers: [] } as const;

/** Value of the first field of this name. */
export function field(fields: readonly string[], name: string): string | undefined {
  return values(fields, name)[0];
}

/** Values of all fields of this name, in order. */
export function values(fields: readonly string[], name: string): string[] {
  return fields
    .filter((line) => line.slice(0, line.indexOf(':')).toLowerCase() === name)
    .map((line) => line.slice(line.indexOf(':') + 1).trim());
}
