/**
 * The address pool: gives each Gateway an address of its own and lets it keep it.
 */
import {
  type IpAddress,
  type IpNetwork,
  ipAddressOf,
  isLoopback,
  isWithin,
  parseIpAddress,
  parseIpNetwork,
} from '../model/ip-address.js';

/** What the pool must know about the host. */
interface Host {
  readonly list: readonly IpAddress[];
  isUsable(address: IpAddress): boolean;
}

/** Hands out addresses; one address never goes to two keys. */
export class AddressPool {
  /** Addresses given so far, by key. */
  readonly assigned: Record<string, string> = {};
  readonly #host: Host;
  readonly #before: Readonly<Record<string, string>>;
  readonly #taken = new Set<string>();
  /** Where the search in a network goes on, so that giving n addresses costs O(n). */
  readonly #candidates = new Map<string, Iterator<string>>();

  constructor(host: Host, before: Readonly<Record<string, string>>) {
    this.#host = host;
    this.#before = before;
  }

  /** Keeps an address out of the pool because somebody has named it. */
  take(address: string): void {
    this.#taken.add(address);
  }

  /** Gives a key the address it had in the generation before, if the networks still hold it and nobody else has it. */
  keep(key: string, networks: readonly string[]): void {
    const before = Object.hasOwn(this.#before, key) ? this.#before[key] : undefined;
    const address = before === undefined ? undefined : parseIpAddress(before);
    if (address === undefined || this.#taken.has(address.text) || !this.#host.isUsable(address)) return;
    const isHeld = networks.some((text) => {
      const network = parseIpNetwork(text);
      return network !== undefined && isWithin(address, network);
    });
    if (isHeld) this.#assign(key, address.text);
  }

  /** Returns the address of a key, a free one if it has none yet; `undefined` when none is left. */
  give(key: string, networks: readonly string[]): string | undefined {
    const kept = this.assigned[key];
    if (kept !== undefined) return kept;
    for (const network of networks) {
      const candidates = this.#candidatesOf(network);
      for (let next = candidates.next(); next.done !== true; next = candidates.next()) {
        if (!this.#taken.has(next.value)) return this.#assign(key, next.value);
      }
    }
    return undefined;
  }

  #assign(key: string, address: string): string {
    this.#taken.add(address);
    this.assigned[key] = address;
    return address;
  }

  #candidatesOf(text: string): Iterator<string> {
    let candidates = this.#candidates.get(text);
    if (candidates === undefined) {
      const network = parseIpNetwork(text);
      candidates = network === undefined ? [][Symbol.iterator]() : usableAddresses(network, this.#host);
      this.#candidates.set(text, candidates);
    }
    return candidates;
  }
}

/** Yields the local addresses of a network in ascending order: all of a loopback network, else those that the host has. */
function* usableAddresses(network: IpNetwork, host: Host): Iterator<string> {
  const { family, first, last } = network;
  if (family === 4 && isLoopback(ipAddressOf(4, first)) && isLoopback(ipAddressOf(4, last))) {
    // The first and the last address of a network name the network and everybody in it, unless it is a pair or one alone.
    const margin = last - first > 1n ? 1n : 0n;
    for (let value = first + margin; value <= last - margin; value += 1n) yield ipAddressOf(4, value).text;
    return;
  }
  for (const address of host.list) if (isWithin(address, network) && host.isUsable(address)) yield address.text;
}
