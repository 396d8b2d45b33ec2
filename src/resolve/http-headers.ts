/**
 * Header modifiers: which fields of requests and answers may be changed, and how.
 */
import type { HeaderModifier } from '../gateway-api/index.js';
import type { IrHeaderFilter } from '../ir/ir.js';
import { CODES } from './codes.js';
import type { InvalidField } from './rule-faults.js';

/**
 * Fields that say where a message ends, how the connection goes on, or whom it is for. One that a filter could change would make two
 * peers disagree about the next request (RFC 9110 §7.6.1, RFC 9112 §6); `Host` has a filter of its own.
 */
const FRAMING: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Returns the filter, or what is wrong with the modifier at `path`. Source: HTTPHeaderFilter. */
export function resolveHeaderModifier(
  kind: IrHeaderFilter['kind'],
  { set = [], add = [], remove = [] }: HeaderModifier,
  path: string,
): IrHeaderFilter | InvalidField {
  const names = new Set<string>();
  const actions = [
    ...set.map(({ name }, index) => ({ name, path: `${path}.set[${index}].name` })),
    ...add.map(({ name }, index) => ({ name, path: `${path}.add[${index}].name` })),
    ...remove.map((name, index) => ({ name, path: `${path}.remove[${index}]` })),
  ];
  for (const action of actions) {
    const name = action.name.toLowerCase();
    const fault = faultOf(name, kind, names);
    if (fault !== undefined) return invalidHeader(action.path, action.name, fault);
    names.add(name);
  }
  const lower = ({ name, value }: { readonly name: string; readonly value: string }) => ({
    name: name.toLowerCase(),
    value,
  });
  return { kind, set: set.map(lower), add: add.map(lower), remove: remove.map((name) => name.toLowerCase()) };
}

interface HeaderFault {
  /** Completes "filters[0].requestHeaderModifier.set[0].name is x-a, …". */
  readonly message: string;
  readonly hint: string;
}

function faultOf(name: string, kind: IrHeaderFilter['kind'], seen: ReadonlySet<string>): HeaderFault | undefined {
  if (seen.has(name)) {
    return {
      message: 'which the filter changes already; case does not matter',
      hint: 'one action for each header name: put several values into one, separated by commas',
    };
  }
  if (FRAMING.has(name)) {
    return { message: 'which belongs to the connection and is not to be changed', hint: 'remove this entry' };
  }
  if (name === 'host' && kind === 'requestHeaders') {
    return { message: 'which no header filter may change', hint: 'use the filter URLRewrite with hostname' };
  }
  return undefined;
}

function invalidHeader(path: string, name: string, { message, hint }: HeaderFault): InvalidField {
  const place = path.replace(/^spec\.rules\[\d+\]\./, '');
  return {
    kind: 'invalid',
    code: CODES.headerActionInvalid,
    reason: 'UnsupportedValue',
    path,
    message: `${place} is "${name}", ${message}`,
    hint,
  };
}
