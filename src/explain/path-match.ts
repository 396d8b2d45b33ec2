/**
 * Whether a path of the IR fits a request path, and how specific it is. No decoding, case-sensitive.
 * Spec: prefixes match whole elements and their trailing slash is ignored; exact before longest prefix.
 */
import type { IrMatch } from '../ir/ir.js';

type IrPath = IrMatch['path'];

/** True when the request path fits; a query must have been cut off before. */
export function fitsPath(path: IrPath, requested: string): boolean {
  if (path.type === 'exact') return requested === path.value;
  const prefix = withoutTrailingSlash(path.value);
  return prefix === '' || requested === prefix || requested.startsWith(`${prefix}/`);
}

/** Returns a rank: the higher, the more specific. */
export function pathRank(path: IrPath): number {
  return path.type === 'exact' ? Number.POSITIVE_INFINITY : withoutTrailingSlash(path.value).length;
}

function withoutTrailingSlash(prefix: string): string {
  return prefix.replace(/\/+$/, '');
}
