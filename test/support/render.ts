/**
 * Results of a build as short text that a person can judge. What is as usual is left out, what is not is written in full.
 */
import { stringify } from 'yaml';
import { formatSpan } from '../../src/base/index.js';
import type { Ir, IrBackend, IrListener, IrMatch } from '../../src/ir/ir.js';
import type { BuildResult } from '../../src/pipeline.js';
import { gatewaySettings, processSettings } from '../../src/resolve/settings.js';
import type { Condition, ObjectStatus } from '../../src/status/index.js';

/** One block an object; a condition is `status/reason: message`, and conditions that are as everybody wants them are `ok`. */
export function renderStatus(objects: readonly ObjectStatus[]): string {
  const blocks = objects.map((object) => [`${object.kind} ${nameOf(object)}`, renderBody(object)]);
  return stringify(Object.fromEntries(blocks), { lineWidth: 120 });
}

/** `place severity code object: message (hint)`, a line each. */
export function renderDiagnostics({ diagnostics }: Pick<BuildResult, 'diagnostics'>): string {
  return diagnostics
    .map(({ span, severity, code, object, message, hint }) => {
      const note = hint === '' ? '' : ` (${hint})`;
      return `${formatSpan(span)} ${severity} ${code} ${object}: ${message}${note}\n`;
    })
    .join('');
}

/** Sockets with their listeners and virtual hosts, then the actions that matches name, then the clusters. */
export function renderIr(ir: Ir): string {
  const settings = differences(ir.settings, processSettings(undefined));
  const lines: string[] = settings === '' ? [] : [`settings${settings}`];
  for (const { key, protocol, listeners } of ir.sockets) {
    lines.push(`${key} ${protocol}: ${listeners.map((index) => ir.listeners[index]?.name).join(', ')}`);
  }
  for (const listener of ir.listeners) lines.push('', ...renderListener(listener, ir));
  if (ir.actions.length > 0) lines.push('');
  for (const { name, requestTimeoutMs, backendRequestTimeoutMs, backends } of ir.actions) {
    const timeouts = [
      requestTimeoutMs > 0 ? ` request=${requestTimeoutMs}ms` : '',
      backendRequestTimeoutMs > 0 ? ` backendRequest=${backendRequestTimeoutMs}ms` : '',
    ].join('');
    const targets = backends.map((backend) => renderBackend(backend, ir));
    lines.push(`${name}${timeouts}: ${targets.length === 0 ? 'nothing' : targets.join(', ')}`);
  }
  if (ir.clusters.length > 0) lines.push('');
  for (const { key, endpoints, healthCheck } of ir.clusters) {
    const addresses = endpoints.map(({ ip, port, weight }) => `${ip}:${port}${weight === 1 ? '' : `*${weight}`}`);
    const check = healthCheck === undefined ? '' : ` check=${JSON.stringify(healthCheck)}`;
    lines.push(`${key}: ${addresses.length === 0 ? 'no endpoint' : addresses.join(' ')}${check}`);
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function renderListener(listener: IrListener, ir: Ir): string[] {
  const timeouts = differences(listener.timeouts, gatewaySettings(undefined, undefined).timeouts);
  if (listener.kind === 'tcp') {
    const action = listener.action === undefined ? 'reset' : ir.actions[listener.action]?.name;
    return [`${listener.name}${timeouts} -> ${action}`];
  }
  const trusted = listener.trustedProxies.length === 0 ? '' : ` trusted=${listener.trustedProxies.join(',')}`;
  const lines = [`${listener.name} ${listener.hostname || '*'}${timeouts}${trusted}`];
  for (const { hostname, matches } of listener.virtualHosts) {
    lines.push(`  ${hostname || '*'}`);
    for (const match of matches) lines.push(`    ${renderMatch(match)} -> ${ir.actions[match.action]?.name}`);
  }
  return lines;
}

/** ` name=value` for each field that is not as usual. */
function differences<T extends object>(given: T, usual: T): string {
  return Object.entries(given)
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(usual[name as keyof T]))
    .map(([name, value]) => ` ${name}=${JSON.stringify(value)}`)
    .join('');
}

function renderMatch({ path, method, headers }: IrMatch): string {
  const parts = [path.type === 'exact' ? `=${path.value}` : `${path.value}`];
  if (method !== undefined) parts.push(method);
  parts.push(...headers.map(({ name, value }) => `${name}:${value}`));
  return parts.join(' ');
}

function renderBackend(backend: IrBackend, ir: Ir): string {
  return `${backend.weight}x ${backend.kind === 'cluster' ? ir.clusters[backend.cluster]?.key : backend.status}`;
}

function renderBody({ status }: ObjectStatus): unknown {
  const { conditions, addresses, listeners, parents, ancestors } = status;
  if (parents !== undefined) {
    return parents.map(({ parentRef, conditions: own }) => ({ [renderReference(parentRef)]: renderConditions(own) }));
  }
  if (ancestors !== undefined) {
    return ancestors.map(({ ancestorRef, conditions: own }) => ({
      [renderReference(ancestorRef)]: renderConditions(own),
    }));
  }
  if (listeners === undefined) return renderConditions(conditions ?? []);
  return {
    addresses: addresses?.map(({ value }) => value).join(' '),
    conditions: renderConditions(conditions ?? []),
    listeners: Object.fromEntries(
      listeners.map(({ name, supportedKinds, attachedRoutes, conditions: own }) => [
        `${name} (${supportedKinds.map(({ kind }) => kind).join(' ') || 'no kind'}, ${attachedRoutes} attached)`,
        renderConditions(own),
      ]),
    ),
  };
}

/** `ok`, or the conditions that are not as everybody wants them. */
function renderConditions(conditions: readonly Condition[]): unknown {
  const unusual = conditions.filter(({ type, status, reason }) =>
    type === 'Conflicted' ? status !== 'False' : status !== 'True' || reason !== type,
  );
  if (unusual.length === 0) return 'ok';
  return Object.fromEntries(
    unusual.map(({ type, status, reason, message }) => [
      type,
      `${status}/${reason}${message === '' ? '' : `: ${message}`}`,
    ]),
  );
}

function renderReference({
  kind,
  namespace,
  name,
  sectionName,
  port,
}: Readonly<Record<string, string | number>>): string {
  const owner = namespace === undefined ? name : `${namespace}/${name}`;
  return [kind, owner, sectionName && `section ${sectionName}`, port && `port ${port}`].filter(Boolean).join(' ');
}

function nameOf({ namespace, name }: ObjectStatus): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
