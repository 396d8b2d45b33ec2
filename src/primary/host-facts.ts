/** What resolution must know about this host, read anew for each load. Serves `primary.ts`. */
import { networkInterfaces } from 'node:os';

/** The part of `Facts` that the host decides. */
export interface HostFacts {
  readonly hasIpv6: boolean;
  /** IP literals without zones, sorted. */
  readonly hostAddresses: readonly string[];
}

/** Returns the addresses that this host has now. */
export function readHostFacts(): HostFacts {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return {
    hasIpv6: addresses.some(({ family }) => family === 'IPv6'),
    hostAddresses: [...new Set(addresses.map(({ address }) => address.replace(/%.*$/, '')))].sort(),
  };
}
