/**
 * IR → table bytes, endpoint sets and slot names: the last step of a configuration's way, and the only writer of tables.
 * Every table it returns passes `Table::parse` in Rust. Pure but for the slot book, which it advances.
 */
import type { Ir } from '../ir/ir.js';
import { type CompiledEndpointSet, compileEndpointSets, encodeActions } from './clusters.js';
import { CompileError } from './compile-error.js';
import { formatAddress } from './endpoint-address.js';
import { requireExpressible } from './expressible.js';
import { encodeHostEdges, indexHostNodes } from './host-trie.js';
import { encodeListeners, encodeSettings, encodeSockets } from './listeners.js';
import { encodePathSlots, indexPaths } from './path-index.js';
import { assemble, createSections, type HashParameters, type Sections } from './sections.js';
import type { SlotBook } from './slot-book.js';

export { CAPABILITIES } from './capabilities.js';
export type { CompiledEndpoint, CompiledEndpointSet } from './clusters.js';
export { CompileError } from './compile-error.js';
export { encodeEndpointSet } from './endpoint-set.js';
export { type RetiredId, SlotBook, type SlotBookState, type SlotKind } from './slot-book.js';
export { tableDigest } from './table-digest.js';

/** What one generation is to the data plane. Plain data: may be posted between threads, `table` transferred. */
export interface Compiled {
  readonly generation: number;
  readonly table: Uint8Array<ArrayBuffer>;
  /** Ids by `IrSocket.key`, in the order of the IR. */
  readonly sockets: readonly { readonly id: number; readonly key: string }[];
  readonly endpointSets: readonly CompiledEndpointSet[];
  readonly slots: SlotNames;
}

/** What each slot in use counts, for metrics and status. */
export interface SlotNames {
  readonly listeners: readonly { readonly slot: number; readonly name: string }[];
  readonly actions: readonly { readonly slot: number; readonly name: string }[];
  readonly endpoints: readonly { readonly slot: number; readonly cluster: string; readonly address: string }[];
}

/** Probes up to this are as good as any; beyond, another seed is tried. */
const GOOD_PROBE = 64;
const MOST_SEEDS = 4;

/**
 * Returns the table and all that goes with it. `book` hands out stable ids and is advanced: keys that `ir` no longer names
 * are retired in `generation`, which must grow from call to call.
 *
 * Cost: linear; about a second for 100,000 routes.
 * Throws `CompileError`: `WEIRGATE_TABLE_LIMIT` when the configuration is larger than the format or the id spaces,
 * `WEIRGATE_TABLE_BUG` when the IR contradicts itself or asks for more than `CAPABILITIES`.
 */
export function compile(ir: Ir, book: SlotBook, generation: number): Compiled {
  requireExpressible(ir);
  const sections = createSections();
  const endpointSets = compileEndpointSets(ir.clusters, book, generation);
  const listenerSlots = Uint32Array.from(ir.listeners, ({ name }) => book.claim('listener', name, generation));
  const actionSlots = Uint32Array.from(ir.actions, ({ name }) => book.claim('action', name, generation));
  const socketIds = ir.sockets.map(({ key }) => book.claim('socket', key, generation));
  book.retireUnclaimed(generation);
  checkDistinct(
    'socket',
    ir.sockets.map(({ key }) => key),
  );
  checkDistinct(
    'cluster',
    ir.clusters.map(({ key }) => key),
  );

  encodeSettings(sections, ir.settings);
  encodeActions(
    sections,
    ir.actions,
    actionSlots,
    Uint32Array.from(endpointSets, ({ id }) => id),
  );
  encodeListeners(sections, ir.listeners, listenerSlots);
  encodeSockets(sections, ir.sockets, ir.listeners, socketIds);
  const hash = encodeIndexes(sections);

  return {
    generation,
    table: assemble(sections, generation, hash),
    sockets: ir.sockets.map(({ key }, i) => ({ id: socketIds[i]!, key })),
    endpointSets,
    slots: {
      listeners: ir.listeners.map(({ name }, i) => ({ slot: listenerSlots[i]!, name })),
      actions: ir.actions.map(({ name }, i) => ({ slot: actionSlots[i]!, name })),
      endpoints: endpointSets.flatMap((set) =>
        set.endpoints.map(({ ip, port, slot }) => ({ slot, cluster: set.key, address: formatAddress(ip, port) })),
      ),
    },
  };
}

/** Tries hash seeds until no probe is long, so that no choice of names makes lookups slow. Deterministic. */
function encodeIndexes(sections: Sections): HashParameters {
  const trials = function* () {
    for (let seed = 0; seed < MOST_SEEDS; seed++) {
      yield { seed, hosts: indexHostNodes(sections, seed), paths: indexPaths(sections, seed) };
    }
  };
  let best: ReturnType<typeof trials> extends Generator<infer T> ? T | undefined : never;
  for (const trial of trials()) {
    const probe = Math.max(trial.hosts.probe, trial.paths.probe);
    if (best === undefined || probe < Math.max(best.hosts.probe, best.paths.probe)) best = trial;
    if (probe <= GOOD_PROBE) break;
  }
  if (best === undefined) throw new CompileError('bug', 'no hash seed was tried');
  encodeHostEdges(sections, best.hosts);
  encodePathSlots(sections, best.paths);
  return { seed: best.seed, hostProbe: best.hosts.probe, pathProbe: best.paths.probe };
}

function checkDistinct(kind: string, keys: readonly string[]): void {
  if (new Set(keys).size === keys.length) return;
  const twice = keys.find((key, i) => keys.indexOf(key) !== i);
  throw new CompileError('bug', `two ${kind}s have the key ${twice}`);
}
