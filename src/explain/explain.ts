/**
 * The slow, obvious judge of the IR: request → decision, and why every other candidate lost.
 * It is `weirgate explain` for people and the oracle of the tests: the native matcher must agree with it on every request.
 */
import { assertDefined } from '../base/index.js';
import type { Ir, IrAction, IrHttpListener, IrMatch, IrSocket, IrVirtualHost } from '../ir/ir.js';
import { coversHost, foldHost, specificity } from './host-match.js';
import { compareMatches, describeMatch, whyNot } from './match.js';

/** What of a request decides its route. */
export interface ExplainedRequest {
  /** As received. */
  readonly method: string;
  /** Without port; any case; `''` when the request names none. */
  readonly host: string;
  /** As received, without query. */
  readonly path: string;
  /** As received, without the question mark; `''` without one. */
  readonly query: string;
  /** Fields in order; names in any case. The first of a name counts. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Where a request belongs. Indexes refer to the IR. */
export type Decision =
  | { readonly kind: 'noListener'; readonly lost: readonly Loser[] }
  | { readonly kind: 'noRoute'; readonly listener: string; readonly lost: readonly Loser[] }
  | {
      readonly kind: 'action';
      readonly listener: string;
      /** Hostname of the virtual host that matched. */
      readonly virtualHost: string;
      readonly match: IrMatch;
      readonly action: string;
      readonly actionIndex: number;
      readonly shares: readonly Share[];
      readonly lost: readonly Loser[];
    };

/** A candidate that was not taken, and why. */
export interface Loser {
  readonly kind: 'listener' | 'virtualHost' | 'match';
  /** Listener name, hostname, or a match in words. */
  readonly name: string;
  readonly why: string;
}

/** Part of the traffic of an action. */
export interface Share {
  /** Cluster key, or `invalid reference (500)`. */
  readonly backend: string;
  /** 0..1. */
  readonly share: number;
}

/** Returns the decision for a request in clear text at a socket. Cost: linear in everything. */
export function explainRequest(ir: Ir, socket: IrSocket, request: ExplainedRequest): Decision {
  const lost: Loser[] = [];
  const listener = chooseListener(httpListeners(ir, socket, lost), foldHost(request.host), 'host', lost);
  return listener === undefined ? { kind: 'noListener', lost } : explainOnListener(ir, listener, request, lost);
}

/** Returns the decision for a request that has come to a listener; `lost` is what was left behind on the way and grows. */
export function explainOnListener(
  ir: Ir,
  listener: IrHttpListener,
  request: ExplainedRequest,
  lost: Loser[],
): Extract<Decision, { kind: 'noRoute' | 'action' }> {
  for (const virtualHost of rankVirtualHosts(listener, foldHost(request.host), lost)) {
    const match = chooseMatch(ir, virtualHost, request, lost);
    if (match === undefined) continue;
    const action = assertDefined(ir.actions[match.action], 'every match has an action');
    return {
      kind: 'action',
      listener: listener.name,
      virtualHost: virtualHost.hostname,
      match,
      action: action.name,
      actionIndex: match.action,
      shares: sharesOf(ir, action),
      lost,
    };
  }
  return { kind: 'noRoute', listener: listener.name, lost };
}

/** Returns the share of each backend of an action, in its order. */
export function sharesOf(ir: Ir, action: IrAction): Share[] {
  const total = action.backends.reduce((sum, backend) => sum + backend.weight, 0);
  return action.backends.map((backend) => ({
    backend:
      backend.kind === 'cluster'
        ? assertDefined(ir.clusters[backend.cluster], 'backends name clusters').key
        : `invalid reference (${backend.status})`,
    share: backend.weight / total,
  }));
}

/** Returns the one of the listeners that serves a folded name: the most specific that covers it. `what` names it for people. */
export function chooseListener<L extends { readonly name: string; readonly hostname: string }>(
  listeners: readonly L[],
  name: string,
  what: 'host' | 'server name',
  lost: Loser[],
): L | undefined {
  const covering: L[] = [];
  for (const listener of listeners) {
    if (coversHost(listener.hostname, name)) covering.push(listener);
    else {
      const why = `its hostname ${listener.hostname} does not cover the ${what}`;
      lost.push({ kind: 'listener', name: listener.name, why });
    }
  }
  const [winner, ...others] = covering.toSorted((a, b) => specificity(b.hostname) - specificity(a.hostname));
  for (const other of others) {
    lost.push({
      kind: 'listener',
      name: other.name,
      why: `${nameOf(winner?.hostname ?? '')} is more specific, and only one listener serves a ${what}`,
    });
  }
  return winner;
}

function httpListeners(ir: Ir, socket: IrSocket, lost: Loser[]): IrHttpListener[] {
  return socket.listeners.flatMap((index) => {
    const listener = assertDefined(ir.listeners[index], 'sockets name listeners');
    if (listener.kind === 'http') return [listener];
    lost.push({ kind: 'listener', name: listener.name, why: `it speaks ${listener.kind.toUpperCase()}` });
    return [];
  });
}

function rankVirtualHosts(listener: IrHttpListener, host: string, lost: Loser[]): IrVirtualHost[] {
  const covering: IrVirtualHost[] = [];
  for (const virtualHost of listener.virtualHosts) {
    const { hostname } = virtualHost;
    if (coversHost(hostname, host)) covering.push(virtualHost);
    else lost.push({ kind: 'virtualHost', name: hostname, why: 'it does not cover the host' });
  }
  return covering.toSorted((a, b) => specificity(b.hostname) - specificity(a.hostname));
}

function chooseMatch(ir: Ir, host: IrVirtualHost, request: ExplainedRequest, lost: Loser[]): IrMatch | undefined {
  const fitting: IrMatch[] = [];
  for (const match of host.matches) {
    const why = whyNot(match, request);
    if (why === undefined) fitting.push(match);
    else lost.push({ kind: 'match', name: nameMatch(ir, host, match), why });
  }
  // Within equal ranks the order of the IR stands, and toSorted is stable.
  const [winner, ...others] = fitting.toSorted(compareMatches);
  if (winner === undefined) return undefined;
  for (const match of others) {
    const isLater = compareMatches(winner, match) === 0;
    const why = isLater
      ? 'it comes later in the order of precedence'
      : `${winner.grpc ? 'gRPC' : winner.path.type} ${winner.path.value} is more specific`;
    lost.push({ kind: 'match', name: nameMatch(ir, host, match), why });
  }
  return winner;
}

function nameMatch(ir: Ir, host: IrVirtualHost, match: IrMatch): string {
  return `${ir.actions[match.action]?.name} at ${nameOf(host.hostname)}: ${describeMatch(match)}`;
}

function nameOf(hostname: string): string {
  return hostname === '' ? 'any host' : hostname;
}
