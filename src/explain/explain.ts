/**
 * The slow, obvious judge of the IR: request → decision, and why every other candidate lost.
 * It is `weirgate explain` for people and the oracle of the tests: the native matcher must agree with it on every request.
 */
import type { Ir, IrAction, IrHttpListener, IrMatch, IrSocket, IrVirtualHost } from '../ir/ir.js';
import { coversHost, foldHost, specificity } from './host-match.js';
import { fitsPath, pathRank } from './path-match.js';

/** What of a request decides its route. */
export interface ExplainedRequest {
  /** As received. */
  readonly method: string;
  /** Without port; any case; `''` when the request names none. */
  readonly host: string;
  /** As received, without query. */
  readonly path: string;
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

/** Returns the decision for an HTTP request at a socket. Cost: linear in everything. */
export function explainRequest(ir: Ir, socket: IrSocket, request: ExplainedRequest): Decision {
  const lost: Loser[] = [];
  const listener = chooseListener(ir, socket, foldHost(request.host), lost);
  if (listener === undefined) return { kind: 'noListener', lost };
  for (const virtualHost of rankVirtualHosts(listener, foldHost(request.host), lost)) {
    const match = chooseMatch(ir, virtualHost, request, lost);
    if (match === undefined) continue;
    const action = ir.actions[match.action]!;
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
    backend: backend.kind === 'cluster' ? ir.clusters[backend.cluster]!.key : `invalid reference (${backend.status})`,
    share: backend.weight / total,
  }));
}

/** Returns a match in words: `GET exact /a, header x=1`. */
export function describeMatch(match: IrMatch): string {
  const headers = match.headers.map(({ name, value }) => `, header ${name}=${value}`).join('');
  return `${match.method ?? 'any method'} ${match.path.type} ${match.path.value}${headers}`;
}

function chooseListener(ir: Ir, socket: IrSocket, host: string, lost: Loser[]): IrHttpListener | undefined {
  const covering: IrHttpListener[] = [];
  for (const index of socket.listeners) {
    const listener = ir.listeners[index]!;
    if (listener.kind !== 'http') lost.push({ kind: 'listener', name: listener.name, why: 'it speaks TCP' });
    else if (coversHost(listener.hostname, host)) covering.push(listener);
    else
      lost.push({
        kind: 'listener',
        name: listener.name,
        why: `its hostname ${listener.hostname} does not cover the host`,
      });
  }
  const [winner, ...others] = covering.toSorted((a, b) => specificity(b.hostname) - specificity(a.hostname));
  for (const { name } of others) {
    lost.push({
      kind: 'listener',
      name,
      why: `${nameOf(winner!.hostname)} is more specific, and only one listener serves a host`,
    });
  }
  return winner;
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
  // Within equal paths the order of the IR stands, and toSorted is stable.
  const [winner, ...others] = fitting.toSorted((a, b) => compareRanks(pathRank(b.path), pathRank(a.path)));
  for (const match of others) {
    const isLater = pathRank(match.path) === pathRank(winner!.path);
    const why = isLater
      ? 'it comes later in the order of precedence'
      : `${winner!.path.type} ${winner!.path.value} is more specific`;
    lost.push({ kind: 'match', name: nameMatch(ir, host, match), why });
  }
  return winner;
}

function compareRanks(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Why a match does not fit a request, in words; `undefined` when it does. */
function whyNot(match: IrMatch, request: ExplainedRequest): string | undefined {
  if (!fitsPath(match.path, request.path)) return `the path is ${request.path}`;
  if (match.method !== undefined && match.method !== request.method) return `the method is ${request.method}`;
  for (const { name, value } of match.headers) {
    const sent = request.headers.find(([field]) => field.toLowerCase() === name)?.[1];
    if (sent === undefined) return `the request has no header ${name}`;
    if (sent !== value) return `the header ${name} is ${sent}`;
  }
  return undefined;
}

function nameMatch(ir: Ir, host: IrVirtualHost, match: IrMatch): string {
  return `${ir.actions[match.action]!.name} at ${nameOf(host.hostname)}: ${describeMatch(match)}`;
}

function nameOf(hostname: string): string {
  return hostname === '' ? 'any host' : hostname;
}
