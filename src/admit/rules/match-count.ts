/**
 * How many matches a route may have, HTTPRoute and GRPCRoute alike; each kind has a code of its own for it.
 */
import type { GRPCRoute, HTTPRoute } from '../../gateway-api/index.js';
import type { Violate } from './rule.js';

const MAX_MATCHES = 128;

/** Reports a route whose rules have more matches together than the API allows. */
export function checkMatchCount({ spec: { rules = [] } }: HTTPRoute | GRPCRoute, violate: Violate): void {
  let count = 0;
  for (const { matches = [] } of rules) count += matches.length;
  if (count > MAX_MATCHES)
    violate('spec.rules', `${count} matches in all rules, at most ${MAX_MATCHES} are allowed`, 'split the route');
}
