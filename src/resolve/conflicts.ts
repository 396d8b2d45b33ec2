/**
 * Distinctness: every flow must lead to exactly one listener, else the listeners that claim it are Conflicted, without a winner.
 * Gateways that share an address and port are judged together, a wildcard address included.
 * Source: Gateway.spec.listeners, "Distinct Listeners" and "Handling indistinct Listeners".
 */
import { ANY_IPV4, ANY_IPV6 } from '../model/ip-address.js';
import { CODES } from './codes.js';
import type { GatewayDraft, ListenerDraft, Protocol } from './drafts.js';
import { type Findings, isFalse, isTrue } from './findings.js';

/** Most rivals that a message names. */
const MAX_RIVALS = 3;

interface Claim {
  readonly listener: ListenerDraft;
  /** Canonical IP literals; never empty. */
  readonly addresses: readonly string[];
}

/** Marks all indistinct listeners and says with which others they collide. Cost: O(listeners × addresses). */
export function resolveConflicts(gateways: readonly GatewayDraft[], findings: Findings): void {
  for (const claims of groupByPort(gateways).values()) {
    judgeTransport(claims, findings);
    judgeHostnames(claims, ['HTTP'], findings);
    judgeHostnames(claims, ['HTTPS', 'TLS'], findings);
  }
}

function groupByPort(gateways: readonly GatewayDraft[]): Map<string, Claim[]> {
  const groups = new Map<string, Claim[]>();
  for (const gateway of gateways) {
    // A Gateway that opens nothing disturbs nobody else, but its listeners must be distinct among themselves.
    const isOpen = gateway.accepted && gateway.binds.length > 0;
    const addresses = isOpen ? gateway.binds : [gateway.name];
    for (const listener of gateway.listeners) {
      if (listener.protocol === undefined) continue;
      const key = `${listener.protocol === 'UDP' ? 'udp' : 'tcp'} ${listener.spec.port}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [{ listener, addresses }]);
      else group.push({ listener, addresses });
    }
  }
  return groups;
}

/** TCP and UDP listeners need their port for themselves; one of them makes everything on the port indistinct. */
function judgeTransport(claims: readonly Claim[], findings: Findings): void {
  const raw = claims.filter(({ listener }) => listener.protocol === 'TCP' || listener.protocol === 'UDP');
  if (raw.length === 0) return;
  const rawByAddress = new Overlaps(raw);
  const allByAddress = new Overlaps(claims);
  for (const claim of claims) {
    const isRaw = claim.listener.protocol === 'TCP' || claim.listener.protocol === 'UDP';
    const rivals = (isRaw ? allByAddress : rawByAddress).rivals(claim);
    if (rivals.length > 0) {
      report(claim, rivals, 'ProtocolConflict', `port ${claim.listener.spec.port} is claimed`, findings);
    }
  }
}

/** Listeners that are told apart by hostname must not have the same one; HTTPS and TLS share the names of the ClientHello. */
function judgeHostnames(claims: readonly Claim[], protocols: readonly Protocol[], findings: Findings): void {
  const byHostname = new Map<string, Claim[]>();
  for (const claim of claims) {
    const { protocol, hostname } = claim.listener;
    if (protocol === undefined || !protocols.includes(protocol)) continue;
    const group = byHostname.get(hostname);
    if (group === undefined) byHostname.set(hostname, [claim]);
    else group.push(claim);
  }
  for (const [hostname, group] of byHostname) {
    if (group.length < 2) continue;
    const overlaps = new Overlaps(group);
    const name = hostname === '' ? 'every hostname' : `hostname ${hostname}`;
    for (const claim of group) {
      const rivals = overlaps.rivals(claim);
      if (rivals.length === 0) continue;
      const mixed = rivals.some(({ listener }) => listener.protocol !== claim.listener.protocol);
      const conflict = mixed ? 'ProtocolConflict' : 'HostnameConflict';
      report(claim, rivals, conflict, `${name} on port ${claim.listener.spec.port} is claimed`, findings);
    }
  }
}

/** Finds the claims that share an address with another: the same one, or one covered by a wildcard. */
class Overlaps {
  readonly #ip: readonly Claim[];
  readonly #ipv4: readonly Claim[];
  readonly #byAddress = new Map<string, Claim[]>();

  constructor(claims: readonly Claim[]) {
    this.#ip = claims.filter(({ addresses }) => addresses.some(isIp));
    this.#ipv4 = claims.filter(({ addresses }) => addresses.some(isIpv4));
    for (const claim of claims) {
      for (const address of claim.addresses) {
        const group = this.#byAddress.get(address);
        if (group === undefined) this.#byAddress.set(address, [claim]);
        else group.push(claim);
      }
    }
  }

  /** Returns up to `MAX_RIVALS` other claims that overlap this one; no claim is scanned that does not. */
  rivals(claim: Claim): Claim[] {
    const rivals = new Set<Claim>();
    for (const address of claim.addresses) {
      for (const group of this.#covering(address)) {
        for (const candidate of group) {
          if (candidate !== claim) rivals.add(candidate);
          if (rivals.size >= MAX_RIVALS) return [...rivals];
        }
      }
    }
    return [...rivals];
  }

  #covering(address: string): (readonly Claim[])[] {
    const at = (key: string): readonly Claim[] => this.#byAddress.get(key) ?? [];
    if (!isIp(address)) return [at(address)];
    if (address === ANY_IPV6) return [this.#ip];
    if (address === ANY_IPV4) return [this.#ipv4, at(ANY_IPV6)];
    return [at(address), at(ANY_IPV6), ...(isIpv4(address) ? [at(ANY_IPV4)] : [])];
  }
}

/** Names of closed Gateways stand where addresses stand, see `groupByPort`. */
function isIp(address: string): boolean {
  return !address.includes('/');
}

function isIpv4(address: string): boolean {
  return isIp(address) && !address.includes(':');
}

function report(
  { listener }: Claim,
  rivals: readonly Claim[],
  conflict: 'HostnameConflict' | 'ProtocolConflict',
  what: string,
  findings: Findings,
): void {
  const others = rivals.map((rival) => rivalText(listener, rival.listener)).sort();
  const message = `${what} by ${others.join(', ')}${rivals.length >= MAX_RIVALS ? ' and maybe more' : ''} as well`;
  const subject = { kind: 'listener', name: listener.spec.name } as const;
  const { gateway, path } = listener;
  const isFirst = listener.conflict === undefined;
  listener.conflict ??= conflict;
  findings.add(gateway.resource, {
    code: CODES.listenersConflict,
    severity: isFirst ? 'error' : 'summary',
    subject,
    path: `${path}.port`,
    condition: isTrue('Conflicted', conflict),
    message,
    hint: 'no listener of a conflict is served; give each its own port, hostname or address',
  });
  if (!listener.accepted) return;
  listener.accepted = false;
  findings.add(gateway.resource, {
    code: CODES.listenersConflict,
    severity: 'summary',
    subject,
    path: `${path}.port`,
    condition: isFalse('Accepted', conflict),
    message,
  });
}

function rivalText(own: ListenerDraft, rival: ListenerDraft): string {
  const gateway = own.gateway === rival.gateway ? '' : ` of Gateway ${rival.gateway.name}`;
  return `listener "${rival.spec.name}"${gateway} (${rival.spec.protocol})`;
}
