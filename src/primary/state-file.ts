/**
 * A file of the state folder: read once, replaced as a whole, never left in part. Serves `state-keeper.ts`.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** As the folder: the owner writes, the service's group may look. */
const MODE = 0o640;
/** What is larger was not written by us: a million objects take 100 MB. */
const MAX_BYTES = 512 * 1024 * 1024;

/** Returns the content of the file; `undefined` when there is none. Rejects when it cannot be read. */
export async function readStateFile(path: string): Promise<Uint8Array | undefined> {
  let handle: FileHandle;
  try {
    // A pipe of that name must not hold up the start.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const info = await handle.stat();
    if (!info.isFile()) throw new Error('it is no regular file');
    const { size } = info;
    if (size > MAX_BYTES) throw new Error(`it has ${size} bytes, at most ${MAX_BYTES} can be right`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/**
 * Replaces the file. Whoever reads it, after a crash of the host as well, sees the old content or the new one. Rejects when
 * it cannot be written, for instance because the disk is full; then the old content is there still.
 */
export async function writeStateFile(path: string, content: Uint8Array): Promise<void> {
  const next = `${path}.next`;
  try {
    // What a crash left there may have another mode.
    await rm(next, { force: true });
    const handle = await open(next, 'wx', MODE);
    try {
      await handle.writeFile(content);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await rename(next, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(next, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Without it the new name may be lost with the host, though not the old content. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
