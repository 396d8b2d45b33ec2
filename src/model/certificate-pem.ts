/**
 * PEM (RFC 7468): labelled blocks of base64 among text that does not matter.
 */
import { err, ok, type Result } from '../base/index.js';

/** One block. */
export interface PemBlock {
  /** `CERTIFICATE`, `PRIVATE KEY`. */
  readonly label: string;
  /** True for the encrypted blocks of old OpenSSL, which say so in headers. */
  readonly isEncrypted: boolean;
  readonly der: Buffer;
}

const BEGIN = /^-----BEGIN ([A-Z0-9][A-Z0-9 ]*)-----\s*$/;
const END = /^-----END ([A-Z0-9][A-Z0-9 ]*)-----\s*$/;
const HEADER = /^[A-Za-z][A-Za-z0-9-]*:/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Width of a line of base64. */
const LINE = /.{1,64}/g;

/**
 * Returns the blocks of a text in their order; text outside of blocks is passed over, as is a byte order mark.
 * The error says which block is broken, and never what is in it. Cost: O(length).
 */
export function parsePem(text: string): Result<readonly PemBlock[], string> {
  const blocks: PemBlock[] = [];
  let open: { readonly label: string; isEncrypted: boolean; readonly lines: string[] } | undefined;
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)) {
    if (open === undefined) {
      const label = BEGIN.exec(line)?.[1];
      if (label !== undefined) open = { label, isEncrypted: false, lines: [] };
      continue;
    }
    const end = END.exec(line)?.[1];
    const place = `${ordinal(blocks.length + 1)} PEM block (${open.label})`;
    if (end === undefined) {
      if (HEADER.test(line)) open.isEncrypted ||= /^Proc-Type:.*ENCRYPTED/.test(line);
      else if (BEGIN.test(line)) return err(`the ${place} has no end`);
      else open.lines.push(line.trim());
      continue;
    }
    const base64 = open.lines.join('');
    if (end !== open.label) return err(`the ${place} ends as ${end}`);
    if (!BASE64.test(base64) || base64.length % 4 !== 0) return err(`the ${place} is not base64`);
    blocks.push({ label: open.label, isEncrypted: open.isEncrypted, der: Buffer.from(base64, 'base64') });
    open = undefined;
  }
  return open === undefined
    ? ok(blocks)
    : err(`the ${ordinal(blocks.length + 1)} PEM block (${open.label}) has no end`);
}

/** Returns the text of one block, lines of 64 characters, with a line break at the end. */
export function formatPem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(LINE) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** Returns `1st`, `2nd`, `13th`. */
export function ordinal(count: number): string {
  const tens = count % 100;
  const suffix = tens >= 11 && tens <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][count % 10] ?? 'th');
  return `${count}${suffix}`;
}
