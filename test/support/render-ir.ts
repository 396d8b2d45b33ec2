/**
 * An IR as short text that a person can judge. What is as usual is left out.
 */
import type {
  Ir,
  IrAction,
  IrBackend,
  IrCluster,
  IrFilter,
  IrListener,
  IrMatch,
  IrTermination,
  IrValueMatch,
} from '../../src/ir/ir.js';
import { gatewaySettings, processSettings } from '../../src/resolve/settings.js';

/** Sockets with their listeners and virtual hosts, then the actions that matches name, then clusters and certificates. */
export function renderIr(ir: Ir): string {
  const settings = differences(ir.settings, processSettings(undefined));
  const lines: string[] = settings === '' ? [] : [`settings${settings}`];
  for (const { key, protocol, listeners } of ir.sockets) {
    lines.push(`${key} ${protocol}: ${listeners.map((index) => ir.listeners[index]?.name).join(', ')}`);
  }
  for (const listener of ir.listeners) lines.push('', ...renderListener(listener, ir));
  if (ir.actions.length > 0) lines.push('');
  for (const action of ir.actions) lines.push(renderAction(action, ir));
  if (ir.clusters.length > 0) lines.push('');
  for (const cluster of ir.clusters) lines.push(renderCluster(cluster));
  if (ir.certificates.length > 0) lines.push('');
  for (const { key, names } of ir.certificates) lines.push(`${key}: ${names.join(' ') || 'no name'}`);
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function renderListener(listener: IrListener, ir: Ir): string[] {
  const timeouts = differences(listener.timeouts, gatewaySettings(undefined, undefined).timeouts);
  const client =
    listener.clientCertificate === undefined ? '' : ` client=${ir.certificates[listener.clientCertificate]?.key}`;
  if (listener.kind === 'tcp' || listener.kind === 'udp') {
    const nothing = listener.kind === 'tcp' ? 'reset' : 'drop';
    const action = listener.action === undefined ? nothing : ir.actions[listener.action]?.name;
    return [`${listener.name}${timeouts}${client} -> ${action}`];
  }
  const head = `${listener.name} ${listener.hostname || '*'}${timeouts}${client}`;
  if (listener.kind === 'tls') {
    const mode = listener.termination === undefined ? ' passthrough' : renderTermination(listener.termination, ir);
    const routes = listener.routes.map(({ hostname, action }) => `  ${hostname || '*'} -> ${ir.actions[action]?.name}`);
    return [`${head}${mode}`, ...routes];
  }
  const trusted = listener.trustedProxies.length === 0 ? '' : ` trusted=${listener.trustedProxies.join(',')}`;
  const tls = listener.tls === undefined ? '' : renderTermination(listener.tls, ir);
  const lines = [`${head}${trusted}${tls}`];
  for (const { hostname, matches } of listener.virtualHosts) {
    lines.push(`  ${hostname || '*'}`);
    for (const match of matches) lines.push(`    ${renderMatch(match)} -> ${ir.actions[match.action]?.name}`);
  }
  return lines;
}

function renderTermination(termination: IrTermination, ir: Ir): string {
  const { certificates, minVersion, maxVersion, cipherSuites, alpn, clientValidation } = termination;
  const parts = [`tls=${certificates.map((index) => ir.certificates[index]?.key).join(',')}`];
  if (minVersion !== '1.2' || maxVersion !== '1.3') parts.push(`versions=${minVersion}-${maxVersion}`);
  if (cipherSuites.length > 0) parts.push(`ciphers=${cipherSuites.join(',')}`);
  if (alpn.length > 0) parts.push(`alpn=${alpn.join(',')}`);
  if (clientValidation !== undefined) {
    parts.push(`clients=${clientValidation.mode}(${clientValidation.authorities.length} CA)`);
  }
  return ` ${parts.join(' ')}`;
}

/** ` name=value` for each field that is not as usual. */
function differences<T extends object>(given: T, usual: T): string {
  return Object.entries(given)
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(usual[name as keyof T]))
    .map(([name, value]) => ` ${name}=${JSON.stringify(value)}`)
    .join('');
}

const PATH_SIGNS = { exact: '=', prefix: '', regex: '~' } as const;

function renderMatch({ path, method, headers, queryParams, grpc }: IrMatch): string {
  const parts = [`${PATH_SIGNS[path.type]}${path.value}`];
  if (grpc) parts.unshift('grpc');
  if (method !== undefined) parts.push(method);
  parts.push(...headers.map((header) => renderValueMatch(':', header)));
  parts.push(...queryParams.map((parameter) => `?${renderValueMatch('=', parameter)}`));
  return parts.join(' ');
}

function renderValueMatch(separator: string, { name, type, value }: IrValueMatch): string {
  return `${name}${separator}${type === 'regex' ? '~' : ''}${value}`;
}

function renderAction(action: IrAction, ir: Ir): string {
  const { requestTimeoutMs, backendRequestTimeoutMs, retry, sessionPersistence, backends, filters } = action;
  const settings = [
    requestTimeoutMs > 0 ? ` request=${requestTimeoutMs}ms` : '',
    backendRequestTimeoutMs > 0 ? ` backendRequest=${backendRequestTimeoutMs}ms` : '',
    retry === undefined ? '' : ` retry=${JSON.stringify(retry)}`,
    sessionPersistence === undefined ? '' : ` sticky=${JSON.stringify(sessionPersistence)}`,
    ...filters.map((filter) => ` [${renderFilter(filter, ir)}]`),
  ].join('');
  const targets = backends.map((backend) => renderBackend(backend, ir));
  return `${action.name}${settings}: ${targets.length === 0 ? 'nothing' : targets.join(', ')}`;
}

function renderFilter({ kind, ...fields }: IrFilter, ir: Ir): string {
  const texts = Object.entries(fields)
    .filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0))
    .map(
      ([name, value]) => `${name}=${name === 'cluster' ? ir.clusters[value as number]?.key : JSON.stringify(value)}`,
    );
  return [kind, ...texts].join(' ');
}

function renderBackend(backend: IrBackend, ir: Ir): string {
  if (backend.kind === 'invalid') return `${backend.weight}x ${backend.status}`;
  const filters = backend.filters.map((filter) => ` [${renderFilter(filter, ir)}]`).join('');
  return `${backend.weight}x ${ir.clusters[backend.cluster]?.key}${filters}`;
}

function renderCluster({ key, endpoints, healthCheck, protocol, tls }: IrCluster): string {
  const addresses = endpoints.map(({ ip, port, weight }) => `${ip}:${port}${weight === 1 ? '' : `*${weight}`}`);
  const check = healthCheck === undefined ? '' : ` check=${JSON.stringify(healthCheck)}`;
  const spoken = protocol === 'http1' ? '' : ` ${protocol}`;
  const secured = tls === undefined ? '' : ` tls=${renderUpstreamTls(tls)}`;
  return `${key}: ${addresses.length === 0 ? 'no endpoint' : addresses.join(' ')}${spoken}${secured}${check}`;
}

function renderUpstreamTls({ serverName, names, authorities }: NonNullable<IrCluster['tls']>): string {
  const trust = authorities === 'system' ? authorities : `${authorities.length} CA`;
  return `${serverName} (${names.map(({ type, value }) => `${type} ${value}`).join(', ')}; ${trust})`;
}
