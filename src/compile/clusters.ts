/**
 * Actions with their weighted backends, and clusters as endpoint sets. The table names sets by id only: addresses and
 * health live in shared memory (`endpoint-set.ts` encodes them), so that endpoint churn never rebuilds a table.
 */
import type { IrAction, IrBackend, IrCluster, IrHealthCheck } from '../ir/ir.js';
import {
  ACTION_RECORD,
  BACKEND_CLUSTER,
  BACKEND_INVALID,
  BACKEND_RECORD,
  MAX_ENDPOINTS,
  MAX_SEQUENCE,
  SEQUENCE_ENTRY,
} from '../native/layout.gen.js';
import { CompileError } from './compile-error.js';
import { formatAddress } from './endpoint-address.js';
import type { Sections } from './sections.js';
import { interleave, reduce } from './sequence.js';
import type { SlotBook } from './slot-book.js';

/** An endpoint set: what `encodeEndpointSet` and the health checker need; plain data. */
export interface CompiledEndpointSet {
  /** Id in the directory of the endpoint region. */
  readonly id: number;
  /** Key of the cluster: `Service/default/web:8080`. */
  readonly key: string;
  /** Cursor slot. */
  readonly slot: number;
  readonly endpoints: readonly CompiledEndpoint[];
  /** undefined: passive only. */
  readonly healthCheck: IrHealthCheck | undefined;
}

/** One address of a set. */
export interface CompiledEndpoint {
  readonly ip: string;
  readonly port: number;
  readonly weight: number;
  /** Counter, gauge and resting slot; one for each (set, address). */
  readonly slot: number;
}

/** Returns the endpoint sets with their ids. Throws `CompileError` (limit) for a set of more than `MAX_ENDPOINTS`. */
export function compileEndpointSets(
  clusters: readonly IrCluster[],
  book: SlotBook,
  generation: number,
): CompiledEndpointSet[] {
  return clusters.map((cluster) => {
    if (cluster.endpoints.length > MAX_ENDPOINTS) {
      const count = cluster.endpoints.length;
      throw new CompileError('limit', `${cluster.key} has ${count} endpoints, at most ${MAX_ENDPOINTS} are possible`);
    }
    return {
      id: book.claim('set', cluster.key, generation),
      key: cluster.key,
      slot: book.claim('cursor', cluster.key, generation),
      endpoints: cluster.endpoints.map(({ ip, port, weight }) => ({
        ip,
        port,
        weight,
        slot: book.claim('endpoint', `${cluster.key} ${formatAddress(ip, port)}`, generation),
      })),
      healthCheck: cluster.healthCheck,
    };
  });
}

/** Appends the actions with backends and sequences; `slots` and `setIds` by index of the IR. */
export function encodeActions(
  sections: Sections,
  irActions: readonly IrAction[],
  slots: Uint32Array,
  setIds: Uint32Array,
): void {
  const { actions, backends, strings } = sections;
  const sequences = new SequencePool(sections);
  irActions.forEach((action, i) => {
    const at = actions.record();
    const [first, count] = sequences.add(action.backends.map((backend) => backend.weight));
    actions.u32(at + ACTION_RECORD.slot, slots[i]!);
    actions.u32(at + ACTION_RECORD.requestTimeoutMs, action.requestTimeoutMs);
    actions.u32(at + ACTION_RECORD.backendRequestTimeoutMs, action.backendRequestTimeoutMs);
    actions.u32(at + ACTION_RECORD.backendFirst, backends.count);
    actions.u32(at + ACTION_RECORD.backendCount, action.backends.length);
    actions.u32(at + ACTION_RECORD.sequenceFirst, first);
    actions.u32(at + ACTION_RECORD.sequenceCount, count);
    actions.text(at + ACTION_RECORD.nameOffset, strings, action.name);
    let cumulative = 0;
    for (const backend of action.backends) {
      cumulative += backend.weight;
      if (backend.weight < 1 || cumulative > 0xffff_ffff) {
        throw new CompileError('bug', `${action.name}: weight ${backend.weight} cannot be encoded`);
      }
      encodeBackend(sections, backend, cumulative, setIds);
    }
  });
}

function encodeBackend(sections: Sections, backend: IrBackend, cumulative: number, setIds: Uint32Array): void {
  const { backends } = sections;
  const at = backends.record();
  const isCluster = backend.kind === 'cluster';
  backends.u32(at + BACKEND_RECORD.kind, isCluster ? BACKEND_CLUSTER : BACKEND_INVALID);
  backends.u32(at + BACKEND_RECORD.value, isCluster ? setIds[backend.cluster]! : backend.status);
  backends.u32(at + BACKEND_RECORD.weight, backend.weight);
  backends.u32(at + BACKEND_RECORD.cumulative, cumulative);
}

/** Sequences of actions; equal weights share one run. */
class SequencePool {
  readonly #sections: Sections;
  readonly #known = new Map<string, readonly [number, number]>();

  constructor(sections: Sections) {
    this.#sections = sections;
  }

  /** Returns first entry and length; no run for a single backend, nor for weights finer than `MAX_SEQUENCE` steps. */
  add(weights: readonly number[]): readonly [first: number, count: number] {
    if (weights.length < 2) return [0, 0];
    const reduced = reduce(weights);
    if (reduced.reduce((sum, weight) => sum + weight, 0) > MAX_SEQUENCE) return [0, 0];
    const key = reduced.join(' ');
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const { sequences } = this.#sections;
    const steps = interleave(reduced, MAX_SEQUENCE);
    const run = [sequences.count, steps.length] as const;
    for (const backend of steps) sequences.u16(sequences.record() + SEQUENCE_ENTRY.backend, backend);
    this.#known.set(key, run);
    return run;
  }
}
