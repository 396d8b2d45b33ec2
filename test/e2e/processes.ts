/** What /proc says about processes and their sockets, for tests of processes. Linux only, as the product is. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Fields of /proc/PID/stat from the state on; undefined when the process is gone. */
function stat(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** True while the process runs; a zombie has ended. */
export function isAlive(pid: number): boolean {
  const state = stat(pid)?.[0];
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** True once the process stands still after SIGSTOP. */
export const isStopped = (pid: number): boolean => stat(pid)?.[0] === 'T';

/** CPU time, user and system, in milliseconds; steps of 10. */
export function cpuMs(pid: number): number {
  const fields = stat(pid);
  return fields === undefined ? 0 : (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Living processes of a process group. */
export function processGroup(group: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => stat(pid)?.[2] === String(group) && isAlive(pid));
}

/** Resident memory in MiB. */
export function residentMiB(pid: number): number {
  const line = readFileSync(`/proc/${pid}/status`, 'utf8').match(/^VmRSS:\s+(\d+) kB$/m);
  return Number(line?.[1]) / 1024;
}

/** All command lines of living processes that contain `text`, by pid. */
export function commandsWith(text: string): Map<number, string> {
  const found = new Map<number, string>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      if (command.includes(text) && isAlive(Number(name))) found.set(Number(name), command);
    } catch {
      // It ended meanwhile.
    }
  }
  return found;
}

export interface Thread {
  readonly tid: number;
  readonly name: string;
  /** Nanoseconds on a processor. */
  readonly ranNs: number;
  /** How often it was put on a processor. */
  readonly slices: number;
}

/** The threads of a process. */
export function threads(pid: number): Thread[] {
  return readdirSync(`/proc/${pid}/task`).map((tid) => {
    const [ranNs, , slices] = readFileSync(`/proc/${pid}/task/${tid}/schedstat`, 'utf8').trim().split(' ').map(Number);
    const name = readFileSync(`/proc/${pid}/task/${tid}/comm`, 'utf8').trim();
    return { tid: Number(tid), name, ranNs: ranNs ?? 0, slices: slices ?? 0 };
  });
}

/** What the descriptors of a process lead to, such as `socket:[4711]`; those that are closed meanwhile are left out. */
export function descriptors(pid: number): Map<number, string> {
  const found = new Map<number, string>();
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    try {
      found.set(Number(fd), readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      // It was closed meanwhile.
    }
  }
  return found;
}

/** The sockets that a process has open: their inodes with the descriptor of each. */
export function socketInodes(pid: number): Map<string, number> {
  const inodes = new Map<string, number>();
  for (const [fd, target] of descriptors(pid)) {
    const inode = target.match(/^socket:\[(\d+)\]$/)?.[1];
    if (inode !== undefined) inodes.set(inode, fd);
  }
  return inodes;
}

/** Ports of the clients whose connections to `port` the process has accepted and holds. Exact while it is stopped. */
export function clientPorts(pid: number, port: number): Set<number> {
  const held = socketInodes(pid);
  const ports = new Set<number>();
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)) {
    const [, local, remote, , , , , , , inode] = line.trim().split(/\s+/);
    if (local === undefined || remote === undefined || inode === undefined || !held.has(inode)) continue;
    if (Number.parseInt(local.slice(-4), 16) === port) ports.add(Number.parseInt(remote.slice(-4), 16));
  }
  return ports;
}
