/**
 * Sockets, listeners and settings as records.
 */
import type { IrListener, IrSettings, IrSocket } from '../ir/ir.js';
import {
  FLAG_ACCESS_LOG,
  FLAG_VIA,
  LISTENER_RECORD,
  NONE,
  PROTOCOL_HTTP,
  PROTOCOL_TCP,
  SETTINGS_RECORD,
  SOCKET_RECORD,
} from '../native/layout.gen.js';
import { CompileError } from './compile-error.js';
import { encodeHostTrie } from './host-trie.js';
import { encodeNetworks } from './networks.js';
import { encodeVirtualHosts } from './path-index.js';
import type { Sections } from './sections.js';

/** Appends the one settings record. */
export function encodeSettings(sections: Sections, irSettings: IrSettings): void {
  const { settings, strings } = sections;
  const at = settings.record();
  const log = irSettings.accessLog;
  settings.u32(at + SETTINGS_RECORD.workers, irSettings.workers);
  settings.u32(at + SETTINGS_RECORD.maxHeadBytes, irSettings.maxHeadBytes);
  settings.u32(at + SETTINGS_RECORD.maxHeaders, irSettings.maxHeaders);
  settings.u32(at + SETTINGS_RECORD.maxIdlePerEndpoint, irSettings.maxIdlePerEndpoint);
  settings.u32(at + SETTINGS_RECORD.flags, (irSettings.via ? FLAG_VIA : 0) | (log ? FLAG_ACCESS_LOG : 0));
  settings.text(at + SETTINGS_RECORD.logTargetOffset, strings, log?.target ?? '');
}

/** Appends the listeners with their virtual hosts and networks; `slots` by index of the IR. */
export function encodeListeners(sections: Sections, irListeners: readonly IrListener[], slots: Uint32Array): void {
  const { listeners, networks, strings } = sections;
  irListeners.forEach((listener, i) => {
    const at = listeners.record();
    const { timeouts } = listener;
    listeners.u32(at + LISTENER_RECORD.slot, slots[i]!);
    listeners.u32(at + LISTENER_RECORD.idleMs, timeouts.idleMs);
    listeners.u32(at + LISTENER_RECORD.headerMs, timeouts.headerMs);
    listeners.u32(at + LISTENER_RECORD.connectMs, timeouts.connectMs);
    listeners.u32(at + LISTENER_RECORD.streamIdleMs, timeouts.streamIdleMs);
    listeners.u32(at + LISTENER_RECORD.tunnelIdleMs, timeouts.tunnelIdleMs);
    listeners.u32(at + LISTENER_RECORD.halfClosedMs, timeouts.halfClosedMs);
    listeners.text(at + LISTENER_RECORD.nameOffset, strings, listener.name);
    listeners.u32(at + LISTENER_RECORD.trustedFirst, networks.count);
    if (listener.kind === 'http') {
      const root = encodeHostTrie(sections, encodeVirtualHosts(sections, listener.virtualHosts));
      listeners.u32(at + LISTENER_RECORD.protocol, PROTOCOL_HTTP);
      listeners.u32(at + LISTENER_RECORD.routeRoot, root);
      listeners.u32(at + LISTENER_RECORD.tcpAction, NONE);
      listeners.u32(at + LISTENER_RECORD.trustedCount, encodeNetworks(sections, listener.trustedProxies));
      listeners.text(at + LISTENER_RECORD.hostnameOffset, strings, listener.hostname);
    } else {
      listeners.u32(at + LISTENER_RECORD.protocol, PROTOCOL_TCP);
      listeners.u32(at + LISTENER_RECORD.routeRoot, NONE);
      listeners.u32(at + LISTENER_RECORD.tcpAction, listener.kind === 'tcp' ? (listener.action ?? NONE) : NONE);
      listeners.text(at + LISTENER_RECORD.hostnameOffset, strings, '');
    }
  });
}

/** Appends socket records up to the highest id; ids without a socket stay empty. `ids` by index of the IR. */
export function encodeSockets(
  sections: Sections,
  irSockets: readonly IrSocket[],
  irListeners: readonly IrListener[],
  ids: readonly number[],
): void {
  const { sockets, strings } = sections;
  const limit = ids.reduce((most, id) => Math.max(most, id + 1), 0);
  for (let id = 0; id < limit; id++) {
    const at = sockets.record();
    sockets.u32(at + SOCKET_RECORD.listenerRoot, NONE);
    sockets.u32(at + SOCKET_RECORD.tcpListener, NONE);
    sockets.u32(at + SOCKET_RECORD.firstListener, NONE);
  }
  irSockets.forEach((socket, i) => {
    const at = sockets.at(ids[i]!);
    sockets.text(at + SOCKET_RECORD.keyOffset, strings, socket.key);
    sockets.u32(at + SOCKET_RECORD.firstListener, socket.listeners[0] ?? NONE);
    if (socket.protocol === 'http') {
      sockets.u32(at + SOCKET_RECORD.protocol, PROTOCOL_HTTP);
      sockets.u32(at + SOCKET_RECORD.listenerRoot, encodeHostTrie(sections, listenersByHostname(socket, irListeners)));
    } else {
      sockets.u32(at + SOCKET_RECORD.protocol, PROTOCOL_TCP);
      sockets.u32(at + SOCKET_RECORD.tcpListener, soleTcpListener(socket, irListeners));
    }
  });
}

function listenersByHostname(socket: IrSocket, irListeners: readonly IrListener[]): Map<string, number> {
  if (socket.listeners.length === 0) throw new CompileError('bug', `${socket.key}: no listener`);
  const values = new Map<string, number>();
  for (const index of socket.listeners) {
    const listener = irListeners[index];
    if (listener?.kind !== 'http')
      throw new CompileError('bug', `${socket.key}: listener ${index} is no HTTP listener`);
    if (values.has(listener.hostname)) {
      throw new CompileError('bug', `${socket.key}: two listeners have the hostname "${listener.hostname}"`);
    }
    values.set(listener.hostname, index);
  }
  return values;
}

function soleTcpListener(socket: IrSocket, irListeners: readonly IrListener[]): number {
  const [index] = socket.listeners;
  if (index === undefined || socket.listeners.length > 1 || irListeners[index]?.kind !== 'tcp') {
    throw new CompileError('bug', `${socket.key}: a TCP socket has exactly one TCP listener`);
  }
  return index;
}
