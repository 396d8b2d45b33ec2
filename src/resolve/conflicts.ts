/**
 * Conflicts: every flow must lead to exactly one listener. Two regimes decide what becomes of listeners that claim the same.
 * Listeners of Gateways: all of them lose, within one Gateway and over all Gateways that share an address and port.
 * Listeners of ListenerSets: Gateways come first, then the older set, then the first by namespace and name; within one set all lose.
 * What has lost blocks nobody else. Source: Gateway.spec.listeners, "Handling indistinct Listeners"; ListenerSet.spec.listeners.
 */
import { objectName } from '../model/object-ref.js';
import { type Claim, Claims, MAX_RIVALS, type Rivals } from './claims.js';
import { CODES } from './codes.js';
import type { ConflictReason, GatewayDraft, ListenerDraft, ListenerSetDraft } from './drafts.js';
import { type Findings, isFalse, isTrue } from './findings.js';

/**
 * Marks all indistinct listeners of the Gateways and says with which others they collide. Returns the claims of the distinct ones.
 * Cost: O(listeners × addresses).
 */
export function resolveGatewayConflicts(gateways: readonly GatewayDraft[], findings: Findings): Claims {
  const claims = gateways.flatMap(({ listeners }) => listeners.map(claimOf));
  return claimsOf(withoutEquals(claims, findings));
}

/**
 * Marks the listeners of ListenerSets that collide with a claim that comes before, then those left that collide within their set; adds
 * those that win to `winners`. The sets come in order of seniority. Cost: O(listeners × addresses).
 */
export function resolveSetConflicts(sets: readonly ListenerSetDraft[], winners: Claims, findings: Findings): void {
  for (const { listeners } of sets) {
    const free = listeners.map(claimOf).filter((claim) => {
      const rivals = winners.rivals(claim);
      if (rivals !== undefined) report(claim.listener, { rivals, comeFirst: true }, findings);
      return rivals === undefined;
    });
    for (const claim of withoutEquals(free, findings)) winners.add(claim);
  }
}

/** Marks the claims that collide among themselves; returns the others. */
function withoutEquals(claims: readonly Claim[], findings: Findings): Claim[] {
  const all = claimsOf(claims);
  return claims.filter((claim) => {
    const rivals = all.rivals(claim);
    if (rivals !== undefined) report(claim.listener, { rivals, comeFirst: false }, findings);
    return rivals === undefined;
  });
}

function claimOf(listener: ListenerDraft): Claim {
  const { accepted, binds, name } = listener.gateway;
  // A Gateway that opens nothing disturbs nobody else, but its listeners must be distinct among themselves.
  return { listener, addresses: accepted && binds.length > 0 ? binds : [name] };
}

function claimsOf(list: readonly Claim[]): Claims {
  const claims = new Claims();
  for (const claim of list) claims.add(claim);
  return claims;
}

/** All that stands in the way of a listener. */
interface Opponents {
  readonly rivals: Rivals;
  /** False: they lose as well. */
  readonly comeFirst: boolean;
}

function report(listener: ListenerDraft, opponents: Opponents, findings: Findings): void {
  const { owner, spec, path } = listener;
  const reason = reasonOf(listener, opponents.rivals);
  const details = {
    code: owner.kind === 'ListenerSet' ? CODES.setListenerConflict : CODES.listenersConflict,
    subject: { kind: 'listener', name: spec.name },
    path: `${path}.port`,
    message: messageOf(listener, opponents),
  } as const;
  listener.conflict = reason;
  findings.add(owner, {
    ...details,
    condition: isTrue('Conflicted', reason),
    hint: opponents.comeFirst
      ? hintForLoser(listener, opponents.rivals)
      : 'no listener of a conflict is served; give each its own port, hostname or address',
  });
  if (!listener.accepted) return;
  listener.accepted = false;
  findings.add(owner, { ...details, severity: 'summary', condition: isFalse('Accepted', reason) });
}

/** A conflict of both kinds is a ListenerConflict, for which only entries of ListenerSets have a word. */
function reasonOf({ owner, protocol }: ListenerDraft, { ofPort, ofHostname }: Rivals): ConflictReason {
  const isOfHostname = ofHostname.some(({ listener }) => listener.protocol === protocol);
  const isOfProtocol = ofPort.length > 0 || ofHostname.some(({ listener }) => listener.protocol !== protocol);
  if (isOfProtocol && isOfHostname && owner.kind === 'ListenerSet') return 'ListenerConflict';
  return isOfProtocol ? 'ProtocolConflict' : 'HostnameConflict';
}

function messageOf(listener: ListenerDraft, { rivals, comeFirst }: Opponents): string {
  const { hostname, spec } = listener;
  const say = comeFirst ? takenText : claimedText;
  const port = `port ${spec.port}`;
  const name = `${hostname === '' ? 'every hostname' : `hostname ${hostname}`} on ${port}`;
  const parts = [say(listener, port, rivals.ofPort), say(listener, name, rivals.ofHostname)];
  return parts.filter((part) => part !== '').join('; ');
}

function claimedText(listener: ListenerDraft, what: string, rivals: readonly Claim[]): string {
  if (rivals.length === 0) return '';
  const others = namesOf(rivals, (rival) => equalText(listener, rival));
  return `${what} is claimed by ${others}${rivals.length >= MAX_RIVALS ? ' and maybe more' : ''} as well`;
}

function takenText(listener: ListenerDraft, what: string, [first]: readonly Claim[]): string {
  return first === undefined ? '' : `${what} is taken by ${winnerText(listener, first.listener)}, which comes first`;
}

function namesOf(rivals: readonly Claim[], text: (rival: ListenerDraft) => string): string {
  return rivals
    .map(({ listener }) => text(listener))
    .sort()
    .join(', ');
}

function equalText(own: ListenerDraft, rival: ListenerDraft): string {
  const owner = own.owner === rival.owner ? '' : ` of ${ownerText(rival)}`;
  return `listener "${rival.spec.name}"${owner} (${rival.spec.protocol})`;
}

/**
 * Whoever wrote the set may know its own namespace and its own Gateway. Names of others are not for the status, which they could not
 * read otherwise. Source: ListenerSet.spec.listeners, "be cautious about what information from the parent or siblings are reported".
 */
function winnerText(own: ListenerDraft, winner: ListenerDraft): string {
  if (!isHidden(own, winner)) return equalText(own, winner);
  if (winner.owner === own.gateway.resource) return `a listener of Gateway ${own.gateway.name}`;
  return `a listener of another ${winner.owner.kind}`;
}

function isHidden(own: ListenerDraft, rival: ListenerDraft): boolean {
  return own.owner.metadata.namespace !== rival.owner.metadata.namespace;
}

/** Hints are for `check`, whose reader has all the files: here everything may be named. */
function hintForLoser(listener: ListenerDraft, { ofPort, ofHostname }: Rivals): string {
  const [winner] = [...ofPort, ...ofHostname];
  const isNamed = winner === undefined || !isHidden(listener, winner.listener);
  const who = isNamed ? '' : `it is listener "${winner.listener.spec.name}" of ${ownerText(winner.listener)}; `;
  return `${who}the Gateway comes before its ListenerSets, an older ListenerSet before a younger one`;
}

function ownerText({ owner }: ListenerDraft): string {
  return `${owner.kind} ${objectName(owner.metadata)}`;
}
