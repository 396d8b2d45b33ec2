/**
 * Resolution: resources in, model and findings out. Never throws for what a user wrote, never stops at the first fault.
 * Serves `status/` and `lower/`; reads no clock, file or environment.
 */
import type { Snapshot } from '../admit/snapshot.js';
import type { Capabilities } from '../model/capabilities.js';
import type { Finding } from '../model/finding.js';
import type { Model, ServedListener } from '../model/model.js';
import { BackendPolicies } from './backend-policies.js';
import { BackendReferences } from './backend-refs.js';
import { Certificates } from './certificates.js';
import type { Context } from './context.js';
import type { ListenerDraft } from './drafts.js';
import type { Facts } from './facts.js';
import { Findings, refOf } from './findings.js';
import { reportClass, resolveClasses } from './gateway-classes.js';
import { reportGateways, resolveGateways } from './gateways.js';
import { resolveHttpRoutes } from './http-routes.js';
import { Inventory } from './inventory.js';
import { reportIdleListeners, reportUnusedConfigs } from './lint.js';
import { ResolveMemo } from './memo.js';
import { Parameters } from './parameters.js';
import { ReferenceGrants } from './reference-grants.js';
import { reportServerNames } from './server-names.js';
import { reportShadows } from './shadows.js';
import { resolveStreamRoutes } from './stream-routes.js';
import { reportCertificateNames } from './tls-lint.js';
import { reportTlsOverlaps } from './tls-overlaps.js';

/** What resolution yields. Equal snapshots and facts give equal results, whatever the order of files. */
export interface Resolution {
  readonly model: Model;
  readonly findings: readonly Finding[];
}

/**
 * Resolves a snapshot for a data plane that has the given capabilities. `memo` remembers what can be taken over the next time; the result
 * is the same whatever it holds. Cost: O(resources × log resources) and the attachments of the routes; of routes that are the very objects
 * of the last time, and whose parents and backends are as they were, a look-up each.
 */
export function resolve(
  snapshot: Snapshot,
  facts: Facts,
  capabilities: Capabilities,
  memo: ResolveMemo = new ResolveMemo(),
): Resolution {
  const findings = new Findings();
  const inventory = new Inventory(snapshot);
  memo.begin(inventory, capabilities);
  const parameters = new Parameters(inventory);
  const grants = new ReferenceGrants(inventory);
  const certificates = new Certificates(inventory, grants);
  const context: Context = { inventory, facts, capabilities, parameters, grants, certificates, findings };
  const classes = resolveClasses(inventory, parameters, findings);
  const gateways = resolveGateways(context, classes);
  const policies = new BackendPolicies(context);
  const references = new BackendReferences(context, policies, memo);
  const routeContext = { ...context, gateways, references, policies, memo };
  const routes = [...resolveHttpRoutes(routeContext), ...resolveStreamRoutes(routeContext)];
  references.keep();
  const { listeners } = gateways;
  memo.settle(listeners);
  reportTlsOverlaps(listeners, findings);
  reportCertificateNames(listeners, findings);
  reportShadows(listeners, inventory, findings, memo);
  reportServerNames(listeners, inventory, findings);
  reportIdleListeners(listeners, findings);
  reportUnusedConfigs(parameters, findings);
  grants.reportUnused(findings);
  certificates.reportUnused(findings);
  const model: Model = {
    settings: classes.settings,
    classes: classes.ours.map((ours) => reportClass(ours, capabilities)),
    ...reportGateways(gateways),
    routes,
    backends: [...inventory.all('Backend')].map((resource) => ({
      ref: refOf(resource),
      generation: resource.metadata.generation,
    })),
    policies: policies.report(),
    listeners: listeners.flatMap((listener) => serve(listener) ?? []),
    assignedAddresses: gateways.assignedAddresses,
  };
  return { model, findings: findings.list };
}

function serve(listener: ListenerDraft): ServedListener | undefined {
  const { name, sockets, gateway, hostname, spec, termination, httpAttachments, streamAttachments, streamRoute } =
    listener;
  if (sockets.length === 0) return undefined;
  const base = { name, sockets, settings: gateway.settings, clientCertificate: gateway.clientCertificate };
  switch (listener.protocol) {
    case 'HTTP':
    case 'HTTPS':
      return { ...base, kind: 'http', hostname, port: spec.port, tls: termination, attachments: httpAttachments };
    case 'TLS':
      return { ...base, kind: 'tls', hostname, termination, attachments: streamAttachments, route: streamRoute };
    case 'TCP':
      return { ...base, kind: 'tcp', route: streamRoute };
    case 'UDP':
      return { ...base, kind: 'udp', route: streamRoute };
    default:
      return undefined;
  }
}
