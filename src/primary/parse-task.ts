/**
 * Body of the `parse` pool's threads: one file's text in, what admission makes of it out, from the cache where it is known.
 * The result leaves as bytes and by transfer, so that it passes through the main thread without being looked at.
 */
import { setPriority } from 'node:os';
import { serialize } from 'node:v8';
import { type AdmittedFile, admitText } from '../admit/index.js';
import { type AdmissionCache, entryName, isKeepable, readEntry, writeEntry } from './admission-cache.js';
import { digestsOf } from './content-digest.js';
import { CONTROL_NICE } from './control-nice.js';
import { alone, transferring } from './transfer.js';

export interface ParseTask {
  readonly file: string;
  readonly text: string;
  /** Of the text. */
  readonly hash: string;
  readonly cache: AdmissionCache;
}

/** What leaves for the build thread, and what the cache holds. */
export interface AdmittedBytes {
  readonly file: AdmittedFile;
  /** See `digestsOf`. */
  readonly digests: readonly string[];
}

/** What came of a file. */
export interface Parsed {
  /** `AdmittedBytes`, serialised. */
  readonly admitted: Uint8Array;
  /** Why it could not be kept; `undefined`: it was, or should not be. */
  readonly cacheFault: string | undefined;
}

setPriority(0, CONTROL_NICE);

/** Returns a `Parsed`. */
export default function parse(task: ParseTask): unknown {
  const name = entryName(task.cache, task.file, task.hash);
  const known = readEntry(task.cache, name);
  const { admitted, cacheFault } = known === undefined ? admit(task, name) : { admitted: known, cacheFault: undefined };
  const bytes = alone(admitted);
  return transferring({ admitted: bytes, cacheFault } satisfies Parsed, bytes);
}

function admit({ file, text, cache }: ParseTask, name: string): Parsed {
  const result = admitText(file, text);
  const admitted = serialize({ file: result, digests: digestsOf(result) } satisfies AdmittedBytes);
  try {
    if (isKeepable(result)) writeEntry(cache, name, admitted);
    return { admitted, cacheFault: undefined };
  } catch (error) {
    return { admitted, cacheFault: (error as Error).message };
  }
}
