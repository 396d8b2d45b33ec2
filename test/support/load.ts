/**
 * HTTP clients that ask without pause and hold every answer against its request. Each failure is kept with the client's
 * port, by which a test tells in which process the connection was. Node is quick enough: some thousand requests a second.
 */
import { connect, type Socket } from 'node:net';

export interface Failure {
  /** Local port of the client's connection. */
  readonly port: number;
  readonly why: string;
  /** Answers this connection had before. */
  readonly answers: number;
}

export interface LoadOptions {
  readonly port: number;
  /** Connections at a time. */
  readonly clients: number;
  /** False: a connection for each request. */
  readonly keepAlive: boolean;
  readonly host?: string;
  readonly path?: string;
  /** Stops by itself after so many requests. */
  readonly requests?: number;
}

/** Name of the header by which a backend returns the number of the request. */
export const NUMBER_HEADER = 'x-load-number';

/** Longest wait for one answer. */
const PATIENCE_MS = 20_000;

let nextNumber = 1;

export class Load {
  /** Requests that were answered with 200 and their own number. */
  answered = 0;
  /** Requests that were sent. */
  asked = 0;
  readonly failures: Failure[] = [];
  readonly #options: LoadOptions;
  readonly #clients: Promise<void>[];
  #stopping = false;

  private constructor(options: LoadOptions) {
    this.#options = options;
    this.#clients = Array.from({ length: options.clients }, () => this.#client());
  }

  static start(options: LoadOptions): Load {
    return new Load(options);
  }

  /** Lets every client finish its request. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.finished();
  }

  /** Resolves when all clients have ended. */
  async finished(): Promise<void> {
    await Promise.all(this.#clients);
  }

  get #goesOn(): boolean {
    return !this.#stopping && this.asked < (this.#options.requests ?? Number.POSITIVE_INFINITY);
  }

  async #client(): Promise<void> {
    while (this.#goesOn) await this.#connection();
  }

  /** One connection: resolves when it has ended, for whatever reason. */
  #connection(): Promise<void> {
    return new Promise((resolve) => {
      const { port, keepAlive, host = 'load.test', path = '/' } = this.#options;
      let received = '';
      let answers = 0;
      let number = 0;
      let waiting = false;
      const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
      let local = 0;
      const ask = (): void => {
        number = nextNumber++;
        waiting = true;
        this.asked += 1;
        socket.write(
          `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${NUMBER_HEADER}: ${number}\r\n` +
            `${keepAlive ? '' : 'Connection: close\r\n'}\r\n`,
        );
      };
      const end = (why?: string): void => {
        clearTimeout(timer);
        socket.removeAllListeners();
        socket.on('error', () => {});
        socket.destroy();
        if (why !== undefined) this.failures.push({ port: local, why, answers });
        resolve();
      };
      const timer = setTimeout(() => end(`no answer within ${PATIENCE_MS} ms`), PATIENCE_MS);
      socket.once('connect', () => {
        local = socket.localPort ?? 0;
        ask();
      });
      socket.on('data', (chunk: Buffer) => {
        received += chunk.toString('latin1');
        const answer = takeAnswer(received);
        if (answer === undefined) return;
        received = received.slice(answer.length);
        if (!waiting) return end('an answer without a request');
        waiting = false;
        if (answer.status !== 200) return end(`status ${answer.status}: ${answer.body}`);
        if (answer.number !== number) return end(`answer ${answer.number} to request ${number}`);
        answers += 1;
        this.answered += 1;
        timer.refresh();
        if (!keepAlive || answer.close || !this.#goesOn) return end();
        ask();
      });
      // Between two requests a server may close; after one it owes the answer.
      const closed = (how: string): void => end(waiting || answers === 0 ? `${how} before the answer` : undefined);
      socket.once('end', () => closed('closed'));
      socket.once('error', (error: NodeJS.ErrnoException) => closed(error.code ?? error.message));
    });
  }
}

interface TakenAnswer {
  readonly length: number;
  readonly status: number;
  readonly number: number;
  readonly close: boolean;
  readonly body: string;
}

/** The first answer in `text`, once it is complete. */
function takeAnswer(text: string): TakenAnswer | undefined {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const lines = text.slice(0, head).split('\r\n');
  const field = (name: string): string =>
    lines
      .find((line) => line.toLowerCase().startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim() ?? '';
  const length = head + 4 + Number(field('content-length'));
  if (text.length < length) return undefined;
  return {
    length,
    status: Number(lines[0]?.split(' ')[1]),
    number: Number(field(NUMBER_HEADER)),
    close: field('connection').toLowerCase() === 'close',
    body: text.slice(head + 4, length),
  };
}
