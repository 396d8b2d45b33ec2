/**
 * Sockets: which local addresses the accepted listeners open, and what became of those that could not be opened.
 */
import { ANY_IPV4, ANY_IPV6 } from '../model/ip-address.js';
import type { BindAddress } from '../model/model.js';
import { CODES } from './codes.js';
import type { GatewayDraft, ListenerDraft } from './drafts.js';
import type { BindFailure, Facts } from './facts.js';
import { type Findings, isFalse } from './findings.js';

/** Fills in `sockets` of every listener that can serve; a listener none of whose sockets can be opened is not accepted. */
export function resolveSockets(gateways: readonly GatewayDraft[], facts: Facts, findings: Findings): void {
  const failures = new Map(facts.bindFailures.map((failure) => [failure.key, failure]));
  const serving: ListenerDraft[] = [];
  for (const gateway of gateways) {
    if (!gateway.accepted) continue;
    for (const listener of gateway.listeners) {
      if (!listener.accepted) continue;
      openSockets(listener, failures, findings);
      if (listener.sockets.length > 0) serving.push(listener);
    }
  }
  shareSockets(serving);
}

/** Returns the socket for an address and port. */
export function bindAddress(ip: string, port: number): BindAddress {
  return { key: `tcp/${ip.includes(':') ? `[${ip}]` : ip}:${port}`, ip, port };
}

function openSockets(listener: ListenerDraft, failures: ReadonlyMap<string, BindFailure>, findings: Findings): void {
  const { gateway, spec, path } = listener;
  const wanted = gateway.binds.map((ip) => bindAddress(ip, spec.port));
  listener.sockets = wanted.filter(({ key }) => !failures.has(key));
  const failed = wanted.flatMap(({ key }) => failures.get(key) ?? []);
  if (failed.length === 0) return;
  // A listener that still has another address goes on serving there: rather degraded than dark.
  listener.accepted = listener.sockets.length > 0;
  const condition = listener.accepted ? isFalse('Programmed', 'Invalid') : isFalse('Accepted', 'PortUnavailable');
  findings.add(gateway.resource, {
    code: CODES.portUnavailable,
    subject: { kind: 'listener', name: spec.name },
    path: `${path}.port`,
    condition,
    message: failed.map(({ key, message }) => `${key.slice('tcp/'.length)} cannot be opened: ${message}`).join('; '),
    hint: 'choose another port or address, or stop the program that holds it',
  });
}

/**
 * The kernel gives a connection to the socket with the most specific address. Where one Gateway opens every address and
 * another a single one on the same port, the single socket must therefore serve the listeners of both.
 */
function shareSockets(listeners: readonly ListenerDraft[]): void {
  const byPort = new Map<number, Map<string, BindAddress>>();
  for (const { sockets, spec } of listeners) {
    const open = byPort.get(spec.port) ?? new Map<string, BindAddress>();
    byPort.set(spec.port, open);
    for (const socket of sockets) open.set(socket.ip, socket);
  }
  for (const listener of listeners) {
    const own = new Set(listener.sockets.map(({ ip }) => ip));
    if (!own.has(ANY_IPV6) && !own.has(ANY_IPV4)) continue;
    const open = [...(byPort.get(listener.spec.port)?.values() ?? [])];
    const covered = open.filter(({ ip }) => !own.has(ip) && (own.has(ANY_IPV6) || !ip.includes(':')));
    listener.sockets = [...listener.sockets, ...covered];
  }
}
