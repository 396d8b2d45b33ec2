/**
 * Server names: the TLSRoutes of one listener, merged and ranked; a TCPRoute takes what they leave.
 */
import { compareStrings } from '../base/index.js';
import type { IrTlsListener } from '../ir/ir.js';
import { hostnameSpecificity } from '../model/hostname.js';
import type { StreamRoute, TlsListener } from '../model/model.js';
import type { ActionBook } from './actions.js';

interface Claim {
  readonly hostname: string;
  /** Of the route's own hostname. */
  readonly tier: number;
  readonly route: StreamRoute;
}

/**
 * Returns the names of a TLS listener, most specific first, each once: where several routes come to one name, the one
 * whose own hostname is more specific has it, else the more senior. Source: TLSRoute.spec.hostnames.
 */
export function lowerServerNames(listener: TlsListener, book: ActionBook): IrTlsListener['routes'] {
  const claims = new Map<string, Claim>();
  for (const { route, hostnames } of listener.attachments) {
    for (const { hostname, original } of hostnames) {
      const tier = hostnameSpecificity(original);
      const known = claims.get(hostname);
      // Attachments come in order of seniority, so an equal claim is a younger one.
      if (known === undefined || tier > known.tier) claims.set(hostname, { hostname, tier, route });
    }
  }
  const { hostname: everyName, route: rest } = listener;
  if (rest !== undefined && !claims.has(everyName))
    claims.set(everyName, { hostname: everyName, tier: 0, route: rest });
  return [...claims.values()].sort(compareClaims).map(({ hostname, route }) => ({
    hostname,
    action: book.streamAction(route),
  }));
}

function compareClaims(a: Claim, b: Claim): number {
  return hostnameSpecificity(b.hostname) - hostnameSpecificity(a.hostname) || compareStrings(a.hostname, b.hostname);
}
