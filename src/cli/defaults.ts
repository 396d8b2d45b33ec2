/** What commands take from their surroundings: default paths, the admin socket, who prints in colour. Serves `cli/`. */
import { existsSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { ok, type Result } from '../base/index.js';
import { type DefaultPaths, defaultPaths, parseAdminAddress } from '../ipc/paths.js';
import { createPainter, type Painter, wantsColour } from './output.js';

/** Where the service's instance has its socket. */
const SERVICE_SOCKET = '/run/weirgate/admin.sock';

/** Returns the default paths of the user who runs this process. */
export function userPaths(): DefaultPaths {
  return defaultPaths({ uid: process.getuid?.() ?? 0, home: homedir(), tmp: tmpdir(), env: process.env });
}

/** Returns the socket to ask: the one named, else the user's own, else the service's if only that is there. */
export function findAdminSocket(address: string | undefined): Result<string, string> {
  if (address !== undefined) return parseAdminAddress(address);
  const own = userPaths().admin;
  return ok(!existsSync(own) && existsSync(SERVICE_SOCKET) ? SERVICE_SOCKET : own);
}

/** Returns the painter for one of the standard streams. */
export function painterFor(stream: NodeJS.WriteStream): Painter {
  return createPainter(wantsColour(process.env, stream.isTTY === true));
}

/** Prints `error: …` and returns the status, for commands to end with. */
export function complain(message: string, status: number): number {
  process.stderr.write(`${painterFor(process.stderr)('red', 'error')}: ${message}\n`);
  return status;
}
