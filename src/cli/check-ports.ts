/**
 * Whether the ports of a configuration could be opened here and now, asked of /proc only: `check` opens no socket.
 * Reading is apart from judging, so that tests need no ports.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Diagnostic, SourceSpan } from '../base/index.js';
import type { IrSocket } from '../ir/ir.js';

/** What the host says about ports. */
export interface PortFacts {
  readonly listening: readonly ListeningSocket[];
  /** Ports below this need a right (net.ipv4.ip_unprivileged_port_start). */
  readonly unprivilegedStart: number;
  /** This process has CAP_NET_BIND_SERVICE. */
  readonly mayBindPrivileged: boolean;
  /** Returns who holds the socket of that inode, as far as this user may see it. */
  readonly ownerOf: (inode: string) => PortOwner | undefined;
}

export interface ListeningSocket {
  /** IP literal; `0.0.0.0` and `::` are all addresses. */
  readonly ip: string;
  readonly port: number;
  readonly inode: string;
}

export interface PortOwner {
  readonly pid: number;
  readonly command: string;
}

/** CAP_NET_BIND_SERVICE is capability 10 (linux/capability.h). */
const CAP_NET_BIND_SERVICE = 10n;
/** TCP_LISTEN in /proc/net/tcp. */
const LISTEN = '0A';

/**
 * Returns warnings for ports that another program holds or that this user may not open.
 * `instancePid`: the running instance, whose ports are its own to keep; 0: none. `place`: where a socket is configured.
 */
export function judgePorts(
  sockets: readonly IrSocket[],
  facts: PortFacts,
  instancePid: number,
  place: (socket: IrSocket) => { readonly object: string; readonly path: string; readonly span: SourceSpan },
): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  for (const socket of sockets) {
    const holder = facts.listening.find(({ ip, port }) => port === socket.port && overlaps(ip, socket.ip));
    const owner = holder === undefined ? undefined : facts.ownerOf(holder.inode);
    if (holder !== undefined && (owner === undefined || owner.pid !== instancePid || instancePid === 0)) {
      const who = owner === undefined ? 'by a program of another user' : `by ${owner.command} (pid ${owner.pid})`;
      diagnostics.push({
        severity: 'warning',
        code: 'WG4091',
        ...place(socket),
        message: `${socket.key} is in use ${who}`,
        hint: 'stop it, or choose another port',
      });
    } else if (socket.port < facts.unprivilegedStart && !facts.mayBindPrivileged) {
      diagnostics.push({
        severity: 'warning',
        code: 'WG4092',
        ...place(socket),
        message: `this user may not open port ${socket.port}: ports below ${facts.unprivilegedStart} need CAP_NET_BIND_SERVICE`,
        hint: 'weirgate.service has that right; else choose a port above, or run as root',
      });
    }
  }
  return diagnostics;
}

/** True when two listening addresses exclude each other on one port. `::` is dual-stack here. */
function overlaps(held: string, wanted: string): boolean {
  if (held === wanted || held === '::' || wanted === '::') return true;
  const isV6 = held.includes(':');
  if (isV6 !== wanted.includes(':')) return false;
  return held === '0.0.0.0' || wanted === '0.0.0.0';
}

/** Reads the facts from /proc. What cannot be read counts as nothing there. */
export function readPortFacts(): PortFacts {
  const listening = [...parseProcNet(readText('/proc/net/tcp')), ...parseProcNet(readText('/proc/net/tcp6'))];
  let owners: ReadonlyMap<string, PortOwner> | undefined;
  return {
    listening,
    unprivilegedStart: Number(readText('/proc/sys/net/ipv4/ip_unprivileged_port_start').trim() || '1024'),
    mayBindPrivileged: hasCapability(readText('/proc/self/status'), CAP_NET_BIND_SERVICE),
    // All descriptors of the host are looked through only if a port is held at all.
    ownerOf: (inode) => {
      owners ??= readOwners(new Set(listening.map((socket) => socket.inode)));
      return owners.get(inode);
    },
  };
}

/** Returns the listening sockets of a /proc/net/tcp or tcp6 table. */
export function parseProcNet(table: string): ListeningSocket[] {
  const sockets: ListeningSocket[] = [];
  for (const line of table.split('\n').slice(1)) {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    if (state !== LISTEN || inode === undefined) continue;
    const [address = '', port = '0'] = local.split(':');
    sockets.push({ ip: parseProcAddress(address), port: Number.parseInt(port, 16), inode });
  }
  return sockets;
}

/** Addresses are printed as 32-bit words in the byte order of the host, which is little-endian wherever Node.js runs. */
function parseProcAddress(hex: string): string {
  const words = hex.match(/.{8}/g) ?? [];
  const bytes = words.flatMap((word) => (word.match(/../g) ?? []).reverse().map((byte) => Number.parseInt(byte, 16)));
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0)).toString(16),
  );
  return compressIpv6(groups);
}

/** RFC 5952 §4.2: the longest run of two or more zero groups becomes `::`. */
function compressIpv6(groups: readonly string[]): string {
  const text = groups.join(':');
  const runs = text.match(/(?:^|(?<=:))0(?::0)+(?=:|$)/g) ?? [];
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '');
  if (longest === '') return text;
  const at = text.search(new RegExp(`(?:^|(?<=:))${longest}(?=:|$)`));
  return `${text.slice(0, at).replace(/:$/, '')}::${text.slice(at + longest.length).replace(/^:/, '')}`;
}

/** True when the effective set in a /proc/…/status holds the capability. */
export function hasCapability(status: string, capability: bigint): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  return effective !== undefined && ((BigInt(`0x${effective}`) >> capability) & 1n) === 1n;
}

/** Workers hold duplicates of the primary's sockets: the lowest pid of a socket is the one that opened it. */
function readOwners(inodes: ReadonlySet<string>): ReadonlyMap<string, PortOwner> {
  const owners = new Map<string, PortOwner>();
  const pids = list('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
  for (const pid of pids) {
    for (const descriptor of list(`/proc/${pid}/fd`)) {
      const inode = /^socket:\[(\d+)\]$/.exec(link(`/proc/${pid}/fd/${descriptor}`))?.[1];
      if (inode === undefined || !inodes.has(inode) || owners.has(inode)) continue;
      owners.set(inode, { pid, command: readText(`/proc/${pid}/comm`).trim() || 'a program' });
    }
  }
  return owners;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
