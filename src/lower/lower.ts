/**
 * Model → IR: attached routes become virtual hosts, rules become actions, references become indexes.
 * Ranks, and decides nothing else: what may serve at all was settled by `resolve/`.
 */
import { compareStrings } from '../base/index.js';
import type { Ir, IrListener, IrSocket } from '../ir/ir.js';
import type { Model, ServedListener } from '../model/model.js';
import { ActionBook } from './actions.js';
import { lowerVirtualHosts } from './virtual-hosts.js';

/**
 * Returns the IR of a model. Equal models give deeply equal IRs.
 * Cost: O(routes × hostnames + matches × log matches of one virtual host).
 */
export function lower(model: Model): Ir {
  const book = new ActionBook();
  const listeners = model.listeners.map((listener) => lowerListener(listener, book));
  return {
    settings: model.settings,
    sockets: lowerSockets(model.listeners),
    listeners,
    ...book.finish(),
  };
}

function lowerListener(listener: ServedListener, book: ActionBook): IrListener {
  const { name } = listener;
  const { timeouts, trustedProxies } = listener.settings;
  if (listener.kind === 'tcp') {
    return { kind: 'tcp', name, timeouts, action: listener.route && book.tcpAction(listener.route) };
  }
  const virtualHosts = lowerVirtualHosts(listener.attachments, book);
  return { kind: 'http', name, timeouts, hostname: listener.hostname, trustedProxies, virtualHosts };
}

function lowerSockets(listeners: readonly ServedListener[]): IrSocket[] {
  const sockets = new Map<string, IrSocket & { listeners: number[] }>();
  for (const [index, listener] of listeners.entries()) {
    for (const { key, ip, port } of listener.sockets) {
      const known = sockets.get(key);
      if (known === undefined) {
        sockets.set(key, { key, transport: 'tcp', ip, port, protocol: listener.kind, listeners: [index] });
      } else {
        known.listeners.push(index);
      }
    }
  }
  return [...sockets.values()].sort((a, b) => compareStrings(a.key, b.key));
}
