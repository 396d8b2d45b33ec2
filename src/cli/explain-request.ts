/**
 * The report of `weirgate explain request`: which listener, route, rule and backend a request gets, and why the others lost. Pure.
 */
import { assertNever } from '../base/index.js';
import type { Loser, Share } from '../explain/explain.js';
import type { Answer } from '../explain/explain-url.js';
import { describeMatch } from '../explain/match.js';
import type { Ir, IrAction, IrFilter } from '../ir/ir.js';
import type { Painter } from './output.js';

/** `-o json` of `weirgate explain request`: fields are added, never given a second meaning. */
export interface RequestReport {
  readonly apiVersion: 'weirgate.dev/v1alpha1';
  readonly kind: 'RequestReport';
  readonly request: string;
  readonly answers: readonly ReportedAnswer[];
  /** Sockets that there are, when none of them is the one of the request: `tcp/[::]:443`. */
  readonly listening?: readonly string[];
}

export interface ReportedAnswer {
  /** `tcp/[::]:443`. */
  readonly socket: string;
  readonly outcome: Answer['decision']['kind'];
  /** What the client gets, as a sentence. */
  readonly result: string;
  readonly listener: string;
  /** `HTTPRoute/default/shop/0`; `''` without a route. */
  readonly action: string;
  /** The match in words; `''` without one. */
  readonly match: string;
  /** What happens on the way, in order. */
  readonly filters: readonly string[];
  readonly backends: readonly Share[];
  readonly lost: readonly Loser[];
}

/** Sockets that are listed where none fits. */
const MAX_SOCKETS = 16;

/** Returns the report on the answers to one question. */
export function buildRequestReport(ir: Ir, request: string, answers: readonly Answer[]): RequestReport {
  return {
    apiVersion: 'weirgate.dev/v1alpha1',
    kind: 'RequestReport',
    request,
    answers: answers.map((answer) => reportAnswer(ir, answer)),
    ...(answers.length === 0 && { listening: ir.sockets.map(({ key }) => key) }),
  };
}

/** Returns the report for people. Sockets with one and the same answer share a block. */
export function formatRequestReport({ request, answers, listening = [] }: RequestReport, paint: Painter): string {
  if (answers.length === 0) {
    const sockets = listening.length > MAX_SOCKETS ? [...listening.slice(0, MAX_SOCKETS), '…'] : listening;
    const known = sockets.length === 0 ? 'no listener is served' : `listeners have ${sockets.join(', ')}`;
    return `${paint('bold', request)}\n  nothing listens there: the connection is refused (${known})\n`;
  }
  const groups = new Map<string, { readonly sockets: string[]; readonly answer: ReportedAnswer }>();
  for (const answer of answers) {
    const key = JSON.stringify({ ...answer, socket: '' });
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { sockets: [answer.socket], answer });
    else group.sockets.push(answer.socket);
  }
  const blocks = [...groups.values()].map(({ sockets, answer }) => formatAnswer(sockets, answer, paint));
  return `${paint('bold', request)}\n${blocks.join('\n')}`;
}

function formatAnswer(sockets: readonly string[], answer: ReportedAnswer, paint: Painter): string {
  const { outcome, result, listener, action, match, filters, backends, lost } = answer;
  const isServed = outcome === 'action' || outcome === 'stream';
  const lines = [
    `  socket    ${sockets.join(', ')}`,
    ...(listener === '' ? [] : [`  listener  ${listener}`]),
    ...(action === '' ? [] : [`  route     ${action}`]),
    ...(match === '' ? [] : [`  match     ${match}`]),
    ...filters.map((filter) => `  filter    ${filter}`),
    ...backends.map(({ backend, share }) => `  backend   ${backend}  ${percent(share)}`),
    `  result    ${paint(isServed ? 'green' : 'yellow', result)}`,
    ...lost.map(({ kind, name, why }) => paint('dim', `  not       ${kind} ${name === '' ? '(any)' : name}: ${why}`)),
  ];
  return `${lines.join('\n')}\n`;
}

function reportAnswer(ir: Ir, { socket, decision }: Answer): ReportedAnswer {
  const base = {
    socket,
    outcome: decision.kind,
    listener: '',
    action: '',
    match: '',
    filters: [],
    backends: [],
    lost: [],
  };
  switch (decision.kind) {
    case 'mismatch':
      return { ...base, result: `nothing: the socket ${decision.why}` };
    case 'noListener':
      return {
        ...base,
        result: 'no listener serves this name: 404, with TLS the handshake is refused',
        lost: decision.lost,
      };
    case 'noRoute':
      return {
        ...base,
        result: '404: no route of the listener matches',
        listener: decision.listener,
        lost: decision.lost,
      };
    case 'misdirected': {
      const { listener, owner, lost } = decision;
      return {
        ...base,
        result: `421: the host belongs to listener ${owner}, the server name does not`,
        listener,
        lost,
      };
    }
    case 'noStream': {
      const { listener, lost } = decision;
      return { ...base, result: 'no route: the connection is closed, datagrams are dropped', listener, lost };
    }
    case 'stream':
    case 'action': {
      const { listener, action, actionIndex, shares, lost } = decision;
      const irAction = ir.actions[actionIndex];
      const match =
        decision.kind === 'action'
          ? describeMatch(decision.match)
          : `${decision.tls} ${decision.hostname || 'any name'}`;
      return {
        ...base,
        result: irAction === undefined ? '' : resultOf(irAction),
        listener,
        action,
        match,
        filters: (irAction?.filters ?? []).map((filter) => describeFilter(filter, ir)),
        backends: shares,
        lost,
      };
    }
    default:
      return assertNever(decision);
  }
}

function resultOf({ backends, filters, name }: IrAction): string {
  const redirect = filters.find((filter) => filter.kind === 'redirect');
  if (redirect !== undefined) return `${redirect.status}: redirect`;
  if (backends.length > 0) return 'forwarded';
  return /^(?:HTTP|GRPC)Route\//.test(name)
    ? '500: the rule has no backend that works'
    : 'closed: the rule has no backend';
}

function describeFilter({ kind, ...fields }: IrFilter, ir: Ir): string {
  const parts = Object.entries(fields)
    .filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) =>
      name === 'cluster' ? `to ${ir.clusters[value as number]?.key}` : `${name} ${JSON.stringify(value)}`,
    );
  return [kind, ...parts].join(' ');
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share === 1 ? 0 : 1)} %`;
}
