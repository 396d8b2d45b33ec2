/**
 * What the table format can say. Resolution has kept everything else out, see `capabilities.ts`: what comes through all the
 * same is a bug above, and a table that silently said less would serve what nobody asked for.
 */
import type { Ir, IrAction, IrCluster, IrListener, IrMatch } from '../ir/ir.js';
import { CompileError } from './compile-error.js';

/** Throws `CompileError` (`bug`) at the first thing that the table cannot say. Cost: one pass. */
export function requireExpressible(ir: Ir): void {
  for (const listener of ir.listeners) {
    refuse(listener.name, inexpressibleOfListener(listener));
    if (listener.kind !== 'http') continue;
    for (const { matches } of listener.virtualHosts) {
      for (const match of matches) refuse(listener.name, inexpressibleOfMatch(match));
    }
  }
  for (const action of ir.actions) refuse(action.name, inexpressibleOfAction(action));
  for (const cluster of ir.clusters) refuse(cluster.key, inexpressibleOfCluster(cluster));
}

function refuse(name: string, what: string | undefined): void {
  if (what !== undefined) throw new CompileError('bug', `${name}: the table cannot express ${what}`);
}

function inexpressibleOfListener(listener: IrListener): string | undefined {
  if (listener.kind === 'tls' || listener.kind === 'udp') return `a ${listener.kind} listener`;
  if (listener.kind === 'http' && listener.tls !== undefined) return 'TLS';
  return listener.clientCertificate === undefined ? undefined : 'a client certificate';
}

function inexpressibleOfMatch({ path, headers, queryParams, grpc }: IrMatch): string | undefined {
  if (path.type === 'regex' || headers.some(({ type }) => type === 'regex')) return 'a regular expression';
  if (queryParams.length > 0) return 'a match on query parameters';
  return grpc ? 'a gRPC match' : undefined;
}

function inexpressibleOfAction({ filters, retry, sessionPersistence, grpc, backends }: IrAction): string | undefined {
  if (filters.length > 0) return `the filter ${filters[0]?.kind}`;
  if (backends.some((backend) => backend.kind === 'cluster' && backend.filters.length > 0))
    return 'filters of a backend';
  if (retry !== undefined) return 'retry';
  if (sessionPersistence !== undefined) return 'session persistence';
  return grpc ? 'gRPC' : undefined;
}

function inexpressibleOfCluster({ protocol, tls }: IrCluster): string | undefined {
  if (tls !== undefined) return 'TLS towards endpoints';
  return protocol === 'http1' ? undefined : protocol;
}
