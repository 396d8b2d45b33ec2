/**
 * Whether a hostname of the IR covers a host, and which of two hostnames is more specific. Slow and obvious on purpose.
 * Spec: one or more labels for a wildcard, not the bare domain; GW listener order exact, longer wildcard, shorter, none.
 */

/** Returns the host as names are compared: lower case, without one trailing dot. */
export function foldHost(host: string): string {
  const lower = host.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}

/** True when `hostname` (`''`, `a.b`, `*.b`) covers a folded host. */
export function coversHost(hostname: string, host: string): boolean {
  if (hostname === '') return true;
  if (!hostname.startsWith('*.')) return hostname === host;
  const suffix = hostname.slice(1);
  return host.endsWith(suffix) && host.length > suffix.length;
}

/** Returns a rank: the higher, the more specific. Only hostnames that cover one common host are comparable. */
export function specificity(hostname: string): number {
  if (hostname === '') return 0;
  const labels = hostname.split('.').length;
  return hostname.startsWith('*.') ? labels : labels + 0.5;
}
