/**
 * What admission made of files, kept in the state folder, so that a restart does not parse what did not change. Only ever a
 * shortcut: an entry that is missing, hurt, foreign or of other code is as good as none. Serves the threads that parse.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AdmittedFile } from '../admit/index.js';

/** One folder of entries, for one version of admission. Plain data: it is posted to threads. */
export interface AdmissionCache {
  readonly folder: string;
  /** Of the code that admits. */
  readonly version: string;
}

/** Another number whenever an entry holds something else, `AdmittedBytes` or a digest in it. */
const MAGIC = 'weirgate.dev/admitted 2\n';
const DIGEST_BYTES = 32;
/** What is larger was not written by us: a file has at most 128 MiB, and its objects about twice of that. */
const MAX_BYTES = 512 * 1024 * 1024;
const ENTRY = /^[0-9a-f]{64}(?:\.\d+)?$/;
/** Whatever decides what admission makes of a text, as seen from here. */
const CODE = ['../admit', '../gateway-api', '../base'];

/** Returns the cache of a folder, which need not exist yet. Reads the code that admits: some milliseconds. */
export function admissionCache(folder: string): AdmissionCache {
  const digest = createHash('sha256').update(process.versions.v8);
  for (const place of CODE) {
    const root = fileURLToPath(new URL(place, import.meta.url));
    for (const file of codeFiles(root)) digest.update(`\n${file}\n`).update(readFileSync(join(root, file)));
  }
  digest.update(readFileSync(fileURLToPath(import.meta.resolve('js-yaml'))));
  return { folder, version: digest.digest('hex') };
}

function codeFiles(root: string): string[] {
  const found = readdirSync(root, { recursive: true, encoding: 'utf8' });
  return found.filter((file) => file.endsWith('.js')).sort();
}

/** Returns the name of the entry for a file of this path and content; the path is part of every place in it. */
export function entryName({ version }: AdmissionCache, file: string, hash: string): string {
  return createHash('sha256')
    .update(JSON.stringify([version, file, hash]))
    .digest('hex');
}

/** Returns the bytes of an entry; `undefined` when there is none that can be trusted. Never throws. */
export function readEntry({ folder }: AdmissionCache, name: string): Uint8Array | undefined {
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    const descriptor = openSync(join(folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const info = fstatSync(descriptor);
      // What another user could have written would be served as configuration.
      const isOurs = info.isFile() && info.uid === process.getuid?.() && (info.mode & 0o077) === 0;
      if (!isOurs || info.size > MAX_BYTES) return undefined;
      return contentOf(name, readFileSync(descriptor));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}

/**
 * Keeps an entry; whoever reads it sees all of it or nothing. Not synced: what a crash of the host destroys is parsed anew.
 * Throws when it cannot be written, and leaves nothing behind.
 */
export function writeEntry({ folder }: AdmissionCache, name: string, content: Uint8Array): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  const next = `${path}.${process.pid}`;
  try {
    writeFileSync(next, Buffer.concat([Buffer.from(MAGIC), digestOf(name, content), content]), { mode: 0o600 });
    renameSync(next, path);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  }
}

/** Returns whether an entry may be kept for a file: not if it holds a Secret, good or bad. */
export function isKeepable({ resources, refused, diagnostics }: AdmittedFile): boolean {
  if (resources.some(({ kind }) => kind === 'Secret') || refused.some(({ kind }) => kind === 'Secret')) return false;
  return !diagnostics.some(({ object }) => object.startsWith('Secret'));
}

/** Removes all entries but these, so that the folder holds no more than one configuration. Never rejects. */
export async function pruneEntries({ folder }: AdmissionCache, keep: ReadonlySet<string>): Promise<void> {
  try {
    for (const name of await readdir(folder)) {
      if (ENTRY.test(name) && !keep.has(name)) await rm(join(folder, name), { force: true });
    }
  } catch {
    // There is no folder, or none that can be read: nothing was kept there.
  }
}

function contentOf(name: string, bytes: Buffer): Uint8Array | undefined {
  const start = MAGIC.length + DIGEST_BYTES;
  if (bytes.length < start || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return undefined;
  const content = bytes.subarray(start);
  return digestOf(name, content).equals(bytes.subarray(MAGIC.length, start)) ? content : undefined;
}

/** The name belongs to it: an entry under another name is none. */
function digestOf(name: string, content: Uint8Array): Buffer {
  return createHash('sha256').update(name).update(content).digest();
}
