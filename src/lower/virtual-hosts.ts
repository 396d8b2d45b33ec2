/**
 * Virtual hosts: the matches of all routes of one listener, merged by hostname and ranked.
 */
import { compareStrings } from '../base/index.js';
import type { IrMatch, IrVirtualHost } from '../ir/ir.js';
import { hostnameSpecificity } from '../model/hostname.js';
import type { HttpAttachment, HttpRule } from '../model/model.js';
import type { ActionBook } from './actions.js';
import type { LowerMemo } from './memo.js';
import { compareRanked, type RankedMatch } from './precedence.js';

interface Draft {
  readonly hostname: string;
  /** Of `hostname`: orders virtual hosts. */
  readonly specificity: number;
  /** Of the routes' own hostnames: orders virtual hosts of one name. */
  readonly tier: number;
  readonly ranked: RankedMatch[];
}

/**
 * Returns the virtual hosts of a listener, the most specific first, each with its matches in order of precedence.
 * Attachments come in order of seniority. Where a listener narrows routes of different hostnames to one name, each of
 * their own hostnames makes a virtual host: its specificity comes before all else, and what the more specific routes do not
 * match falls through to the others. Source: GatewayRouteHostnameIntersectionPrecedence.
 */
export function lowerVirtualHosts(
  attachments: readonly HttpAttachment[],
  book: ActionBook,
  memo: LowerMemo,
): readonly IrVirtualHost[] {
  const base = book.count;
  const known = memo.hosts.get(attachments);
  if (known !== undefined && book.adopt(known.rules)) {
    const hosts = base === known.base ? known.hosts : known.hosts.map((host) => moveActions(host, base - known.base));
    memo.hosts.set(attachments, { ...known, hosts, base });
    return hosts;
  }
  const hosts = mergeHosts(attachments, book);
  const rules = book.rulesFrom(base);
  // Where a rule has its action from another listener, the list alone does not say which one.
  const isOwn = rules.length === new Set(attachments.flatMap(({ route }) => route.rules.filter(hasMatches))).size;
  if (isOwn) memo.hosts.set(attachments, { hosts, rules, base });
  return hosts;
}

function hasMatches({ matches }: HttpRule): boolean {
  return matches.length > 0;
}

function moveActions({ hostname, matches }: IrVirtualHost, distance: number): IrVirtualHost {
  return { hostname, matches: matches.map((match) => ({ ...match, action: match.action + distance })) };
}

function mergeHosts(attachments: readonly HttpAttachment[], book: ActionBook): IrVirtualHost[] {
  const drafts = new Map<string, Draft>();
  for (const [seniority, attachment] of attachments.entries()) {
    for (const { hostname, original } of attachment.hostnames) {
      const tier = hostnameSpecificity(original);
      const key = `${hostname} ${tier}`;
      let draft = drafts.get(key);
      if (draft === undefined) {
        draft = { hostname, specificity: hostnameSpecificity(hostname), tier, ranked: [] };
        drafts.set(key, draft);
      }
      addMatches(draft.ranked, attachment, seniority, book);
    }
  }
  return [...drafts.values()]
    .filter(({ ranked }) => ranked.length > 0)
    .sort(compareDrafts)
    .map(({ hostname, ranked }) => ({
      hostname,
      matches: ranked.sort(compareRanked).map(({ match }) => match),
    }));
}

function compareDrafts(a: Draft, b: Draft): number {
  return b.specificity - a.specificity || compareStrings(a.hostname, b.hostname) || b.tier - a.tier;
}

function addMatches(ranked: RankedMatch[], { route }: HttpAttachment, seniority: number, book: ActionBook): void {
  for (const rule of route.rules) {
    for (const { index, path, method, headers, queryParams, grpc } of rule.matches) {
      const action = book.httpAction(route, rule);
      const match: IrMatch = { path, method, headers, queryParams, grpc: grpc !== undefined, action };
      ranked.push({ match, grpc, seniority, rule: rule.index, index });
    }
  }
}
