/**
 * Body of the `build` pool's only thread: holds the `BuildState` and runs one function of it at a time.
 * What leaves is small, or bytes by transfer. The addon is never loaded here.
 */
import { setPriority } from 'node:os';
import { deserialize } from 'node:v8';
import { threadId } from 'node:worker_threads';
import { type BuildFile, type BuildReply, type BuildRequest, BuildState } from './build-state.js';
import { adoptDigests } from './content-digest.js';
import { CONTROL_NICE } from './control-nice.js';
import { Interner } from './intern.js';
import type { ObjectPage, PageRequest } from './object-list.js';
import type { AdmittedBytes } from './parse-task.js';
import { alone, transferring } from './transfer.js';

/** A `BuildRequest` as it travels: admitted files as the parse pool serialised them. */
export interface BuildTask extends Omit<BuildRequest, 'files'> {
  readonly files: readonly { readonly file: string; readonly hash: string; readonly admitted?: Uint8Array }[];
}

const state = new BuildState();
setPriority(0, CONTROL_NICE);

/** Returns the number of this thread: another number than before means that all state is gone. */
export function identify(): number {
  return threadId;
}

/** Starts with an earlier thread's slot book (JSON). */
export function seed(book: Uint8Array): void {
  state.seed(new TextDecoder().decode(book));
}

/** Returns a `BuildReply`, its table by transfer. See `BuildState.build`. */
export function build(task: BuildTask): unknown {
  const interner = new Interner();
  const files = task.files.map(({ file, hash, admitted }): BuildFile => {
    if (admitted === undefined) return { file, hash };
    const { file: copy, digests } = deserialize(admitted) as AdmittedBytes;
    adoptDigests(copy, digests);
    return { file, hash, admitted: interner.share(copy) };
  });
  const reply = state.build({ ...task, files });
  const table = reply.built?.table;
  if (reply.built === undefined || table === undefined) return reply;
  const bytes = alone(table);
  return transferring({ ...reply, built: { ...reply.built, table: bytes } } satisfies BuildReply, bytes);
}

/** See `BuildState.commit`. */
export function commit(): void {
  state.commit();
}

/** See `BuildState.revise`. */
export function revise(): void {
  state.revise();
}

/** See `BuildState.discard`. */
export function discard(): void {
  state.discard();
}

/** See `BuildState.abandon`. */
export function abandon(): void {
  state.abandon();
}

/** Returns the IR that serves as JSON, UTF-8 (`Uint8Array`); `null` before the first generation. See `BuildState.ir`. */
export function ir(): unknown {
  const bytes = alone(new TextEncoder().encode(JSON.stringify(state.ir() ?? null)));
  return transferring(bytes, bytes);
}

/** An `ObjectPage` as it travels: its items as UTF-8. */
export interface PageReply extends Omit<ObjectPage, 'items'> {
  readonly items: Uint8Array;
}

/** Returns a `PageReply`. See `BuildState.page`. */
export function page(request: PageRequest): unknown {
  const found = state.page(request);
  const items = alone(new TextEncoder().encode(found.items));
  return transferring({ ...found, items } satisfies PageReply, items);
}

/** See `BuildState.restore`. */
export function restore(ledger: Uint8Array): string | undefined {
  return state.restore(ledger);
}

/** Returns bytes or undefined. See `BuildState.ledger`. */
export function ledger(again: boolean): unknown {
  const bytes = state.ledger(again);
  if (bytes === undefined) return undefined;
  const own = alone(bytes);
  return transferring(own, own);
}
