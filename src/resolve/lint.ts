/**
 * Doubts about a configuration that is valid: things that are there and do nothing.
 */
import { CODES } from './codes.js';
import type { ListenerDraft, Protocol } from './drafts.js';
import type { Findings } from './findings.js';
import type { Parameters } from './parameters.js';

const ANSWERS: Readonly<Record<Protocol, string>> = {
  HTTP: 'every request is answered with 404',
  HTTPS: 'every request is answered with 404',
  TLS: 'every handshake is refused',
  TCP: 'every connection is reset',
  UDP: 'every datagram is dropped',
};

/** Says which listeners are open without a route that could answer. */
export function reportIdleListeners(listeners: Iterable<ListenerDraft>, findings: Findings): void {
  for (const { owner, spec, path, attachedRoutes, sockets, protocol } of listeners) {
    if (attachedRoutes > 0 || sockets.length === 0 || protocol === undefined) continue;
    findings.add(owner, {
      code: CODES.listenerWithoutRoutes,
      subject: { kind: 'listener', name: spec.name },
      path,
      message: `no route is attached, so ${ANSWERS[protocol]}`,
    });
  }
}

/** Says which `WeirgateConfig` nobody names. */
export function reportUnusedConfigs(parameters: Parameters, findings: Findings): void {
  for (const config of parameters.unused()) {
    findings.add(config, {
      code: CODES.configUnused,
      message: 'neither a GatewayClass of ours nor a Gateway names this WeirgateConfig, so it has no effect',
      hint: 'name it in parametersRef of the GatewayClass, or in infrastructure.parametersRef of a Gateway',
    });
  }
}
