/**
 * Rules of HTTPRoute besides paths and filters: number of matches, timeouts, sessions.
 */
import { durationMs, type HTTPRoute } from '../../gateway-api/index.js';
import { eachItem, type Rule, type Violate } from './rule.js';

const MAX_MATCHES = 128;

function checkMatchCount(route: HTTPRoute, violate: Violate): void {
  const count = route.spec.rules.reduce((sum, rule) => sum + rule.matches.length, 0);
  if (count > MAX_MATCHES)
    violate('spec.rules', `${count} matches in all rules, at most ${MAX_MATCHES} are allowed`, 'split the route');
}

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

function checkSessions(route: HTTPRoute, violate: Violate): void {
  eachItem(route.spec.rules, 'spec.rules', ({ sessionPersistence }, rulePath) => {
    if (sessionPersistence === undefined) return;
    const path = `${rulePath}.sessionPersistence`;
    const { type, cookie, header, absoluteTimeout } = sessionPersistence;
    if (type === 'Header' && header === undefined)
      violate(`${path}.header`, 'type Header needs the field header', 'add header with a name');
    if (type === 'Header' && cookie !== undefined)
      violate(`${path}.cookie`, 'cookie belongs to type Cookie', 'remove it');
    if (type === 'Cookie' && header !== undefined)
      violate(`${path}.header`, 'header belongs to type Header', 'remove it, or write type: Header');
    if (cookie?.lifetimeType === 'Permanent' && absoluteTimeout === undefined) {
      violate(
        `${path}.absoluteTimeout`,
        'a permanent cookie needs absoluteTimeout',
        'add absoluteTimeout, or write lifetimeType: Session',
      );
    }
  });
}

/** The rules of HTTPRoute. */
export const HTTP_ROUTE_RULES: readonly Rule<HTTPRoute>[] = [
  { code: 'WG3302', says: 'a route has at most 128 matches', check: checkMatchCount },
  { code: 'WG3303', says: 'one try takes no longer than the request', check: checkTimeouts },
  { code: 'WG3304', says: 'session persistence has the field of its type', check: checkSessions },
];
