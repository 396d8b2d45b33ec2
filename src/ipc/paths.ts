/**
 * Where an instance keeps its things: configuration, state folder, admin socket. Pure: the environment is an argument.
 * Serves `cli/`. systemd's variables win, then root's fixed folders, then the XDG folders of an ordinary user.
 */
import { join } from 'node:path';
import { err, ok, type Result } from '../base/index.js';

/** The defaults of one user in one environment. */
export interface DefaultPaths {
  readonly config: string;
  readonly state: string;
  /** Path of the admin socket. */
  readonly admin: string;
}

export interface PathContext {
  readonly uid: number;
  readonly home: string;
  readonly tmp: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Longest path a Unix socket can have (sockaddr_un has 108 bytes with the terminating NUL). */
export const MAX_SOCKET_PATH_BYTES = 107;

/** Returns the defaults: systemd's RUNTIME_DIRECTORY and STATE_DIRECTORY, else FHS for root, else XDG. */
export function defaultPaths({ uid, home, tmp, env }: PathContext): DefaultPaths {
  const isRoot = uid === 0;
  const xdg = (name: string, fallback: string): string => {
    const value = env[name];
    // Relative values are to be ignored, says the XDG base directory specification.
    return value?.startsWith('/') ? value : fallback;
  };
  const userRuntime = xdg('XDG_RUNTIME_DIR', '');
  const runtime = isRoot
    ? '/run/weirgate'
    : userRuntime === ''
      ? join(tmp, `weirgate-${uid}`)
      : join(userRuntime, 'weirgate');
  const state = isRoot ? '/var/lib/weirgate' : join(xdg('XDG_STATE_HOME', join(home, '.local/state')), 'weirgate');
  const config = isRoot ? '/etc/weirgate' : join(xdg('XDG_CONFIG_HOME', join(home, '.config')), 'weirgate');
  return {
    config,
    state: firstFolder(env.STATE_DIRECTORY) ?? state,
    admin: join(firstFolder(env.RUNTIME_DIRECTORY) ?? runtime, 'admin.sock'),
  };
}

/** Returns the socket path of an `--admin` value: `unix:/run/weirgate/admin.sock`, or the path alone. */
export function parseAdminAddress(text: string): Result<string, string> {
  const path = text.startsWith('unix:') ? text.slice('unix:'.length) : text;
  if (path === '' || /^[a-z]+:/.test(path)) return err(`"${text}" is not an admin address: give unix:PATH`);
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_SOCKET_PATH_BYTES) {
    return err(
      `the socket path has ${bytes} bytes, a Unix socket allows ${MAX_SOCKET_PATH_BYTES}: choose a shorter one`,
    );
  }
  return ok(path);
}

/** systemd separates several folders by colons; the first is ours. */
function firstFolder(value: string | undefined): string | undefined {
  const first = value?.split(':')[0];
  return first === '' ? undefined : first;
}
