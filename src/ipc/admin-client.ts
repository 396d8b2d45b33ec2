/**
 * Asks a running instance over its admin socket. Serves `cli/` and, to find out whether a socket is alive, `primary/`.
 */
import { request } from 'node:http';
import { err, ok, type Result } from '../base/index.js';

/** An answer with its status. */
export interface AdminAnswer {
  readonly status: number;
  readonly body: string;
}

/** Why there was no answer. */
export interface Unreachable {
  /** `ENOENT`: no socket; `ECONNREFUSED`: nobody listens; `EACCES`: not allowed; `ETIMEDOUT`, … */
  readonly code: string;
  /** For people; names the path. */
  readonly message: string;
}

export interface AskOptions {
  /** Without an answer for so long the call fails; 0: wait for ever. */
  readonly timeoutMs: number;
}

/** Sends one request to the admin socket at `path` and returns the answer, whatever its status. Never rejects. */
export function askAdmin(
  path: string,
  method: 'GET' | 'POST',
  target: string,
  options: AskOptions,
): Promise<Result<AdminAnswer, Unreachable>> {
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException): void => {
      const code = error.code ?? 'EIO';
      resolve(err({ code, message: explain(path, code, error.message) }));
    };
    const call = request({ socketPath: path, method, path: target, headers: { host: 'weirgate' }, agent: false });
    call.on('error', fail);
    call.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', fail);
      response.on('end', () => {
        resolve(ok({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString('utf8') }));
      });
    });
    if (options.timeoutMs > 0) {
      call.setTimeout(options.timeoutMs, () => {
        call.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' }));
      });
    }
    call.end();
  });
}

function explain(path: string, code: string, text: string): string {
  switch (code) {
    case 'ENOENT':
      return `no instance is running: there is no socket ${path}`;
    case 'ECONNREFUSED':
      return `no instance is running: nobody listens on ${path}`;
    case 'EACCES':
    case 'EPERM':
      return `not allowed to use ${path} (${code}): run as the user of the instance, or as root`;
    case 'ETIMEDOUT':
      return `the instance at ${path} does not answer`;
    default:
      return `cannot ask the instance at ${path}: ${text}`;
  }
}
