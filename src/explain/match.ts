/**
 * Whether a match of the IR fits a request, how it ranks beside others, and both in words. Slow and obvious on purpose.
 */
import type { IrMatch, IrValueMatch } from '../ir/ir.js';
import type { ExplainedRequest } from './explain.js';
import { fitsPath, pathRank } from './path-match.js';
import { fitsPattern } from './pattern.js';

/** Why a match does not fit a request, in words; `undefined` when it does. */
export function whyNot(match: IrMatch, request: ExplainedRequest): string | undefined {
  if (match.grpc && !isGrpc(request)) return 'the request is not gRPC: its content-type is not application/grpc';
  if (!fitsPath(match.path, request.path)) return `the path is ${request.path}`;
  if (match.method !== undefined && match.method !== request.method) return `the method is ${request.method}`;
  for (const header of match.headers) {
    const sent = headerOf(request, header.name);
    const why = whyNotValue(header, sent, `header ${header.name}`);
    if (why !== undefined) return why;
  }
  for (const parameter of match.queryParams) {
    const sent = queryValue(request.query, parameter.name);
    const why = whyNotValue(parameter, sent, `query parameter ${parameter.name}`);
    if (why !== undefined) return why;
  }
  return undefined;
}

/**
 * Orders matches of one virtual host that fit one request, the winner first; 0: the order of the IR decides.
 * gRPC before HTTP, an exact path before a regular expression before prefixes, the longer before the shorter.
 */
export function compareMatches(a: IrMatch, b: IrMatch): number {
  if (a.grpc || b.grpc) return Number(b.grpc) - Number(a.grpc);
  const [rankA, rankB] = [pathRank(a.path), pathRank(b.path)];
  return rankA === rankB ? 0 : rankA < rankB ? 1 : -1;
}

/** Returns a match in words: `GET exact /a, header x=1, query debug=1`. */
export function describeMatch({ path, method, headers, queryParams, grpc }: IrMatch): string {
  const conditions = [
    ...headers.map((header) => `, header ${describeValue(header)}`),
    ...queryParams.map((parameter) => `, query ${describeValue(parameter)}`),
  ].join('');
  return `${grpc ? 'gRPC ' : ''}${method ?? 'any method'} ${path.type} ${path.value}${conditions}`;
}

function describeValue({ name, type, value }: IrValueMatch): string {
  return `${name}${type === 'regex' ? '~' : '='}${value}`;
}

function whyNotValue({ type, value }: IrValueMatch, sent: string | undefined, what: string): string | undefined {
  if (sent === undefined) return `the request has no ${what}`;
  const fits = type === 'regex' ? fitsPattern(value, sent) : sent === value;
  return fits ? undefined : `the ${what} is ${sent}`;
}

/** RFC 9113 and the gRPC protocol: `application/grpc`, with `+proto` and the like, with parameters. */
function isGrpc(request: ExplainedRequest): boolean {
  return /^application\/grpc(?:[+;]|$)/i.test(headerOf(request, 'content-type') ?? '');
}

function headerOf({ headers }: ExplainedRequest, name: string): string | undefined {
  return headers.find(([field]) => field.toLowerCase() === name)?.[1];
}

/** Returns the first value of a parameter, decoded; a parameter without `=` has the value `''`. */
function queryValue(query: string, name: string): string | undefined {
  return new URLSearchParams(query).get(name) ?? undefined;
}
