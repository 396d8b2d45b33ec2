/** The admin socket: answers, its file, and who may have it. */
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askAdmin } from '../../../src/ipc/admin-client.js';
import type { Fault, Overview, ReloadAnswer } from '../../../src/ipc/admin-protocol.js';
import { type AdminServer, AdminSocketError, type AdminSource, openAdmin } from '../../../src/primary/admin.js';
import type { PageReply } from '../../../src/primary/build-task.js';
import type { PageRequest } from '../../../src/primary/object-list.js';

let folder: string;
let path: string;
let server: AdminServer | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weirgate-admin-'));
  path = join(folder, 'run/admin.sock');
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const source = (parts: Partial<AdminSource> = {}): AdminSource => ({
  overview: () => ({ version: '1.2.3', layoutHash: 'abc', pid: 4711, phase: 'serving' }) as Overview,
  page: async (request) => ({
    items: new TextEncoder().encode(JSON.stringify(request)),
    count: 1,
    next: undefined,
    faults: [],
  }),
  ir: async () => new TextEncoder().encode('null'),
  metrics: () => ['a 1\n', '# EOF\n'],
  reload: async (wait) => ({ outcome: wait ? 'programmed' : 'requested', generation: 3 }) as ReloadAnswer,
  isLive: () => true,
  ...parts,
});

async function ask(target: string, method: 'GET' | 'POST' = 'GET'): Promise<{ status: number; body: string }> {
  const answer = await askAdmin(path, method, target, { timeoutMs: 5_000 });
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.value;
}

describe('the admin socket', () => {
  it('answers metrics, objects, version, probes and reloads', async () => {
    server = await openAdmin(path, source());
    expect(await ask('/metrics')).toEqual({ status: 200, body: 'a 1\n# EOF\n' });
    expect(JSON.parse((await ask('/objects?kind=Gateway&limit=3')).body)).toMatchObject({
      kind: 'List',
      metadata: { weirgate: { pid: 4711 } },
      items: [{ kind: 'Gateway', limit: 3 }],
    });
    expect(JSON.parse((await ask('/version')).body)).toEqual({ version: '1.2.3', layoutHash: 'abc', pid: 4711 });
    expect((await ask('/livez')).status).toBe(200);
    expect((await ask('/readyz')).status).toBe(200);
    expect((await ask('/reload?wait=1', 'POST')).status).toBe(200);
    expect((await ask('/reload', 'POST')).status).toBe(202);
  });

  it('joins pages of objects until there is none, or as many as are wanted', async () => {
    const fault = (object: string): Fault => ({
      object,
      part: '',
      condition: 'Accepted',
      reason: 'Invalid',
      message: '',
    });
    const asked: PageRequest[] = [];
    const page = async (request: PageRequest): Promise<PageReply> => {
      asked.push(request);
      const number = asked.length;
      return {
        items: new TextEncoder().encode(`{"page":${number}},{"page":${number}}`),
        count: 2,
        next: number < 4 ? `after ${number}` : undefined,
        faults: [fault(String(number))],
      };
    };
    server = await openAdmin(path, source({ page }));
    const all = JSON.parse((await ask('/objects?namespace=a')).body);
    expect(all.items.map((item: { page: number }) => item.page)).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
    expect(all.metadata).toMatchObject({ faultCount: 4, faults: [fault('1'), fault('2'), fault('3'), fault('4')] });
    expect(all.metadata).not.toHaveProperty('continue');
    expect(asked.map(({ after }) => after)).toEqual([undefined, 'after 1', 'after 2', 'after 3']);
    expect(asked.every(({ namespace, limit }) => namespace === 'a' && limit === undefined)).toBe(true);

    asked.length = 0;
    const some = JSON.parse((await ask('/objects?limit=4&continue=x')).body);
    expect(some.items).toHaveLength(4);
    expect(some.metadata.continue).toBe('after 2');
    expect(asked).toEqual([
      { after: 'x', limit: 4 },
      { after: 'after 1', limit: 2 },
    ]);
  });

  it('cuts an answer off that cannot be finished, so that nobody takes it for whole', async () => {
    const page = async ({ after }: PageRequest): Promise<PageReply> => {
      if (after !== undefined) throw new Error('build thread is gone');
      return { items: new TextEncoder().encode('{}'), count: 1, next: 'more', faults: [] };
    };
    server = await openAdmin(path, source({ page }));
    expect(await askAdmin(path, 'GET', '/objects', { timeoutMs: 5_000 })).toMatchObject({ ok: false });
    expect((await ask('/livez')).status).toBe(200);
  });

  it('says no to what is unknown, to GET with effects, and to nonsense', async () => {
    server = await openAdmin(path, source());
    expect((await ask('/nothing')).status).toBe(404);
    expect((await ask('/reload')).status).toBe(405);
    expect((await ask('/metrics', 'POST')).status).toBe(405);
    expect((await ask('/objects?limit=many')).status).toBe(400);
  });

  it('tells probes when it is not ready or not live, and a refused reload by its status', async () => {
    server = await openAdmin(
      path,
      source({
        overview: () => ({ phase: 'stopping' }) as Overview,
        isLive: () => false,
        reload: async () => ({ outcome: 'refused' }) as ReloadAnswer,
      }),
    );
    expect(await ask('/readyz')).toEqual({ status: 503, body: 'stopping\n' });
    expect((await ask('/livez')).status).toBe(503);
    expect((await ask('/reload?wait=1', 'POST')).status).toBe(422);
  });

  it('answers 500 with the reason when a source fails, and goes on', async () => {
    server = await openAdmin(path, source({ page: () => Promise.reject(new Error('build thread is gone')) }));
    expect(await ask('/objects')).toEqual({ status: 500, body: 'build thread is gone\n' });
    expect((await ask('/livez')).status).toBe(200);
  });

  it('is closed to others, and its folder too', async () => {
    server = await openAdmin(path, source());
    expect(statSync(path).mode & 0o007).toBe(0);
    expect(statSync(join(folder, 'run')).mode & 0o777).toBe(0o700);
  });

  it('goes away with its instance, and leaves another instance’s socket alone', async () => {
    const first = await openAdmin(path, source());
    await first.close();
    expect(existsSync(path)).toBe(false);
    const old = await openAdmin(path, source());
    rmSync(path);
    server = await openAdmin(path, source());
    await old.close();
    expect((await ask('/livez')).status).toBe(200);
  });

  it('takes the place of what a dead instance left', async () => {
    const left = createServer();
    await openAdmin(path, source()).then((made) => made.close());
    await new Promise<void>((resolve) => left.listen(`${path}.left`, resolve));
    // Closing removes the file; a killed process does not: keep it by a second name.
    const { linkSync } = await import('node:fs');
    linkSync(`${path}.left`, path);
    await new Promise((resolve) => left.close(resolve));
    expect(existsSync(path)).toBe(true);
    server = await openAdmin(path, source());
    expect((await ask('/livez')).status).toBe(200);
  });

  it('of a living instance is refused with its pid', async () => {
    server = await openAdmin(path, source());
    await expect(openAdmin(path, source())).rejects.toThrow(AdminSocketError);
    await expect(openAdmin(path, source())).rejects.toThrow('belongs to the instance with pid 4711');
    expect((await ask('/livez')).status).toBe(200);
  });

  it('does not replace what is no socket', async () => {
    writeFileSync(join(folder, 'file'), 'precious');
    await expect(openAdmin(join(folder, 'file'), source())).rejects.toThrow('is not a socket');
  });

  it('where there is no right to put it is refused with the reason', async () => {
    chmodSync(folder, 0o500);
    // Root needs no right: a path below a file fails for everybody.
    writeFileSync(join(tmpdir(), `weirgate-file-${process.pid}`), '');
    const below = join(tmpdir(), `weirgate-file-${process.pid}`, 'admin.sock');
    await expect(openAdmin(below, source())).rejects.toThrow('of the admin socket');
    rmSync(join(tmpdir(), `weirgate-file-${process.pid}`));
    chmodSync(folder, 0o700);
  });
});

describe('asking', () => {
  it('nobody names the socket', async () => {
    const answer = await askAdmin(path, 'GET', '/', { timeoutMs: 100 });
    expect(answer).toMatchObject({
      ok: false,
      error: { code: 'ENOENT', message: `no instance is running: there is no socket ${path}` },
    });
  });

  it('someone who never answers ends after the time limit', async () => {
    const mute = createServer();
    await openAdmin(path, source()).then((made) => made.close());
    await new Promise<void>((resolve) => mute.listen(path, resolve));
    const answer = await askAdmin(path, 'GET', '/', { timeoutMs: 50 });
    expect(answer).toMatchObject({ ok: false, error: { code: 'ETIMEDOUT' } });
    mute.close();
  });

  it('with a head that is too large is refused, not an end of the server', async () => {
    server = await openAdmin(path, source());
    const status = await new Promise((resolve) => {
      const call = request({ socketPath: path, path: '/livez', headers: { x: 'y'.repeat(20_000) } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      call.on('error', resolve);
      call.end();
    });
    expect(status).toBe(431);
    expect((await ask('/livez')).status).toBe(200);
  });
});
