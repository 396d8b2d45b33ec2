/**
 * Server names that several TLSRoutes of a listener claim: one route has each, the others are told.
 * Which one is decided in `lower/server-names.ts`; here it is put into words.
 */
import { hostnameSpecificity } from '../model/hostname.js';
import type { StreamRoute } from '../model/model.js';
import { objectName } from '../model/object-ref.js';
import { CODES } from './codes.js';
import { type ListenerDraft, listenerText } from './drafts.js';
import type { Findings } from './findings.js';
import type { Inventory } from './inventory.js';

interface Claim {
  readonly route: StreamRoute;
  /** The route's own hostname. */
  readonly original: string;
}

/** Most names that a message lists. */
const MAX_NAMES = 5;

/** Adds one warning for each route that has lost names on a listener to routes that go before it. Cost: linear in the claims. */
export function reportServerNames(listeners: Iterable<ListenerDraft>, inventory: Inventory, findings: Findings): void {
  for (const listener of listeners) {
    const winners = winnersOf(listener);
    for (const { route, hostnames } of listener.streamAttachments) {
      const lost = hostnames.filter(({ hostname }) => winners.get(hostname)?.route !== route);
      const [first] = lost;
      const winner = first && winners.get(first.hostname);
      if (winner === undefined) continue;
      const names = lost.slice(0, MAX_NAMES).map(({ hostname }) => hostname || 'every server name');
      if (lost.length > names.length) names.push(`${lost.length - names.length} more`);
      report(route, `for ${names.join(', ')} on listener ${listenerText(listener)}`, winner.route, inventory, findings);
    }
    const everyName = winners.get(listener.hostname);
    const { streamRoute } = listener;
    if (listener.protocol !== 'TLS' || streamRoute === undefined || everyName === undefined) continue;
    report(streamRoute, `on listener ${listenerText(listener)}`, everyName.route, inventory, findings);
  }
}

function winnersOf({ streamAttachments }: ListenerDraft): Map<string, Claim> {
  const winners = new Map<string, Claim>();
  for (const { route, hostnames } of streamAttachments) {
    for (const { hostname, original } of hostnames) {
      const known = winners.get(hostname);
      if (known !== undefined && hostnameSpecificity(known.original) >= hostnameSpecificity(original)) continue;
      winners.set(hostname, { route, original });
    }
  }
  return winners;
}

function report(
  loser: StreamRoute,
  where: string,
  winner: StreamRoute,
  inventory: Inventory,
  findings: Findings,
): void {
  const { namespace, name } = loser.ref;
  const isTls = loser.ref.kind === 'TLSRoute';
  const resource = isTls ? inventory.find('TLSRoute', namespace, name) : inventory.find('TCPRoute', namespace, name);
  if (resource === undefined) return;
  findings.add(resource, {
    code: CODES.routeIdle,
    path: isTls ? 'spec.hostnames' : 'spec.parentRefs',
    message: `the route is idle ${where}: TLSRoute ${objectName(winner.ref)} goes before it`,
    hint: 'one route has each server name: the one that names it most closely, then the older, then the first by name',
  });
}
