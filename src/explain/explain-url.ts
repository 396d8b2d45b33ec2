/**
 * From a URL, as a client would type it, to the sockets that it may reach and the decision at each.
 */
import { err, ok, type Result } from '../base/index.js';
import type { Ir, IrSocket } from '../ir/ir.js';
import { type Decision, type ExplainedRequest, explainRequest } from './explain.js';
import { explainStream, explainTls, type StreamDecision, type TlsDecision } from './explain-tls.js';

/** What a client sends, and where to. */
export interface ExplainedUrl {
  readonly scheme: 'http' | 'https' | 'tls' | 'tcp' | 'udp';
  /** As the client writes it, brackets and all but without port. */
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly query: string;
}

/** A question to an IR. */
export interface Question {
  readonly method: string;
  readonly url: ExplainedUrl;
  readonly headers: ExplainedRequest['headers'];
  /** `undefined`: the host of the URL, none for an address. */
  readonly serverName: string | undefined;
  /** Only sockets of this address; `undefined`: all. */
  readonly address: string | undefined;
}

/** The answer at one socket. */
export interface Answer {
  readonly socket: string;
  readonly decision: Decision | TlsDecision | StreamDecision | Mismatch;
}

/** The socket does not speak what the URL asks for. */
export interface Mismatch {
  readonly kind: 'mismatch';
  /** Completes "the socket …". */
  readonly why: string;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443, tls: 443 };

/** Reads a URL: `https://shop.example.com/a?b`, `tcp://host:5432`. The path stays as it is written. Errors are sentences. */
export function parseUrl(text: string): Result<ExplainedUrl, string> {
  const parts = /^([a-z]+):\/\/(\[[0-9a-f:.]+\]|[^/?#:@]*)(?::(\d{1,5}))?(\/[^?#\s]*)?(?:\?([^#\s]*))?(?:#.*)?$/i.exec(
    text,
  );
  if (parts === null) return err(`"${text}" is no URL; write one such as https://shop.example.com/cart?id=7`);
  const scheme = (parts[1] ?? '').toLowerCase();
  if (!isScheme(scheme)) return err(`the scheme ${scheme} is none of http, https, tls, tcp, udp`);
  const host = parts[2] ?? '';
  const port = parts[3] === undefined ? DEFAULT_PORTS[scheme] : Number(parts[3]);
  if (port === undefined) return err(`${scheme} has no well-known port; write ${scheme}://${host || 'HOST'}:PORT`);
  if (port < 1 || port > 65_535) return err(`the port ${port} is not between 1 and 65535`);
  return ok({ scheme, host, port, path: parts[4] ?? '/', query: parts[5] ?? '' });
}

/** Returns the answer at every socket of the port, in order of their keys; none: nothing listens there. */
export function explainUrl(ir: Ir, question: Question): Answer[] {
  const { url, address } = question;
  const transport = url.scheme === 'udp' ? 'udp' : 'tcp';
  return ir.sockets
    .filter((socket) => socket.port === url.port && socket.transport === transport)
    .filter(({ ip }) => address === undefined || ip === address)
    .map((socket) => ({ socket: socket.key, decision: decide(ir, socket, question) }));
}

function decide(ir: Ir, socket: IrSocket, question: Question): Answer['decision'] {
  const { scheme } = question.url;
  switch (socket.protocol) {
    case 'tcp':
    case 'udp':
      return explainStream(ir, socket);
    case 'http':
      if (scheme !== 'http') return { kind: 'mismatch', why: 'speaks HTTP in clear text: ask for an http URL' };
      if (question.method === 'CONNECT') return { kind: 'mismatch', why: 'answers CONNECT with 501' };
      return explainRequest(ir, socket, requestOf(question));
    case 'tls':
      if (scheme !== 'https' && scheme !== 'tls') return { kind: 'mismatch', why: 'speaks TLS: ask for an https URL' };
      return explainTls(ir, socket, serverNameOf(question), requestOf(question));
  }
}

/** A `host` field of the question goes before the host of the URL, as with curl. */
function requestOf({ method, url, headers }: Question): ExplainedRequest {
  const named = headers.find(([name]) => name.toLowerCase() === 'host')?.[1];
  const host = named === undefined ? url.host : named.replace(/:\d*$/, '');
  return { method, host, path: url.path, query: url.query, headers };
}

/** Clients send no server name for an address (RFC 6066 §3). */
function serverNameOf({ serverName, url }: Question): string {
  if (serverName !== undefined) return serverName;
  return /^\[|^[\d.]+$/.test(url.host) ? '' : url.host;
}

function isScheme(text: string): text is ExplainedUrl['scheme'] {
  return text === 'http' || text === 'https' || text === 'tls' || text === 'tcp' || text === 'udp';
}
