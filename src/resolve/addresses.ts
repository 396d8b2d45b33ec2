/**
 * Addresses of Gateways: the ones they ask for, the ones the pool gives them, or all of the host.
 * Source: Gateway.spec.addresses and the reasons UnsupportedAddress, AddressNotUsable, AddressNotAssigned.
 */
import type { GatewayAddress } from '../gateway-api/index.js';
import type { FindingCondition } from '../model/finding.js';
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
import { type Findings, isFalse, isTrue } from './findings.js';

/** Most entries that `status.addresses` may have. */
const MAX_STATUS_ADDRESSES = 16;

/** What a Gateway asks for, before the pool is asked. */
interface Request {
  readonly gateway: GatewayDraft;
  /** False: it was refused before its addresses were looked at. */
  readonly isRead: boolean;
  readonly fixed: readonly IpAddress[];
  /** What the pool has to give. */
  readonly wanted: readonly Wanted[];
  /** Entries whose routability nothing here has. */
  readonly unroutable: readonly Entry[];
  /** Entries that cannot be had for another reason; their findings are made. */
  readonly unmet: readonly string[];
}

/** An entry of `spec.addresses`. */
interface Entry {
  /** `addresses[1]`. */
  readonly text: string;
  readonly address: GatewayAddress;
}

interface Wanted {
  /** Stable over generations. */
  readonly key: string;
  /** `addresses[1]`, or words for a Gateway that asks for nothing. */
  readonly text: string;
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
    for (const { key } of wanted) if (gateway.pool !== undefined) pool.keep(key, gateway.pool);
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
  const isRead = gateway.accepted;
  const fixed: IpAddress[] = [];
  const wanted: Wanted[] = [];
  const unroutable: Entry[] = [];
  const unmet: string[] = [];
  const addresses: readonly GatewayAddress[] = gateway.resource.spec.addresses ?? [];
  for (const [index, address] of addresses.entries()) {
    const { type, value = '', routability = '' } = address;
    const text = entryText(index);
    if (type !== 'IPAddress') {
      gateway.accepted = false;
      unmet.push(text);
      findings.add(gateway.resource, {
        code: CODES.addressUnsupported,
        path: `spec.${text}.type`,
        condition: isFalse('Accepted', 'UnsupportedAddress'),
        message: `${text} is of type ${type}; only IPAddress can be served`,
      });
    } else if (routability !== '') {
      unroutable.push({ text, address });
    } else if (value === '') {
      wanted.push({ key: poolKey(gateway, wanted.length), text });
    } else {
      const parsed = parseIpAddress(value);
      if (parsed !== undefined && host.isUsable(parsed)) {
        fixed.push(parsed);
      } else {
        gateway.programmed = false;
        unmet.push(text);
        findings.add(gateway.resource, {
          code: CODES.addressNotUsable,
          path: `spec.${text}.value`,
          condition: isFalse('Programmed', 'AddressNotUsable'),
          message: `${text} asks for ${value}, which is not an address of this host`,
          hint: 'give the address to a network interface, or remove the entry',
        });
      }
    }
  }
  if (addresses.length === 0) wanted.push({ key: poolKey(gateway, 0), text: 'an address of the pool' });
  return { gateway, isRead, fixed, wanted, unroutable, unmet };
}

function entryText(index: number): string {
  return `addresses[${index}]`;
}

function poolKey({ name }: GatewayDraft, index: number): string {
  return index === 0 ? name : `${name}#${index}`;
}

function assign(request: Request, pool: AddressPool, host: HostAddresses, findings: Findings): void {
  const { gateway, isRead, fixed, wanted, unroutable } = request;
  if (!isRead) return;
  // A Gateway that is refused opens nothing: what the pool has is for others.
  const unmet = gateway.accepted
    ? [...request.unmet]
    : (gateway.resource.spec.addresses ?? []).map((_, index) => entryText(index));
  if (gateway.accepted) {
    const binds = new Set(fixed.map(({ text }) => text));
    for (const { key, text } of wanted) {
      const address = gateway.pool === undefined ? host.wildcard : pool.give(key, gateway.pool);
      if (address === undefined) unmet.push(text);
      else binds.add(address);
    }
    gateway.binds = withoutCovered([...binds]);
    gateway.addresses = statusAddresses([...binds], host);
    if (wanted.some(({ text }) => unmet.includes(text))) reportPoolExhausted(gateway, findings);
  }
  for (const entry of unroutable) {
    if (gateway.accepted) unmet.push(entry.text);
    reportUnroutable(entry, gateway, findings);
  }
  reportAssignment(gateway, unmet, findings);
}

function reportPoolExhausted(gateway: GatewayDraft, findings: Findings): void {
  gateway.programmed = false;
  findings.add(gateway.resource, {
    code: CODES.addressNotAssigned,
    path: 'spec.addresses',
    condition: isFalse('Programmed', 'AddressNotAssigned'),
    message: `no address of the pool ${gateway.pool?.join(', ')} is free and local`,
    hint: 'widen addressPool, or give more of its addresses to the host',
  });
}

/**
 * No address of a host can promise from where it is reachable. Other entries are served without it, none in its place.
 * Source: GEP-5093, "MUST treat an unrecognized routability value as unsatisfiable".
 */
function reportUnroutable({ text, address }: Entry, gateway: GatewayDraft, findings: Findings): void {
  const isDark = gateway.binds.length === 0;
  if (isDark) gateway.programmed = false;
  findings.add(gateway.resource, {
    code: CODES.routabilityUnsupported,
    path: `spec.${text}.routability`,
    condition: isDark ? isFalse('Programmed', 'AddressNotAssigned') : isFalse('AddressesAssigned', 'PartiallyAssigned'),
    message: `${text} asks for an address with routability ${address.routability}, which this version cannot promise`,
    hint: 'leave routability out and choose the address by value',
  });
}

/** Source: GatewayConditionAddressesAssigned (experimental): said once the addresses are judged, of asked and unasked ones alike. */
function reportAssignment({ resource, binds }: GatewayDraft, unmet: readonly string[], findings: Findings): void {
  const add = (condition: FindingCondition, message: string): void =>
    findings.add(resource, { code: CODES.addressesAssigned, severity: 'summary', condition, message });
  if (unmet.length === 0) {
    add(isTrue('AddressesAssigned', 'AddressesAssigned'), '');
  } else {
    const reason = binds.length === 0 ? 'NotAssigned' : 'PartiallyAssigned';
    add(isFalse('AddressesAssigned', reason), `not assigned: ${unmet.join(', ')}`);
  }
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
