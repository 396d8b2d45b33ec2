/**
 * The answer to `GET /objects`: pages of the build thread one after the other, as fast as the client takes them, so that
 * 100,000 objects never stand in memory at once. Serves `admin.ts`.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type Fault, MAX_FAULTS, type Overview } from '../ipc/admin-protocol.js';
import type { PageReply } from './build-task.js';
import type { PageRequest } from './object-list.js';

/** Where the objects come from. */
export interface ObjectSource {
  overview(): Overview;
  page(request: PageRequest): Promise<PageReply>;
}

/** Returns what a query asks for, or what is wrong with it. */
export function parseObjectQuery(query: URLSearchParams): PageRequest | string {
  const limit = query.get('limit') ?? '0';
  if (!/^\d{1,9}$/.test(limit)) return `limit: ${limit} is no number`;
  const words = Object.entries({ kind: 'kind', namespace: 'namespace', name: 'name', after: 'continue' }).flatMap(
    ([field, parameter]) => {
      const value = query.get(parameter);
      return value === null ? [] : [[field, value] as const];
    },
  );
  // As an API server has it: no limit.
  return { ...Object.fromEntries(words), ...(Number(limit) > 0 && { limit: Number(limit) }) };
}

/** Writes an `ObjectList`. Rejects when the first page cannot be had; later on a failure cuts the answer off. */
export async function answerObjects(
  response: ServerResponse,
  source: ObjectSource,
  request: PageRequest,
): Promise<void> {
  let page = await source.page(request);
  let left = (request.limit ?? Number.POSITIVE_INFINITY) - page.count;
  const faults: Fault[] = [];
  let faultCount = 0;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"apiVersion":"v1","kind":"List","items":[');
  for (let isFirst = true; ; isFirst = false) {
    faultCount += page.faults.length;
    faults.push(...page.faults.slice(0, MAX_FAULTS - faults.length));
    if (page.count > 0 && !isFirst) response.write(',');
    const isFull = !response.write(page.items);
    if (page.next === undefined || left <= 0) break;
    if (isFull) await drained(response);
    if (response.destroyed) return;
    page = await source.page({ ...request, after: page.next, ...(Number.isFinite(left) && { limit: left }) });
    left -= page.count;
  }
  const more = page.next === undefined ? {} : { continue: page.next };
  const metadata = { weirgate: source.overview(), ...more, faults, faultCount };
  response.end(`],"metadata":${JSON.stringify(metadata)}}\n`);
}

/** Resolves when the client has taken what was written, or is gone. */
async function drained(response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  const stop = (): void => gone.abort();
  response.once('close', stop);
  try {
    if (!response.destroyed) await once(response, 'drain', { signal: gone.signal });
  } catch {
    // The client has gone away.
  } finally {
    response.off('close', stop);
  }
}
