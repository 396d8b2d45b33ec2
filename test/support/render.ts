/**
 * Results of a build as short text that a person can judge. What is as usual is left out, what is not is written in full.
 */
import { stringify } from 'yaml';
import { formatSpan } from '../../src/base/index.js';
import type { Ir, IrBackend, IrListener, IrMatch } from '../../src/ir/ir.js';
import type { BuildResult } from '../../src/pipeline.js';
import type { Condition, ObjectStatus } from '../../src/status/index.js';

/** One block an object; a condition is `status/reason`, with its message where it has one. */
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
  const lines: string[] = [];
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
  if (listener.kind === 'tcp') {
    return [`${listener.name} -> ${listener.action === undefined ? 'reset' : ir.actions[listener.action]?.name}`];
  }
  const lines = [`${listener.name} ${listener.hostname || '*'}`];
  for (const { hostname, matches } of listener.virtualHosts) {
    lines.push(`  ${hostname || '*'}`);
    for (const match of matches) lines.push(`    ${renderMatch(match)} -> ${ir.actions[match.action]?.name}`);
  }
  return lines;
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
  return {
    ...(addresses && { addresses: addresses.map(({ value }) => value).join(' ') }),
    ...(conditions && renderConditions(conditions)),
    ...(listeners && {
      listeners: Object.fromEntries(
        listeners.map(({ name, supportedKinds, attachedRoutes, conditions: own }) => [
          name,
          {
            kinds: supportedKinds.map(({ kind }) => kind).join(' '),
            attachedRoutes,
            ...renderConditions(own.filter(({ reason }) => reason !== 'NoConflicts')),
          },
        ]),
      ),
    }),
    ...(parents && {
      parents: parents.map(({ parentRef, conditions: own }) => ({
        parent: renderReference(parentRef),
        ...renderConditions(own),
      })),
    }),
    ...(ancestors && {
      ancestors: ancestors.map(({ ancestorRef, conditions: own }) => ({
        ancestor: renderReference(ancestorRef),
        ...renderConditions(own),
      })),
    }),
  };
}

function renderConditions(conditions: readonly Condition[]): Record<string, string> {
  return Object.fromEntries(
    conditions.map(({ type, status, reason, message }) => [
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
