/**
 * One active check of one endpoint, over TCP or HTTP. Resolves always, within the timeout; holds one descriptor meanwhile.
 * Serves `prober.ts`. Judges nothing beyond this one try: that is `state.ts`.
 */
import { request } from 'node:http';
import { connect, isIPv6 } from 'node:net';
import type { IrHealthCheck } from '../ir/ir.js';
import type { CheckOutcome } from './state.js';

/** What is checked. */
export interface CheckTarget {
  readonly ip: string;
  readonly port: number;
  readonly check: IrHealthCheck;
}

/** Tries the endpoint once and returns what came of it. Never rejects. */
export function runCheck(target: CheckTarget): Promise<CheckOutcome> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    let close: () => void = () => {};
    const finish = (ok: boolean, detail: string): void => {
      clearTimeout(timer);
      close();
      resolve({ ok, detail, durationMs: performance.now() - startedAt });
    };
    const { timeoutMs } = target.check;
    const timer = setTimeout(() => finish(false, `timed out after ${timeoutMs} ms`), timeoutMs);
    close = target.check.type === 'tcp' ? checkTcp(target, finish) : checkHttp(target, finish);
  });
}

type Finish = (ok: boolean, detail: string) => void;

function checkTcp({ ip, port }: CheckTarget, finish: Finish): () => void {
  const socket = connect({ host: ip, port });
  socket.on('error', (error) => finish(false, causeOf(error)));
  socket.on('connect', () => finish(true, 'connected'));
  return () => socket.destroy();
}

function checkHttp({ ip, port, check }: CheckTarget, finish: Finish): () => void {
  const host = check.host === '' ? authority(ip, port) : check.host;
  const call = request({
    host: ip,
    port,
    path: check.path,
    method: 'GET',
    agent: false,
    // An endpoint under check is not trusted: a head larger than this is a failure.
    maxHeaderSize: 16 * 1024,
    setHost: false,
    headers: { host, 'user-agent': 'weirgate-health', connection: 'close' },
  });
  call.on('error', (error) => finish(false, causeOf(error)));
  call.on('response', (response) => {
    const status = response.statusCode ?? 0;
    const expected = check.expectedStatuses.some(({ from, to }) => from <= status && status <= to);
    // The body is not wanted, however long it is.
    finish(expected, expected ? `status ${status}` : `unexpected status ${status}`);
  });
  call.end();
  return () => call.destroy();
}

function authority(ip: string, port: number): string {
  return isIPv6(ip) ? `[${ip}]:${port}` : `${ip}:${port}`;
}

function causeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? error.message;
}
