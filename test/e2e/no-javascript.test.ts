/** No JavaScript runs per connection or per request: the workers' JavaScript threads sleep through all traffic. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Load, NUMBER_HEADER } from '../support/load.js';
import { serving, untilWhole } from './crew.js';
import { freePort, Instance } from './instance.js';
import { simpleHttp } from './manifests.js';
import { httpBackend } from './peers.js';

const LOOP_THREAD = 'weirgate-loop';

interface Thread {
  readonly pid: number;
  readonly tid: number;
  readonly name: string;
  /** How often the scheduler has put it on a processor. */
  readonly runs: number;
}

function threadsOf(pid: number): Thread[] {
  return readdirSync(`/proc/${pid}/task`).map((tid) => {
    const folder = `/proc/${pid}/task/${tid}`;
    const runs = Number(readFileSync(`${folder}/schedstat`, 'utf8').trim().split(' ')[2]);
    return { pid, tid: Number(tid), name: readFileSync(`${folder}/comm`, 'utf8').trim(), runs };
  });
}

describe('a worker', () => {
  it('runs no JavaScript during 10,000 requests: only the loop thread is ever scheduled', async () => {
    const backend = await httpBackend('b1', (request, response) => {
      response.writeHead(200, { [NUMBER_HEADER]: request.headers[NUMBER_HEADER], 'content-length': 2 });
      response.end('ok');
    });
    const port = await freePort();
    const instance = await Instance.start({ files: { 'edge.yaml': simpleHttp(port, backend.port) }, workers: 2 });
    const warm = Load.start({ port, clients: 8, keepAlive: true, requests: 200 });
    await warm.finished();

    // The spare starts beside the first requests; it sleeps once it is there.
    await untilWhole(instance, 2);
    const pids = (await serving(instance)).map(({ pid }) => pid);
    const before = pids.flatMap(threadsOf);
    const kept = Load.start({ port, clients: 16, keepAlive: true, requests: 8_000 });
    await kept.finished();
    const fresh = Load.start({ port, clients: 16, keepAlive: false, requests: 2_000 });
    await fresh.finished();
    const after = pids.flatMap(threadsOf);
    expect([...kept.failures, ...fresh.failures]).toEqual([]);
    expect(kept.answered + fresh.answered).toBeGreaterThanOrEqual(10_000);

    const runs = new Map(before.map(({ tid, runs: count }) => [tid, count]));
    const awake = after.map((thread) => ({ ...thread, runs: thread.runs - (runs.get(thread.tid) ?? 0) }));
    const scripts = awake.filter(({ name, runs: count }) => name !== LOOP_THREAD && count > 0);
    expect(scripts).toEqual([]);
    const loops = awake.filter(({ name }) => name === LOOP_THREAD);
    expect(loops.length).toBe(pids.length);
    expect(loops.reduce((sum, { runs: count }) => sum + count, 0)).toBeGreaterThan(10);
  });
});
