/**
 * Rules of HTTPRoute besides paths and filters: number of matches, timeouts.
 */
import { durationMs, type HTTPRoute } from '../../gateway-api/index.js';
import { checkMatchCount } from './match-count.js';
import { eachItem, type Rule, type Violate } from './rule.js';

function checkTimeouts(route: HTTPRoute, violate: Violate): void {
  eachItem(route.spec.rules, 'spec.rules', ({ timeouts }, path) => {
    if (timeouts?.request === undefined || timeouts.backendRequest === undefined) return;
    const request = durationMs(timeouts.request);
    if (request === 0 || durationMs(timeouts.backendRequest) <= request) return;
    violate(
      `${path}.timeouts.backendRequest`,
      `backendRequest ${timeouts.backendRequest} is longer than request ${timeouts.request}`,
      'one try cannot take longer than the whole request',
    );
  });
}

/** The rules of HTTPRoute. */
export const HTTP_ROUTE_RULES: readonly Rule<HTTPRoute>[] = [
  { code: 'WG3302', says: 'a route has at most 128 matches', check: checkMatchCount },
  { code: 'WG3303', says: 'one try takes no longer than the request', check: checkTimeouts },
];
