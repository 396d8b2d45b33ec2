/**
 * What one resolution hands to the next, so that a change costs what it concerns: of 100,000 routes all but one are as they were.
 * Never changes a result. What is taken over was made from the very same objects, and is compared with everything else that it depends on.
 */
import type { Gateway, GRPCRoute, HTTPRoute, ListenerSet, Resource } from '../gateway-api/index.js';
import type { Capabilities } from '../model/capabilities.js';
import type { HttpAttachment, Route } from '../model/model.js';
import type { Question, ResolvedBackend } from './backend-refs.js';
import type { ListenerDraft } from './drafts.js';
import type { Inventory } from './inventory.js';

/** What became of a route about which there was nothing to say. */
export interface RouteTrace {
  readonly route: Route;
  /** The Gateways and ListenerSets that it names, with as many listeners as they had. */
  readonly parents: readonly { readonly resource: Gateway | ListenerSet; readonly listeners: number }[];
  readonly attachments: readonly PlacedAttachment[];
  /** The backends that it names, and what they were. */
  readonly answers: readonly { readonly question: Question; readonly backend: ResolvedBackend }[];
  /** Those that get traffic. */
  readonly used: readonly ResolvedBackend[];
}

/** An attachment by the index of the parent in the trace, and of the listener in the parent. */
export interface PlacedAttachment {
  readonly parent: number;
  readonly listener: number;
  readonly attachment: HttpAttachment;
}

/** Objects that any route may depend on without naming them, of kinds that change rarely. */
interface Surroundings {
  readonly capabilities: Capabilities;
  readonly namespaces: readonly Resource[];
  readonly grants: readonly Resource[];
}

/** The mutable memory of one caller of `resolve`; it belongs to one thread. */
export class ResolveMemo {
  #surroundings: Surroundings | undefined;
  #traces = new WeakMap<Resource, RouteTrace>();
  readonly #parents = new WeakMap<Resource, RouteTrace['parents']>();
  #backends: ReadonlyMap<string, ResolvedBackend> = new Map();
  #attachments: ReadonlyMap<string, readonly HttpAttachment[]> = new Map();
  #clear = new WeakSet<readonly HttpAttachment[]>();

  /** Begins a resolution. Forgets all routes when what surrounds them is another than the last time. */
  begin(inventory: Inventory, capabilities: Capabilities): void {
    const before = this.#surroundings;
    const now = {
      capabilities,
      namespaces: [...inventory.all('Namespace')],
      grants: [...inventory.all('ReferenceGrant')],
    };
    const isSame =
      before?.capabilities === capabilities &&
      isSameList(before.namespaces, now.namespaces) &&
      isSameList(before.grants, now.grants);
    if (!isSame) this.#traces = new WeakMap();
    this.#surroundings = now;
  }

  /** Returns what became of this very object the last time; it may depend on what has changed. */
  trace(route: HTTPRoute | GRPCRoute): RouteTrace | undefined {
    return this.#traces.get(route);
  }

  /** Returns a parent as traces name it; those with the same one share it. */
  parent(resource: Gateway | ListenerSet, listeners: number): RouteTrace['parents'] {
    let known = this.#parents.get(resource);
    if (known?.[0]?.listeners !== listeners) {
      known = [{ resource, listeners }];
      this.#parents.set(resource, known);
    }
    return known;
  }

  /** Notes what became of a route; `undefined`: nothing that can be taken over. */
  note(route: HTTPRoute | GRPCRoute, trace: RouteTrace | undefined): void {
    if (trace === undefined) this.#traces.delete(route);
    else this.#traces.set(route, trace);
  }

  /** Returns the backend of this key of the last time, whatever it was. */
  backend(key: string): ResolvedBackend | undefined {
    return this.#backends.get(key);
  }

  /** Notes all backends of this resolution. */
  keepBackends(backends: ReadonlyMap<string, ResolvedBackend>): void {
    this.#backends = backends;
  }

  /** Gives listeners that hold the attachments of the last time the very same list, by which others know it. */
  settle(listeners: readonly ListenerDraft[]): void {
    const attachments = new Map<string, readonly HttpAttachment[]>();
    for (const listener of listeners) {
      const before = this.#attachments.get(listener.name);
      if (before !== undefined && isSameList(before, listener.httpAttachments)) listener.httpAttachments = before;
      attachments.set(listener.name, listener.httpAttachments);
    }
    this.#attachments = attachments;
  }

  /** Returns whether nothing is hidden among these attachments, as `noteClear` said before. */
  isClear(attachments: readonly HttpAttachment[]): boolean {
    return this.#clear.has(attachments);
  }

  /** Notes that among these attachments no match hides another. */
  noteClear(attachments: readonly HttpAttachment[]): void {
    this.#clear.add(attachments);
  }
}

function isSameList<T>(a: readonly T[], b: readonly T[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
