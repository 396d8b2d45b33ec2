/**
 * Address and port as one text.
 */

/** Returns `10.0.0.1:80` or `[2001:db8::1]:80`. */
export function formatAddress(ip: string, port: number): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}
