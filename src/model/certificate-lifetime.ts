/**
 * Whether a certificate holds now and for how long, for whoever has a clock.
 */
import type { Lifetime } from './certificate.js';

const DAY_MS = 86_400_000;

/** Certificates that renew themselves have done so long before: whoever comes this close has forgotten, or renewal has failed. */
const EXPIRY_WARNING_DAYS = 14;

/**
 * Returns the end of a sentence about a certificate that does not hold now or soon does not ("expired 3 days ago, on …"); `undefined`
 * when it is well. `now` is in milliseconds since 1970.
 */
export function lifetimeDoubt({ notBefore, notAfter }: Lifetime, now: number): string | undefined {
  if (now > notAfter) return `expired ${days(now - notAfter)} ago, on ${dateText(notAfter)}`;
  if (now < notBefore) return `holds only in ${days(notBefore - now)}, from ${dateText(notBefore)} on`;
  if (notAfter - now >= EXPIRY_WARNING_DAYS * DAY_MS) return undefined;
  return `expires in ${days(notAfter - now)}, on ${dateText(notAfter)}`;
}

function days(milliseconds: number): string {
  const count = Math.floor(milliseconds / DAY_MS);
  if (count < 1) return 'less than a day';
  return count === 1 ? '1 day' : `${count} days`;
}

function dateText(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
