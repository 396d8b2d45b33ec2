/**
 * Precedence of HTTP matches: which of two that fit a request wins.
 */
import type { IrMatch } from '../ir/ir.js';
import type { HttpMatch } from '../model/model.js';

/** A match with all that ranks it beside others of its virtual host; hostnames are told apart before. */
export interface RankedMatch {
  readonly match: IrMatch;
  /** See `HttpMatch.grpc`. */
  readonly grpc: HttpMatch['grpc'];
  /** Place of the route among those of the listener: 0 is the most senior. */
  readonly seniority: number;
  /** Index of the rule in its route. */
  readonly rule: number;
  /** Index of the match in its rule. */
  readonly index: number;
}

/**
 * Orders matches by precedence, the winner first. Never 0 for two different matches.
 * gRPC: characters of the service, of the method, more headers. HTTP: exact path, regular expression (the longer), longer prefix, method,
 * more headers, more query parameters. Then the older route, namespace/name, and the order within the route.
 * gRPC matches take gRPC requests only, so they go before those of HTTP, which take all. Sources: HTTPRoute.spec.rules.matches,
 * GRPCRoute.spec.rules.matches.
 */
export function compareRanked(a: RankedMatch, b: RankedMatch): number {
  return (
    Number(b.match.grpc) - Number(a.match.grpc) ||
    compareTargets(a, b) ||
    b.match.headers.length - a.match.headers.length ||
    b.match.queryParams.length - a.match.queryParams.length ||
    a.seniority - b.seniority ||
    a.rule - b.rule ||
    a.index - b.index
  );
}

function compareTargets(a: RankedMatch, b: RankedMatch): number {
  if (a.grpc !== undefined && b.grpc !== undefined) {
    return b.grpc.service - a.grpc.service || b.grpc.method - a.grpc.method;
  }
  return (
    comparePaths(a.match.path, b.match.path) ||
    Number(b.match.method !== undefined) - Number(a.match.method !== undefined)
  );
}

const PATH_RANKS: Readonly<Record<IrMatch['path']['type'], number>> = { exact: 0, regex: 1, prefix: 2 };

function comparePaths(a: IrMatch['path'], b: IrMatch['path']): number {
  return PATH_RANKS[a.type] - PATH_RANKS[b.type] || (a.type === 'exact' ? 0 : b.value.length - a.value.length);
}
