/**
 * Whether a path of the IR fits a request path, and how specific it is. No decoding, case-sensitive.
 * Spec: prefixes match whole elements and their trailing slash is ignored; exact before longest prefix.
 */
import type { IrMatch } from '../ir/ir.js';
import { fitsPattern } from './pattern.js';

type IrPath = IrMatch['path'];

/** True when the request path fits; a query must have been cut off before. */
export function fitsPath(path: IrPath, requested: string): boolean {
  if (path.type === 'exact') return requested === path.value;
  if (path.type === 'regex') return fitsPattern(path.value, requested);
  const prefix = withoutTrailingSlash(path.value);
  return prefix === '' || requested === prefix || requested.startsWith(`${prefix}/`);
}

/** Longer than any path of the API. */
const ABOVE_PREFIXES = 1_000_000;

/** Returns a rank: the higher, the more specific. An exact path, then regular expressions, then prefixes, by length. */
export function pathRank(path: IrPath): number {
  if (path.type === 'exact') return Number.POSITIVE_INFINITY;
  return path.type === 'regex' ? ABOVE_PREFIXES + path.value.length : withoutTrailingSlash(path.value).length;
}

function withoutTrailingSlash(prefix: string): string {
  return prefix.replace(/\/+$/, '');
}
