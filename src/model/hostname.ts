/**
 * Hostnames of listeners and routes: how they cover, intersect and outrank one another.
 * Notation everywhere: lower case, no trailing dot; `''` any name; `*.example.com` one or more labels before the suffix.
 */

/** The hostname that stands for every name: a listener or route that gives none. */
export const ANY_HOSTNAME = '';

/** True for `*.example.com`. */
export function isWildcard(hostname: string): boolean {
  return hostname.startsWith('*.');
}

/**
 * True when every name that `narrow` stands for also belongs to `wide`.
 * `*.example.com` covers `a.b.example.com` and `*.b.example.com`, never `example.com`. Cost: O(length).
 */
export function coversHostname(wide: string, narrow: string): boolean {
  if (wide === ANY_HOSTNAME || wide === narrow) return true;
  if (narrow === ANY_HOSTNAME || !isWildcard(wide)) return false;
  const suffix = wide.slice(1);
  return narrow.length > suffix.length && narrow.endsWith(suffix);
}

/**
 * Returns the names that a listener hostname and a route hostname have in common; `undefined` when there are none.
 * The result is always one of the two. Source: HTTPRoute.spec.hostnames and Listener.hostname, both directions.
 */
export function intersectHostnames(a: string, b: string): string | undefined {
  if (coversHostname(a, b)) return b;
  return coversHostname(b, a) ? a : undefined;
}

/**
 * Ranks hostnames that cover one request by how closely they name it: the higher number is more specific.
 * Exact before wildcard before any; a wildcard with more labels before one with fewer.
 * Source: Gateway.spec.listeners ("the number of dots to the right of the wildcard"), HTTPRoute.spec.hostnames.
 */
export function hostnameSpecificity(hostname: string): number {
  if (hostname === ANY_HOSTNAME) return 0;
  if (!isWildcard(hostname)) return EXACT;
  let dots = 0;
  for (let at = hostname.indexOf('.'); at >= 0; at = hostname.indexOf('.', at + 1)) dots += 1;
  return dots;
}

/** Above any number of dots: a hostname has at most 253 characters. */
const EXACT = 256;
