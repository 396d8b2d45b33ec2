/**
 * Reads configuration files: the only input of a file-mode instance. Reads, never writes, never judges YAML.
 * Serves `primary/` (reloads) and `cli/check`. Follows symbolic links, as mounted Kubernetes ConfigMaps consist of them.
 */
import { createHash } from 'node:crypto';
import { constants, type Dirent } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { compareStrings, type Diagnostic, type DiagnosticCode, wholeFile } from '../base/index.js';

/** One file as it was read. */
export interface SourceFile {
  /** Path as the user wrote it, extended below folders; what diagnostics print. */
  readonly file: string;
  readonly text: string;
  /** SHA-256 of the bytes, hexadecimal: equal hash, equal text. */
  readonly hash: string;
}

/** Everything below the given paths, and what could not be read. */
export interface SourceFolder {
  /** Sorted by path; each real file once. */
  readonly files: readonly SourceFile[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Larger files are refused unread: 200,000 HTTPRoutes need about 60 MiB. */
export const MAX_FILE_BYTES = 128 * 1024 * 1024;
/** Folders inside folders; a bound for link mazes that the loop check cannot see. */
const MAX_DEPTH = 32;
/** Files read at once: enough to keep a disk busy, few enough for a small descriptor limit. */
const READ_CONCURRENCY = 16;

/** JSON is YAML, and what tools write. */
const EXTENSION = /\.(?:ya?ml|json)$/;

/**
 * Reads every `*.yaml`, `*.yml` and `*.json` below the paths (a path may also name one file, with any extension). Names that
 * start with a dot are left out: editors' swap files, and the `..data` folders of mounted ConfigMaps, whose files
 * appear a second time beside them. Never rejects: what cannot be read becomes a diagnostic that says why and for whom.
 * Cost: one read of each file; nothing is cached here.
 */
export async function readFolder(paths: readonly string[]): Promise<SourceFolder> {
  const walk = new Walk();
  for (const path of paths) await walk.visit(path, 0, true);
  const files: SourceFile[] = [];
  const queue = walk.files.values();
  const drain = async (): Promise<void> => {
    for (const file of queue) {
      const read = await readOne(file);
      if ('text' in read) files.push(read);
      else walk.diagnostics.push(read);
    }
  };
  await Promise.all(Array.from({ length: READ_CONCURRENCY }, drain));
  files.sort((a, b) => compareStrings(a.file, b.file));
  return { files, diagnostics: walk.diagnostics };
}

class Walk {
  /** Paths to read by the file they lead to, so that a file reached twice is read once. */
  readonly files = new Map<string, string>();
  readonly diagnostics: Diagnostic[] = [];
  readonly #folders = new Set<string>();

  async visit(path: string, depth: number, named: boolean): Promise<void> {
    try {
      const info = await stat(path);
      if (info.isDirectory()) await this.#visitFolder(path, depth);
      else if (info.isFile()) await this.#visitFile(path, named);
      else if (named || EXTENSION.test(path)) this.diagnostics.push(fault(path, 'WG1903', 'not a regular file', ''));
    } catch (error) {
      this.diagnostics.push(readFault(path, error));
    }
  }

  async #visitFile(path: string, named: boolean): Promise<void> {
    if (!named && !EXTENSION.test(path)) return;
    const real = await realpath(path);
    if (!this.files.has(real)) this.files.set(real, path);
  }

  async #visitFolder(path: string, depth: number): Promise<void> {
    const real = await realpath(path);
    if (this.#folders.has(real)) return;
    this.#folders.add(real);
    if (depth > MAX_DEPTH) {
      this.diagnostics.push(
        fault(path, 'WG1904', `folder is nested more than ${MAX_DEPTH} deep`, 'look for a link that leads upwards'),
      );
      return;
    }
    const entries: Dirent[] = await readdir(path, { withFileTypes: true });
    const visible = entries.filter((entry) => !entry.name.startsWith('.'));
    visible.sort((a, b) => compareStrings(a.name, b.name));
    for (const entry of visible) {
      if (entry.isFile() && !EXTENSION.test(entry.name)) continue;
      await this.visit(join(path, entry.name), depth + 1, false);
    }
  }
}

async function readOne(file: string): Promise<SourceFile | Diagnostic> {
  try {
    // O_NONBLOCK: should the file have become a pipe since it was looked at, the open must not wait for a writer.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const info = await handle.stat();
      if (!info.isFile()) return fault(file, 'WG1903', 'not a regular file', '');
      if (info.size > MAX_FILE_BYTES) {
        const limit = `${MAX_FILE_BYTES / 1024 / 1024} MiB`;
        return fault(file, 'WG1905', `file has ${info.size} bytes, more than ${limit}`, 'split it into several files');
      }
      const bytes = await handle.readFile();
      const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      return { file, text, hash: createHash('sha256').update(bytes).digest('hex') };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof TypeError) return fault(file, 'WG1906', 'file is not UTF-8', 'save it as UTF-8');
    return readFault(file, error);
  }
}

function readFault(path: string, error: unknown): Diagnostic {
  const { code = 'EIO', message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOENT':
      return fault(
        path,
        'WG1901',
        'no such file or folder (ENOENT)',
        'check the path; a symbolic link may lead nowhere',
      );
    case 'EACCES':
    case 'EPERM':
      return fault(path, 'WG1902', `not readable for ${whoAmI()} (${code})`, 'give that user the right to read it');
    case 'ELOOP':
      return fault(path, 'WG1904', 'symbolic links lead in a circle (ELOOP)', '');
    default:
      return fault(path, 'WG1902', `cannot be read (${code}): ${message}`, '');
  }
}

/** Returns `user NAME (uid N)`: a file that root can read is often unreadable for the service's user. */
function whoAmI(): string {
  try {
    const { username, uid } = userInfo();
    return `user ${username} (uid ${uid})`;
  } catch {
    // A uid without an entry in the user database, as containers have them.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

function fault(file: string, code: DiagnosticCode, message: string, hint: string): Diagnostic {
  return { severity: 'error', code, object: '', path: '', message, hint, span: wholeFile(file) };
}
