/**
 * Precedence of HTTP matches: which of two that fit a request wins.
 */
import type { IrMatch } from '../ir/ir.js';

/** A match with all that ranks it beside others of its virtual host; hostnames are told apart before. */
export interface RankedMatch {
  readonly match: IrMatch;
  /** Place of the route among those of the listener: 0 is the most senior. */
  readonly seniority: number;
  /** Index of the rule in its route. */
  readonly rule: number;
  /** Index of the match in its rule. */
  readonly index: number;
}

/**
 * Orders matches by precedence, the winner first. Never 0 for two different matches.
 * Exact path, longer prefix, method, more headers, the older route, namespace/name, and the order within the route. Source: HTTPRoute.spec.rules.matches.
 */
export function compareRanked(a: RankedMatch, b: RankedMatch): number {
  return (
    comparePaths(a.match.path, b.match.path) ||
    Number(b.match.method !== undefined) - Number(a.match.method !== undefined) ||
    b.match.headers.length - a.match.headers.length ||
    a.seniority - b.seniority ||
    a.rule - b.rule ||
    a.index - b.index
  );
}

function comparePaths(a: IrMatch['path'], b: IrMatch['path']): number {
  if (a.type !== b.type) return a.type === 'exact' ? -1 : 1;
  return b.value.length - a.value.length;
}
