/**
 * TLS in front of a request or connection: which listener the server name chooses, and whether the request belongs there.
 */
import { assertDefined } from '../base/index.js';
import type { Ir, IrAction, IrSocket, IrTlsListener } from '../ir/ir.js';
import {
  chooseListener,
  type Decision,
  type ExplainedRequest,
  explainOnListener,
  type Loser,
  type Share,
  sharesOf,
} from './explain.js';
import { coversHost, foldHost } from './host-match.js';

/** Where a connection with TLS belongs. */
export type TlsDecision =
  | Decision
  /** The host belongs to another listener of the socket: 421, so that the client opens another connection. */
  | { readonly kind: 'misdirected'; readonly listener: string; readonly owner: string; readonly lost: readonly Loser[] }
  | StreamDecision;

/** Where a connection, or a flow of datagrams, belongs. */
export type StreamDecision =
  | {
      readonly kind: 'stream';
      readonly listener: string;
      /** `passthrough`, `terminate`: what becomes of TLS; `plain`: there is none, or it is not looked at. */
      readonly tls: 'passthrough' | 'terminate' | 'plain';
      /** Server name that matched; `''` any. */
      readonly hostname: string;
      readonly action: string;
      readonly actionIndex: number;
      readonly shares: readonly Share[];
      readonly lost: readonly Loser[];
    }
  /** The listener has no route for it. */
  | { readonly kind: 'noStream'; readonly listener: string; readonly lost: readonly Loser[] };

/**
 * Returns the decision for a request inside TLS with a server name (`''`: the client sends none).
 * The listener by server name must be the one by host: another owner means 421, none 404. Source: GatewayHTTPSListenerDetectMisdirectedRequests.
 */
export function explainTls(ir: Ir, socket: IrSocket, serverName: string, request: ExplainedRequest): TlsDecision {
  const lost: Loser[] = [];
  const listeners = socket.listeners.flatMap((index) => {
    const listener = assertDefined(ir.listeners[index], 'sockets name listeners');
    return listener.kind === 'http' || listener.kind === 'tls' ? [listener] : [];
  });
  const bySni = chooseListener(listeners, foldHost(serverName), 'server name', lost);
  if (bySni === undefined) return { kind: 'noListener', lost };
  if (bySni.kind === 'tls') return explainServerName(ir, bySni, foldHost(serverName), lost);
  // Whoever loses the host as well has lost by server name already, or is told as the owner.
  const owner = chooseListener(
    listeners.filter(({ kind }) => kind === 'http'),
    foldHost(request.host),
    'host',
    [],
  );
  if (owner === undefined) return { kind: 'noRoute', listener: bySni.name, lost };
  if (owner !== bySni) return { kind: 'misdirected', listener: bySni.name, owner: owner.name, lost };
  return explainOnListener(ir, bySni, request, lost);
}

/** Returns the decision for a connection or flow at a TCP or UDP socket. */
export function explainStream(ir: Ir, socket: IrSocket): StreamDecision {
  const listener = assertDefined(ir.listeners[socket.listeners[0] ?? -1], 'a stream socket has a listener');
  const action = listener.kind === 'tcp' || listener.kind === 'udp' ? listener.action : undefined;
  if (action === undefined) return { kind: 'noStream', listener: listener.name, lost: [] };
  return { ...toStream(ir, action), kind: 'stream', listener: listener.name, tls: 'plain', hostname: '', lost: [] };
}

function explainServerName(ir: Ir, listener: IrTlsListener, serverName: string, lost: Loser[]): StreamDecision {
  for (const { hostname, action } of listener.routes) {
    if (coversHost(hostname, serverName)) {
      const tls = listener.termination === undefined ? 'passthrough' : 'terminate';
      return { ...toStream(ir, action), kind: 'stream', listener: listener.name, tls, hostname, lost };
    }
    lost.push({
      kind: 'match',
      name: `${actionAt(ir, action).name} at ${hostname}`,
      why: 'it does not cover the server name',
    });
  }
  return { kind: 'noStream', listener: listener.name, lost };
}

function toStream(
  ir: Ir,
  index: number,
): Pick<Extract<StreamDecision, { kind: 'stream' }>, 'action' | 'actionIndex' | 'shares'> {
  const action = actionAt(ir, index);
  return { action: action.name, actionIndex: index, shares: sharesOf(ir, action) };
}

function actionAt(ir: Ir, index: number): IrAction {
  return assertDefined(ir.actions[index], 'listeners name actions');
}
