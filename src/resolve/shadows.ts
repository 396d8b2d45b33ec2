/**
 * Shadowed matches: equal matches on one listener and hostname, of which only the first can ever win.
 * Says who wins and why, so that a tie does not have to be guessed from traffic.
 */
import { hostnameSpecificity } from '../model/hostname.js';
import type { HttpMatch, HttpRoute } from '../model/model.js';
import { objectName } from '../model/object-ref.js';
import { CODES } from './codes.js';
import { type ListenerDraft, listenerText } from './drafts.js';
import type { Findings } from './findings.js';
import type { Inventory } from './inventory.js';
import type { ResolveMemo } from './memo.js';

/** A route under one name of a listener. */
interface Claim {
  readonly route: HttpRoute;
  /** Place among the routes of the listener: 0 is the most senior. */
  readonly seniority: number;
  /** The route's own hostname. */
  readonly original: string;
}

interface Candidate extends Claim {
  readonly rule: number;
  readonly match: HttpMatch;
}

/** Adds one warning for each match that another one hides, on the first listener where it happens. */
export function reportShadows(
  listeners: Iterable<ListenerDraft>,
  inventory: Inventory,
  findings: Findings,
  memo: ResolveMemo,
): void {
  const told = new Set<HttpMatch>();
  for (const listener of listeners) {
    if (memo.isClear(listener.httpAttachments)) continue;
    let isClear = true;
    for (const [hostname, claims] of groupByHostname(listener)) {
      if (claims.length === 1 && countMatches(claims[0]) < 2) continue;
      for (const [winner, ...hidden] of groupBySignature(claims)) {
        if (winner === undefined) continue;
        isClear = false;
        for (const loser of hidden) {
          if (told.has(loser.match)) continue;
          told.add(loser.match);
          report(listener, hostname, winner, loser, inventory, findings);
        }
      }
    }
    if (isClear) memo.noteClear(listener.httpAttachments);
  }
}

function groupByHostname({ httpAttachments }: ListenerDraft): Map<string, Claim[]> {
  const groups = new Map<string, Claim[]>();
  for (const [seniority, { route, hostnames }] of httpAttachments.entries()) {
    for (const { hostname, original } of hostnames) {
      const claim = { route, seniority, original };
      const group = groups.get(hostname);
      if (group === undefined) groups.set(hostname, [claim]);
      else group.push(claim);
    }
  }
  return groups;
}

function countMatches(claim: Claim | undefined): number {
  return claim?.route.rules.reduce((count, { matches }) => count + matches.length, 0) ?? 0;
}

/** Returns the matches that ask for the same as another one, grouped, the winner first. */
function groupBySignature(claims: readonly Claim[]): Candidate[][] {
  const groups = new Map<string, Candidate[]>();
  for (const claim of claims) {
    for (const { index: rule, matches } of claim.route.rules) {
      for (const match of matches) {
        const signature = signatureOf(match);
        const candidate = { ...claim, rule, match };
        const group = groups.get(signature);
        if (group === undefined) groups.set(signature, [candidate]);
        else group.push(candidate);
      }
    }
  }
  const shared = [...groups.values()].filter((group) => group.length > 1);
  for (const group of shared) group.sort(compareCandidates);
  return shared;
}

/** Equal for equal matches only: types and methods hold no line break, values come escaped. */
function signatureOf({ path, method = '', headers, queryParams, grpc }: HttpMatch): string {
  const conditions = headers.length + queryParams.length === 0 ? '' : JSON.stringify([headers, queryParams]);
  return `${grpc === undefined ? '' : 'grpc'}\n${path.type}\n${method}\n${conditions}\n${path.value}`;
}

/** What is left of precedence between equal matches; see `lower/precedence.ts`. */
function compareCandidates(a: Candidate, b: Candidate): number {
  return (
    hostnameSpecificity(b.original) - hostnameSpecificity(a.original) ||
    a.seniority - b.seniority ||
    a.rule - b.rule ||
    a.match.index - b.match.index
  );
}

function report(
  listener: ListenerDraft,
  hostname: string,
  winner: Candidate,
  loser: Candidate,
  inventory: Inventory,
  findings: Findings,
): void {
  const { kind, namespace, name } = loser.route.ref;
  const resource = inventory.find(kind === 'GRPCRoute' ? kind : 'HTTPRoute', namespace, name);
  if (resource === undefined) return;
  const place = `rules[${loser.rule}].matches[${loser.match.index}]`;
  const rival = `rules[${winner.rule}].matches[${winner.match.index}]`;
  const of =
    winner.route === loser.route ? 'of the same route' : `of ${winner.route.ref.kind} ${objectName(winner.route.ref)}`;
  const names = hostname === '' ? 'any hostname' : hostname;
  findings.add(resource, {
    code: CODES.matchShadowed,
    path: `spec.${place}`,
    message: `${place} never wins for ${names} on listener ${listenerText(listener)}: ${rival} ${of} is equal and ${whyWins(winner, loser)}`,
    hint: 'remove one of them, or make it more specific',
  });
}

function whyWins(winner: Candidate, loser: Candidate): string {
  if (winner.route === loser.route) return 'comes first';
  if (hostnameSpecificity(winner.original) > hostnameSpecificity(loser.original)) {
    return 'its route names the hostname more closely';
  }
  const [a, b] = [winner.route.seniority.createdAt, loser.route.seniority.createdAt];
  return a === b ? 'its route comes first by namespace and name' : 'its route is older';
}
