/**
 * Sockets: which local addresses the accepted listeners open, and what became of those that could not be opened.
 */
import type { IrTransport } from '../ir/ir.js';
import { ANY_IPV4, ANY_IPV6 } from '../model/ip-address.js';
import type { BindAddress } from '../model/model.js';
import { CODES } from './codes.js';
import { isValid, type ListenerDraft } from './drafts.js';
import type { BindFailure, Facts } from './facts.js';
import { type Findings, isFalse } from './findings.js';

/** Opens sockets for listeners of parents that serve; what could not be opened in a first try is left out. */
export class Sockets {
  readonly #failures: ReadonlyMap<string, BindFailure>;
  readonly #findings: Findings;
  readonly #serving: ListenerDraft[] = [];

  constructor({ bindFailures }: Facts, findings: Findings) {
    this.#failures = new Map(bindFailures.map((failure) => [failure.key, failure]));
    this.#findings = findings;
  }

  /**
   * Fills in `sockets` of the listeners that can serve; one none of whose sockets can be opened is not accepted.
   * Cost: O(listeners × addresses).
   */
  open(listeners: readonly ListenerDraft[]): void {
    for (const listener of listeners) {
      if (!isValid(listener)) continue;
      this.#open(listener);
      if (listener.sockets.length > 0) this.#serving.push(listener);
    }
  }

  /**
   * Call it once, when all are open. The kernel gives a connection to the socket with the most specific address. Where one Gateway
   * opens every address and another a single one on the same port, the single socket must therefore serve the listeners of both.
   */
  share(): void {
    const byPort = new Map<string, Map<string, BindAddress>>();
    for (const listener of this.#serving) {
      const open = byPort.get(portKey(listener)) ?? new Map<string, BindAddress>();
      byPort.set(portKey(listener), open);
      for (const socket of listener.sockets) open.set(socket.ip, socket);
    }
    // All listeners of a Gateway and port open the same.
    const shared = new Map<string, readonly BindAddress[]>();
    for (const listener of this.#serving) {
      const key = `${listener.gateway.name} ${portKey(listener)}`;
      const known = shared.get(key) ?? withCovered(listener.sockets, byPort.get(portKey(listener))?.values() ?? []);
      shared.set(key, known);
      listener.sockets = known;
    }
  }

  #open(listener: ListenerDraft): void {
    const { gateway, owner, spec, path } = listener;
    const wanted = gateway.binds.map((ip) => bindAddress(transportOf(listener), ip, spec.port));
    listener.sockets = wanted.filter(({ key }) => !this.#failures.has(key));
    const failed = wanted.flatMap(({ key }) => this.#failures.get(key) ?? []);
    if (failed.length === 0) return;
    // A listener that still has another address goes on serving there: rather degraded than dark.
    listener.accepted = listener.sockets.length > 0;
    listener.portUnavailable = !listener.accepted;
    this.#findings.add(owner, {
      code: CODES.portUnavailable,
      subject: { kind: 'listener', name: spec.name },
      path: `${path}.port`,
      condition: listener.accepted ? isFalse('Programmed', 'Invalid') : isFalse('Accepted', 'PortUnavailable'),
      message: failed.map(failureText).join('; '),
      hint: 'an address of its own for the Gateway, in spec.addresses, is a way out as well',
    });
  }
}

/** Returns the socket for an address and port. */
export function bindAddress(transport: IrTransport, ip: string, port: number): BindAddress {
  return { key: `${transport}/${ip.includes(':') ? `[${ip}]` : ip}:${port}`, ip, port };
}

function transportOf({ protocol }: ListenerDraft): IrTransport {
  return protocol === 'UDP' ? 'udp' : 'tcp';
}

function portKey(listener: ListenerDraft): string {
  return `${transportOf(listener)} ${listener.spec.port}`;
}

/** Messages of the kernel name the address already; those of other sources need not. */
function failureText({ key, message }: BindFailure): string {
  const address = key.slice(key.indexOf('/') + 1);
  return message.includes(address) ? message : `${address} cannot be opened: ${message}`;
}

function withCovered(own: readonly BindAddress[], open: Iterable<BindAddress>): readonly BindAddress[] {
  const ips = new Set(own.map(({ ip }) => ip));
  if (!ips.has(ANY_IPV6) && !ips.has(ANY_IPV4)) return own;
  return [...own, ...[...open].filter(({ ip }) => !ips.has(ip) && (ips.has(ANY_IPV6) || !ip.includes(':')))];
}
