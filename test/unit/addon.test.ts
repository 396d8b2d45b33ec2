/**
 * The addon as the primary and a worker use it: loader, ports, locks, notifications, and one real worker process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { compile, encodeEndpointSet, SlotBook } from '../../src/compile/compile.js';
import {
  benchRoute,
  checkTable,
  dumpTable,
  Host,
  type HostEvent,
  loadAddon,
  routeTable,
  version,
} from '../../src/native/addon.js';
import { LAYOUT_HASH } from '../../src/native/layout.gen.js';
import {
  action,
  cluster,
  httpListener,
  httpSocket,
  ir,
  prefix,
  SETTINGS,
  tcpListener,
  tcpSocket,
} from '../support/ir.js';

const ADDON = fileURLToPath(new URL('../../native/weirgate.node', import.meta.url));

const undo: (() => void)[] = [];
afterEach(() => {
  for (const step of undo.splice(0).reverse()) step();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'weirgate-addon-'));
  undo.push(() => rmSync(path, { recursive: true }));
  return path;
}

/** A host, and a way to wait for what it tells. */
function startHost() {
  const events: HostEvent[] = [];
  const waiting = new Set<() => void>();
  const host = new Host({
    onEvent: (event) => {
      events.push(event);
      for (const look of [...waiting]) look();
    },
  });
  undo.push(() => host.close());
  const next = <K extends HostEvent['kind']>(kind: K): Promise<Extract<HostEvent, { kind: K }>> =>
    new Promise((resolve) => {
      // Events do not keep the process alive, so the wait has to.
      const alive = setInterval(() => {}, 60_000);
      const look = () => {
        const index = events.findIndex((event) => event.kind === kind);
        if (index < 0) return;
        clearInterval(alive);
        waiting.delete(look);
        resolve(events.splice(index, 1)[0] as Extract<HostEvent, { kind: K }>);
      };
      waiting.add(look);
      look();
    });
  return { host, next };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  undo.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

describe('loading the addon', () => {
  it('names the command that builds a missing addon', () => {
    const file = join(folder(), 'weirgate.node');
    expect(() => loadAddon(file)).toThrow(
      expect.objectContaining({ code: 'WEIRGATE_ADDON_MISSING', message: expect.stringContaining('npm run build') }),
    );
  });

  it('tells a broken file from a missing one', () => {
    const file = join(folder(), 'weirgate.node');
    writeFileSync(file, 'no library');
    expect(() => loadAddon(file)).toThrow(expect.objectContaining({ code: 'WEIRGATE_ADDON_BROKEN' }));
  });

  it('refuses an addon of another layout', () => {
    const file = join(folder(), 'other.cjs');
    writeFileSync(file, "exports.version = () => ({ version: '0', layoutHash: '0000000000000000' });");
    expect(() => loadAddon(file)).toThrow(expect.objectContaining({ code: 'WEIRGATE_ADDON_STALE' }));
  });

  it('starts nothing in a worker thread', async () => {
    const script = `const addon = require(${JSON.stringify(ADDON)});
      const codeOf = (call) => { try { call(); } catch (error) { return error.code; } };
      require('node:worker_threads').parentPort.postMessage([
        codeOf(() => new addon.Host({ onEvent() {} })), codeOf(() => addon.startWorker(4)),
      ]);`;
    const [codes] = await once(new Worker(script, { eval: true }), 'message');
    expect(codes).toEqual(['WEIRGATE_THREAD', 'WEIRGATE_THREAD']);
  });

  it('says which release and layout it is', () => {
    const { version: release } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(version()).toEqual({ version: release, layoutHash: LAYOUT_HASH.toString(16).padStart(16, '0') });
  });
});

describe('tables', () => {
  const { table } = compile(
    ir({
      sockets: [httpSocket(80, [0]), tcpSocket(90, 1)],
      listeners: [
        httpListener('', [{ hostname: 'a.example', matches: [prefix('/x', 0)] }], 'edge/http'),
        tcpListener(1, 'edge/tcp'),
      ],
      actions: [action('web'), action('stream')],
      clusters: [cluster('c', ['127.0.0.1:1'])],
    }),
    new SlotBook(),
    7,
  );
  const request = { method: 'GET', host: 'A.example', path: '/x/y', headers: [['Accept', '*/*']] as const };

  it('are checked, printed and asked', () => {
    expect(checkTable(table)).toBeNull();
    expect(dumpTable(table)).toContain('a.example');
    expect(routeTable(table, 0, request)).toEqual({ kind: 'action', listener: 'edge/http', action: 'web' });
    expect(routeTable(table, 0, { ...request, path: '/xy' })).toEqual({ kind: 'noRoute', listener: 'edge/http' });
    expect(routeTable(table, 1, request)).toEqual({ kind: 'action', listener: 'edge/tcp', action: 'stream' });
    expect(routeTable(table, 9, request)).toEqual({ kind: 'noListener' });
    expect(benchRoute(table, 0, ['a.example'], 1000)).toBeGreaterThan(0);
  });

  it('that are damaged are refused by all of these', () => {
    const damaged = table.slice(0, table.length - 1);
    expect(checkTable(damaged)).toMatch(/./);
    expect(() => dumpTable(damaged)).toThrow(expect.objectContaining({ code: 'WEIRGATE_ARGUMENT' }));
    expect(() => routeTable(damaged, 0, request)).toThrow(/table refused/);
    expect(() => benchRoute(table, 0, [], 1)).toThrow(/at least one host/);
  });
});

describe('ports and folders', () => {
  it('a port that someone has is refused with the owner, a free one opened once', async () => {
    const port = await listen(createServer());
    const { host } = startHost();
    const refused = host.bind({ socketId: 1, ip: '127.0.0.1', port, shards: 4 });
    expect(refused).toMatchObject({ ok: false, code: 'EADDRINUSE', owner: { pid: process.pid } });
    expect(refused).toHaveProperty(
      'message',
      expect.stringContaining(`127.0.0.1:${port} is in use by pid ${process.pid}`),
    );
    const opened = host.bind({ socketId: 1, ip: '127.0.0.1', port: 0, shards: 4 });
    expect(opened).toEqual({ ok: true, port: expect.any(Number) });
    if (!opened.ok) return;
    const other = startHost().host;
    expect(other.bind({ socketId: 1, ip: '127.0.0.1', port: opened.port, shards: 4 })).toMatchObject({
      code: 'EADDRINUSE',
      owner: { pid: process.pid },
    });
    host.unbind(1);
    expect(other.bind({ socketId: 1, ip: '127.0.0.1', port: opened.port, shards: 4 }).ok).toBe(true);
  });

  it('wrong arguments are errors with a code', () => {
    const { host } = startHost();
    expect(() => host.bind({ socketId: 1, ip: 'localhost', port: 0, shards: 1 })).toThrow(/no IP address/);
    expect(() => host.deal(1, 1, [0], false)).toThrow(expect.objectContaining({ code: 'WEIRGATE_ARGUMENT' }));
    expect(() => host.setEndpointSet(1, new Uint8Array(3))).toThrow(/endpoint block/);
    expect(() => host.assignColumn(1, 64)).toThrow(/below 64/);
    expect(() => host.sendTable(1)).toThrow(/no table/);
    host.close();
    expect(() => host.sendTable(1)).toThrow(expect.objectContaining({ code: 'WEIRGATE_CLOSED' }));
    host.closeChannel(1);
  });

  it('a state folder belongs to one host at a time', () => {
    const path = folder();
    const { host } = startHost();
    expect(host.lockState(path)).toEqual({ ok: true });
    const second = startHost().host;
    expect(second.lockState(path)).toEqual({ ok: false, pid: process.pid });
    host.close();
    expect(second.lockState(path)).toEqual({ ok: true });
  });
});

describe('a worker process', () => {
  /** A process with nothing but the event loop in it. */
  function spawnWorker(host: Host, worker: number): ChildProcess {
    const channel = host.openChannel(worker);
    const script = `require(${JSON.stringify(ADDON)}).startWorker(4); setInterval(() => {}, 1e9)`;
    const child = spawn(process.execPath, ['-e', script], {
      stdio: ['ignore', 'inherit', 'inherit', 'ignore', channel],
    });
    host.closeChildEnd(channel);
    undo.push(() => child.kill('SIGKILL'));
    return child;
  }

  /** One listener on a free port whose connections go to an echo server. */
  async function serveEcho(host: Host, target: string): Promise<{ port: number; listener: number }> {
    const echo = await listen(createServer((socket) => socket.pipe(socket)));
    const { table, endpointSets, sockets, slots } = compile(
      ir({
        settings: { ...SETTINGS, accessLog: { target } },
        sockets: [tcpSocket(1, 0)],
        listeners: [tcpListener(0)],
        actions: [action('echo')],
        clusters: [cluster('echo', [`127.0.0.1:${echo}`])],
      }),
      new SlotBook(),
      1,
    );
    for (const set of endpointSets)
      host.setEndpointSet(
        set.id,
        encodeEndpointSet(set, () => true),
      );
    const bound = host.bind({ socketId: sockets[0]?.id ?? 0, ip: '127.0.0.1', port: 0, shards: 2 });
    if (!bound.ok) throw new Error(bound.message);
    host.publishTable(table, 1);
    return { port: bound.port, listener: slots.listeners[0]?.slot ?? 0 };
  }

  async function echo(port: number, text: string): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      answer += chunk;
    });
    socket.end(text);
    await once(socket, 'close');
    return answer;
  }

  it('serves what it is dealt, is counted, and its successor goes on with its column', async () => {
    const { host, next } = startHost();
    const log = join(folder(), 'access.log');
    const { port, listener } = await serveEcho(host, log);
    for (const worker of [1, 2]) {
      const child = spawnWorker(host, worker);
      expect(await next('ready')).toEqual({ kind: 'ready', worker });
      host.assignColumn(worker, 0);
      if (worker === 1) host.startAccessLog({ target: log });
      host.sendTable(worker);
      expect(await next('ack')).toMatchObject({ worker, generation: 1 });
      host.deal(worker, 0, [0, 1], false);
      expect(await next('listening')).toMatchObject({ worker, socketId: 0, members: 2 });
      expect(await echo(port, `hello ${worker}`)).toBe(`hello ${worker}`);
      await expect.poll(() => host.readAccessLogStats().lines).toBe(worker);
      expect(host.readControl(0)).toMatchObject({ pid: child.pid, generation: 1, paused: false });
      expect(() => host.assignColumn(9, 0)).toThrow(/in use/);
      host.killFenced(worker, child.pid ?? 0);
      expect(await next('fenced')).toEqual({ kind: 'fenced', worker, pid: child.pid });
      expect(await next('gone')).toMatchObject({ worker, text: '' });
      host.zeroColumn(0);
      expect(host.readControl(0).pid).toBe(0);
      // Cell 0 of a listener's slot counts accepted connections.
      expect(host.readSlots(0, listener, 1)[0]).toBe(worker);
    }
    expect([...host.readGauges(0, 100)].every((gauge) => gauge === 0)).toBe(true);
    host.stopAccessLog();
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      [1, 2].map(() =>
        expect.objectContaining({ listener: 'edge/tcp', route: 'echo', protocol: 'TCP', bytes_in: 7, bytes_out: 7 }),
      ),
    );
  });

  it('that is told to stop ends with status 0, and one without a channel does not start', async () => {
    const { host, next } = startHost();
    const child = spawnWorker(host, 1);
    await next('ready');
    host.stop(1);
    expect(await once(child, 'exit')).toEqual([0, null]);
    const script = `require(${JSON.stringify(ADDON)}).startWorker(4)`;
    const orphan = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'pipe', 'ignore', 'ignore'] });
    let text = '';
    orphan.stderr?.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    const [code] = await once(orphan, 'close');
    expect(code).not.toBe(0);
    expect(text).toContain('SOCK_SEQPACKET');
  });

  it('that is not a child is never killed', async () => {
    const { host, next } = startHost();
    host.killFenced(5, process.ppid);
    expect(await next('fenced')).toEqual({ kind: 'fenced', worker: 5, pid: process.ppid });
    expect(() => process.kill(process.ppid, 0)).not.toThrow();
  });
});

describe('the end of the process', () => {
  it('comes by itself while a host is open, and at once after exit', async () => {
    const file = join(folder(), 'weirgate.node');
    copyFileSync(ADDON, file);
    for (const ending of ['', 'process.exit(3)']) {
      const script = `new (require(${JSON.stringify(file)}).Host)({ onEvent() {} }).openChannel(1); ${ending}`;
      const child = spawn(process.execPath, ['-e', script], { stdio: 'inherit' });
      expect(await once(child, 'exit')).toEqual([ending === '' ? 0 : 3, null]);
    }
  });
});
