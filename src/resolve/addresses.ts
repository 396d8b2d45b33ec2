/**
 * Addresses of Gateways: the ones they ask for, the ones the pool gives them, or all of the host.
 * Source: Gateway.spec.addresses and the reasons UnsupportedAddress, AddressNotUsable, AddressNotAssigned.
 */
import type { GatewayAddress } from '../gateway-api/index.js';
import {
  ANY_IPV4,
  ANY_IPV6,
  compareIpAddresses,
  type IpAddress,
  isGlobal,
  isLoopback,
  parseIpAddress,
} from '../model/ip-address.js';
import { AddressPool } from './address-pool.js';
import { CODES } from './codes.js';
import type { GatewayDraft } from './drafts.js';
import type { Facts } from './facts.js';
import { type Findings, isFalse } from './findings.js';

/** Most entries that `status.addresses` may have. */
const MAX_STATUS_ADDRESSES = 16;

/** What a Gateway asks for, before the pool is asked. */
interface Request {
  readonly gateway: GatewayDraft;
  readonly fixed: readonly IpAddress[];
  /** One key for each address that the pool has to give; stable over generations. */
  readonly wanted: readonly string[];
}

/**
 * Fills in `binds` and `addresses` of every Gateway and says what cannot be had. Returns the addresses given from pools, by key.
 * An address stays with its Gateway as long as the pool holds it; new ones are given in order of seniority.
 */
export function resolveAddresses(
  gateways: readonly GatewayDraft[],
  facts: Facts,
  findings: Findings,
): Record<string, string> {
  const host = new HostAddresses(facts);
  const requests = gateways.map((gateway) => readRequest(gateway, host, findings));
  const pool = new AddressPool(host, facts.assignedAddresses);
  for (const { fixed } of requests) for (const { text } of fixed) pool.take(text);
  for (const { gateway, wanted } of requests) {
    for (const key of wanted) if (gateway.pool !== undefined) pool.keep(key, gateway.pool);
  }
  for (const request of requests) assign(request, pool, host, findings);
  return pool.assigned;
}

/** The local addresses of the host. */
export class HostAddresses {
  /** Without loopback, IPv4 first. */
  readonly list: readonly IpAddress[];
  /** Binds all of them. */
  readonly wildcard: string;
  readonly #texts: ReadonlySet<string>;
  readonly #hasIpv6: boolean;

  constructor({ hostAddresses, hasIpv6 }: Facts) {
    const parsed = hostAddresses.map(parseIpAddress).filter((address) => address !== undefined);
    this.list = parsed.sort(compareIpAddresses);
    this.wildcard = hasIpv6 ? ANY_IPV6 : ANY_IPV4;
    this.#texts = new Set(parsed.map(({ text }) => text));
    this.#hasIpv6 = hasIpv6;
  }

  /** True when a socket can be bound to the address. */
  isUsable(address: IpAddress): boolean {
    if (this.#texts.has(address.text)) return true;
    const everywhere = isLoopback(address) || address.value === 0n;
    return everywhere && (address.family === 4 || this.#hasIpv6);
  }

  /** Returns what clients can use when everything is bound: global addresses, loopback only if there is nothing else. */
  reachable(wildcard: string): string[] {
    const bound = this.list.filter(({ family }) => wildcard === ANY_IPV6 || family === 4);
    const global = bound.filter(isGlobal);
    if (global.length > 0) return global.map(({ text }) => text);
    const loopback = bound.filter(isLoopback).map(({ text }) => text);
    return loopback.length > 0 ? loopback : ['127.0.0.1'];
  }
}

function readRequest(gateway: GatewayDraft, host: HostAddresses, findings: Findings): Request {
  const fixed: IpAddress[] = [];
  const wanted: string[] = [];
  const addresses: readonly GatewayAddress[] = gateway.resource.spec.addresses ?? [];
  for (const [index, { type, value = '' }] of addresses.entries()) {
    const path = `spec.addresses[${index}]`;
    if (type !== 'IPAddress') {
      gateway.accepted = false;
      findings.add(gateway.resource, {
        code: CODES.addressUnsupported,
        path: `${path}.type`,
        condition: isFalse('Accepted', 'UnsupportedAddress'),
        message: `addresses[${index}] is of type ${type}; only IPAddress can be served`,
      });
    } else if (value === '') {
      wanted.push(poolKey(gateway, wanted.length));
    } else {
      const address = parseIpAddress(value);
      if (address !== undefined && host.isUsable(address)) {
        fixed.push(address);
      } else {
        findings.add(gateway.resource, {
          code: CODES.addressNotUsable,
          path: `${path}.value`,
          condition: isFalse('Programmed', 'AddressNotUsable'),
          message: `addresses[${index}] asks for ${value}, which is not an address of this host`,
          hint: 'give the address to a network interface, or remove the entry',
        });
      }
    }
  }
  if (addresses.length === 0) wanted.push(poolKey(gateway, 0));
  return { gateway, fixed, wanted };
}

function poolKey({ name }: GatewayDraft, index: number): string {
  return index === 0 ? name : `${name}#${index}`;
}

function assign({ gateway, fixed, wanted }: Request, pool: AddressPool, host: HostAddresses, findings: Findings): void {
  const binds = new Set(fixed.map(({ text }) => text));
  for (const key of wanted) {
    const address = gateway.pool === undefined ? host.wildcard : pool.give(key, gateway.pool);
    if (address !== undefined) {
      binds.add(address);
      continue;
    }
    findings.add(gateway.resource, {
      code: CODES.addressNotAssigned,
      path: 'spec.addresses',
      condition: isFalse('Programmed', 'AddressNotAssigned'),
      message: `no address of the pool ${gateway.pool?.join(', ')} is free and local`,
      hint: 'widen addressPool, or give more of its addresses to the host',
    });
  }
  gateway.binds = withoutCovered([...binds]);
  gateway.addresses = statusAddresses([...binds], host);
}

/** A wildcard bind includes the single addresses beside it. */
function withoutCovered(binds: readonly string[]): string[] {
  if (binds.includes(ANY_IPV6)) return [ANY_IPV6];
  if (!binds.includes(ANY_IPV4)) return [...binds];
  return binds.filter((bind) => bind === ANY_IPV4 || bind.includes(':'));
}

function statusAddresses(binds: readonly string[], host: HostAddresses): string[] {
  const addresses = binds.flatMap((bind) => (bind === ANY_IPV4 || bind === ANY_IPV6 ? host.reachable(bind) : [bind]));
  return [...new Set(addresses)].slice(0, MAX_STATUS_ADDRESSES);
}
