/**
 * What travels over the admin socket: the shapes of its JSON answers. Plain data. Stable for tools: fields are added,
 * never given a second meaning. Serves `primary/admin.ts`, which answers, and `cli/`, which asks.
 */
import type { Diagnostic } from '../base/index.js';

/** `metadata.weirgate` of `GET /objects`, and the whole of `GET /overview`. */
export interface Overview {
  readonly version: string;
  readonly layoutHash: string;
  readonly pid: number;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly uptimeSeconds: number;
  readonly phase: 'starting' | 'serving' | 'stopping';
  /** The generation that serves; 0: none yet. */
  readonly generation: number;
  readonly sources: readonly string[];
  readonly reload: LastReload;
  readonly workers: OverviewWorkers;
  readonly sockets: readonly OverviewSocket[];
  /** Objects by kind. */
  readonly objects: Readonly<Record<string, number>>;
  readonly endpoints: OverviewEndpoints;
  /** Conditions that are not as they should be, at most `MAX_FAULTS` of them; `faultCount` counts all. */
  readonly faults: readonly Fault[];
  readonly faultCount: number;
}

export const MAX_FAULTS = 200;

export interface LastReload {
  readonly outcome: 'none' | 'programmed' | 'unchanged' | 'refused';
  /** RFC 3339; `''` before the first. */
  readonly at: string;
  /** RFC 3339 of the last one that was not refused. */
  readonly succeededAt: string;
  readonly message: string;
  /** Of the files as last read: the first 200, errors before warnings. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface OverviewWorkers {
  readonly wanted: number;
  readonly restarts: number;
  readonly list: readonly OverviewWorker[];
}

export interface OverviewWorker {
  readonly id: number;
  readonly pid: number;
  readonly phase: 'starting' | 'spare' | 'serving' | 'leaving' | 'fenced';
  /** The generation that new requests see; 0: none yet. */
  readonly generation: number;
  readonly connections: number;
  readonly requestsInFlight: number;
  readonly accepts: number;
  readonly paused: boolean;
  /** Age of the last sign of life of its loop; -1 without one. */
  readonly heartbeatAgeMs: number;
}

export interface OverviewSocket {
  /** `tcp/127.0.0.1:8080`. */
  readonly key: string;
  readonly members: number;
}

export interface OverviewEndpoints {
  readonly total: number;
  readonly unusable: readonly OverviewEndpoint[];
}

export interface OverviewEndpoint {
  readonly cluster: string;
  /** `127.0.0.1:9001`, `[::1]:9001`. */
  readonly address: string;
  /** What the last check found. */
  readonly detail: string;
}

/** A condition that is not as it should be. */
export interface Fault {
  /** `Gateway default/edge`. */
  readonly object: string;
  /** Where in the status: `listener http`, `parent default/edge`; `''`: the object itself. */
  readonly part: string;
  readonly condition: string;
  readonly reason: string;
  readonly message: string;
}

/** Answer of `POST /reload`: at once without `wait=1`, else when it is settled. */
export interface ReloadAnswer {
  readonly outcome: 'requested' | 'programmed' | 'unchanged' | 'refused';
  readonly generation: number;
  readonly changes: readonly { readonly object: string; readonly change: 'added' | 'changed' | 'removed' }[];
  readonly diagnostics: readonly Diagnostic[];
  readonly message: string;
  readonly durationMs: number;
}

/** One object of `GET /objects`, as far as every kind has it. */
export interface ListedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly creationTimestamp?: string;
    /** Of kinds whose generation is counted: grows with each change of the spec, also over restarts. */
    readonly generation?: number;
  };
  readonly spec?: unknown;
  readonly status?: unknown;
}

/**
 * Answer of `GET /objects?kind=&namespace=&name=&limit=&continue=`: all objects that match, or with `limit` so many.
 * They come in pages as they are now: a reload between two pages shows in the second.
 */
export interface ObjectList {
  readonly apiVersion: 'v1';
  readonly kind: 'List';
  readonly metadata: {
    readonly weirgate: Overview;
    /** There are more: ask again with this value. */
    readonly continue?: string;
    /** Conditions of these objects that are not as they should be, at most `MAX_FAULTS`; `faultCount` counts all. */
    readonly faults: readonly Fault[];
    readonly faultCount: number;
  };
  readonly items: readonly ListedObject[];
}
