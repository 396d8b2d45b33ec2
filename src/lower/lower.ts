/**
 * Model → IR: attached routes become virtual hosts, rules become actions, references become indexes.
 * Ranks, and decides nothing else: what may serve at all was settled by `resolve/`.
 */
import { assertNever, compareStrings } from '../base/index.js';
import type { Ir, IrListener, IrSocket, IrTermination } from '../ir/ir.js';
import type { Certificate, Model, ServedListener, TlsTermination } from '../model/model.js';
import { ActionBook } from './actions.js';
import { LowerMemo } from './memo.js';
import { lowerServerNames } from './server-names.js';
import { lowerVirtualHosts } from './virtual-hosts.js';

/**
 * Returns the IR of a model. Equal models give deeply equal IRs, whatever `memo` remembers of others.
 * Cost: O(routes × hostnames + matches × log matches of one virtual host); of listeners with the very attachments of the last time, O(rules).
 */
export function lower(model: Model, memo: LowerMemo = new LowerMemo()): Ir {
  const book = new ActionBook(model.listeners.flatMap(certificatesOf), memo);
  const listeners = model.listeners.map((listener) => lowerListener(listener, book, memo));
  return {
    settings: model.settings,
    sockets: lowerSockets(model.listeners),
    listeners,
    ...book.finish(),
  };
}

function certificatesOf(listener: ServedListener): Certificate[] {
  const termination = terminationOf(listener);
  const certificates = [...(termination?.certificates ?? [])];
  if (listener.clientCertificate !== undefined) certificates.push(listener.clientCertificate);
  return certificates;
}

function terminationOf(listener: ServedListener): TlsTermination | undefined {
  if (listener.kind === 'http') return listener.tls;
  return listener.kind === 'tls' ? listener.termination : undefined;
}

function lowerListener(listener: ServedListener, book: ActionBook, memo: LowerMemo): IrListener {
  const { timeouts, trustedProxies } = listener.settings;
  const clientCertificate = listener.clientCertificate && book.certificate(listener.clientCertificate);
  const base = { name: listener.name, timeouts, clientCertificate };
  const { kind } = listener;
  switch (kind) {
    case 'tcp':
    case 'udp':
      return { ...base, kind, action: listener.route && book.streamAction(listener.route) };
    case 'tls': {
      const termination = lowerTermination(listener.termination, book);
      return { ...base, kind, hostname: listener.hostname, termination, routes: lowerServerNames(listener, book) };
    }
    case 'http': {
      const { hostname, port } = listener;
      const tls = lowerTermination(listener.tls, book);
      const virtualHosts = lowerVirtualHosts(listener.attachments, book, memo);
      return { ...base, kind, hostname, port, tls, trustedProxies, virtualHosts };
    }
    default:
      return assertNever(kind);
  }
}

function lowerTermination(termination: TlsTermination | undefined, book: ActionBook): IrTermination | undefined {
  return termination && { ...termination, certificates: termination.certificates.map((one) => book.certificate(one)) };
}

function lowerSockets(listeners: readonly ServedListener[]): IrSocket[] {
  const sockets = new Map<string, IrSocket & { listeners: number[] }>();
  for (const [index, listener] of listeners.entries()) {
    const protocol = listener.kind === 'http' && listener.tls !== undefined ? 'tls' : listener.kind;
    const transport = protocol === 'udp' ? 'udp' : 'tcp';
    for (const { key, ip, port } of listener.sockets) {
      const known = sockets.get(key);
      if (known === undefined) sockets.set(key, { key, transport, ip, port, protocol, listeners: [index] });
      else known.listeners.push(index);
    }
  }
  return [...sockets.values()].sort((a, b) => compareStrings(a.key, b.key));
}
