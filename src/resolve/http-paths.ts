/**
 * Path modifiers of redirects and rewrites.
 */
import type { PathModifier } from '../gateway-api/index.js';
import type { IrPathChange } from '../ir/ir.js';
import { CODES } from './codes.js';
import { withoutTrailingSlash } from './http-matches.js';
import type { InvalidField } from './rule-faults.js';

/**
 * What may stand in a request line and in `Location`: path characters of RFC 3986, nothing that begins a query or a fragment, and
 * above all no space or line break.
 */
const PATH = /^\/(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9a-fA-F]{2})*$/;

/**
 * Returns the change, or what is wrong with the modifier at `path`. `prefix` is the prefix of the only match of the rule, `undefined`
 * where there is not exactly one that is a prefix. Source: HTTPPathModifier and its table.
 */
export function resolvePathChange(
  { type, replaceFullPath, replacePrefixMatch }: PathModifier,
  prefix: string | undefined,
  path: string,
): IrPathChange | InvalidField {
  if (type === 'ReplaceFullPath') {
    const value = replaceFullPath || '/';
    return PATH.test(value) ? { type: 'full', value } : invalidPath(`${path}.replaceFullPath`, value);
  }
  if (prefix === undefined) {
    return {
      kind: 'invalid',
      code: CODES.pathChangeInvalid,
      reason: 'UnsupportedValue',
      path: `${path}.type`,
      message: `${placeOf(`${path}.type`)} is ReplacePrefixMatch, but the rule has not exactly one match of type PathPrefix`,
      hint: 'give the rule one match with a path of type PathPrefix',
    };
  }
  const value = replacePrefixMatch || '/';
  if (!PATH.test(value)) return invalidPath(`${path}.replacePrefixMatch`, value);
  return { type: 'prefix', prefix, value: withoutTrailingSlash(value) };
}

function invalidPath(path: string, value: string): InvalidField {
  return {
    kind: 'invalid',
    code: CODES.pathChangeInvalid,
    reason: 'UnsupportedValue',
    path,
    message: `${placeOf(path)} is ${JSON.stringify(value)}, which is no path`,
    hint: value.startsWith('/')
      ? 'write characters that a path cannot have as %20 and the like; query and fragment are not part of it'
      : 'a path begins with "/"',
  };
}

function placeOf(path: string): string {
  return path.replace(/^spec\.rules\[\d+\]\./, '');
}
