/**
 * Claims: which listeners want the same flows. A flow is known by transport, address and port, and by hostname where the protocol has one.
 */
import { ANY_IPV4, ANY_IPV6 } from '../model/ip-address.js';
import type { ListenerDraft, Protocol } from './drafts.js';

/** Most rivals that an answer holds. */
export const MAX_RIVALS = 3;

/** A listener with the addresses that it wants to listen on. */
export interface Claim {
  readonly listener: ListenerDraft;
  /** Canonical IP literals, or the name of a Gateway that opens nothing; never empty. */
  readonly addresses: readonly string[];
}

/** Claims that stand in the way of another one, up to `MAX_RIVALS` of each kind. */
export interface Rivals {
  /** The port cannot serve both, whatever the hostnames. */
  readonly ofPort: readonly Claim[];
  /** The hostname is the same. */
  readonly ofHostname: readonly Claim[];
}

/**
 * What tells the flows of one port apart. HTTPS and TLS are one family: both are chosen by the server name of the ClientHello.
 * HTTP is another: a port either waits for a ClientHello or does not, so the two are distinct, but not compatible.
 */
type Family = 'http' | 'tls' | 'tcp' | 'udp';

const FAMILIES: Readonly<Record<Protocol, Family>> = { HTTP: 'http', HTTPS: 'tls', TLS: 'tls', TCP: 'tcp', UDP: 'udp' };

interface PortClaims {
  readonly families: Map<Family, Overlaps>;
  readonly hostnames: Map<string, Overlaps>;
}

/**
 * Claims so far. Adding one and asking for rivals cost O(addresses of the claim), however many claims there are.
 * Source: Gateway.spec.listeners, "Distinct Listeners".
 */
export class Claims {
  readonly #ports = new Map<string, PortClaims>();

  /** Adds a claim; those of listeners whose protocol is not served claim nothing. */
  add(claim: Claim): void {
    const { protocol, hostname, port } = placeOf(claim);
    if (protocol === undefined) return;
    const family = FAMILIES[protocol];
    let claims = this.#ports.get(port);
    if (claims === undefined) {
      claims = { families: new Map(), hostnames: new Map() };
      this.#ports.set(port, claims);
    }
    overlapsOf(claims.families, family).add(claim);
    if (hasHostname(family)) overlapsOf(claims.hostnames, `${family} ${hostname}`).add(claim);
  }

  /** Returns the other claims that overlap this one, which need not be among them; `undefined` when there are none. */
  rivals(claim: Claim): Rivals | undefined {
    const { protocol, hostname, port } = placeOf(claim);
    const claims = this.#ports.get(port);
    if (protocol === undefined || claims === undefined) return undefined;
    const family = FAMILIES[protocol];
    const ofPort = new Set<Claim>();
    for (const [other, overlaps] of claims.families) {
      if (other !== family || !hasHostname(family)) overlaps.collect(claim, ofPort);
    }
    const ofHostname = new Set<Claim>();
    if (hasHostname(family)) claims.hostnames.get(`${family} ${hostname}`)?.collect(claim, ofHostname);
    if (ofPort.size === 0 && ofHostname.size === 0) return undefined;
    return { ofPort: [...ofPort], ofHostname: [...ofHostname] };
  }
}

function placeOf({ listener: { protocol, hostname, spec } }: Claim): {
  readonly protocol: Protocol | undefined;
  readonly hostname: string;
  readonly port: string;
} {
  return { protocol, hostname, port: `${protocol === 'UDP' ? 'udp' : 'tcp'} ${spec.port}` };
}

function hasHostname(family: Family): boolean {
  return family === 'http' || family === 'tls';
}

function overlapsOf<K>(map: Map<K, Overlaps>, key: K): Overlaps {
  let overlaps = map.get(key);
  if (overlaps === undefined) {
    overlaps = new Overlaps();
    map.set(key, overlaps);
  }
  return overlaps;
}

/** Finds the claims that share an address with another: the same one, or one covered by a wildcard. */
class Overlaps {
  /** As many of each as a question can need, so that neither memory nor time grows with crowds. */
  readonly #byKey = new Map<string, Claim[]>();

  add(claim: Claim): void {
    for (const address of claim.addresses) {
      for (const key of ownKeys(address)) {
        const group = this.#byKey.get(key);
        if (group === undefined) this.#byKey.set(key, [claim]);
        else if (group.length <= MAX_RIVALS && group.at(-1) !== claim) group.push(claim);
      }
    }
  }

  /** Adds up to `MAX_RIVALS` other claims that overlap this one. */
  collect(claim: Claim, into: Set<Claim>): void {
    for (const address of claim.addresses) {
      for (const key of overlappingKeys(address)) {
        for (const candidate of this.#byKey.get(key) ?? []) {
          if (into.size >= MAX_RIVALS) return;
          if (candidate.listener !== claim.listener) into.add(candidate);
        }
      }
    }
  }
}

/** Keys of all addresses, and of all of IPv4, beside those of single ones. */
const SOME_IP = 'any';
const SOME_IPV4 = 'any4';

function ownKeys(address: string): string[] {
  if (!isIp(address)) return [address];
  return isIpv4(address) ? [address, SOME_IPV4, SOME_IP] : [address, SOME_IP];
}

function overlappingKeys(address: string): string[] {
  if (!isIp(address)) return [address];
  if (address === ANY_IPV6) return [SOME_IP];
  if (address === ANY_IPV4) return [SOME_IPV4, ANY_IPV6];
  return isIpv4(address) ? [address, ANY_IPV4, ANY_IPV6] : [address, ANY_IPV6];
}

/** Names of closed Gateways stand where addresses stand, see `Claim`. */
function isIp(address: string): boolean {
  return !address.includes('/');
}

function isIpv4(address: string): boolean {
  return isIp(address) && !address.includes(':');
}
