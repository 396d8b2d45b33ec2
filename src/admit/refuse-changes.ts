/**
 * Rules about two states of one object, which an API server judges at an update. Files have one state: the other one is what serves.
 */
import { compareDiagnostics, type Diagnostic } from '../base/index.js';
import { type GatewayClass, objectLabel, type Resource, spanAt } from '../gateway-api/index.js';
import type { Snapshot } from './snapshot.js';

/**
 * Returns the snapshot without the objects in which something changed that must not, and says so.
 * An object that goes and comes back in a later snapshot is a new one. Source: GatewayClass.spec.controllerName.
 * Cost: O(resources of both).
 */
export function refuseChanges(serving: Iterable<Resource>, snapshot: Snapshot): Snapshot {
  const controllers = new Map<string, string>();
  for (const resource of serving) {
    if (resource.kind === 'GatewayClass') controllers.set(resource.metadata.name, resource.spec.controllerName);
  }
  if (controllers.size === 0) return snapshot;
  const refused = new Set(snapshot.refused);
  const diagnostics: Diagnostic[] = [];
  const resources = snapshot.resources.filter((resource) => {
    const former = resource.kind === 'GatewayClass' ? controllers.get(resource.metadata.name) : undefined;
    if (resource.kind !== 'GatewayClass' || former === undefined || former === resource.spec.controllerName)
      return true;
    const diagnostic = changedController(resource, former);
    refused.add(diagnostic.object);
    diagnostics.push(diagnostic);
    return false;
  });
  if (diagnostics.length === 0) return snapshot;
  return { resources, refused, diagnostics: [...snapshot.diagnostics, ...diagnostics].sort(compareDiagnostics) };
}

function changedController(gatewayClass: GatewayClass, former: string): Diagnostic {
  const path = 'spec.controllerName';
  return {
    severity: 'error',
    code: 'WG3010',
    object: objectLabel('GatewayClass', '', gatewayClass.metadata.name),
    path,
    message: `controllerName was "${former}" and cannot change`,
    hint: 'give the class another name, or remove it and add it again with a second reload',
    span: spanAt(gatewayClass, path),
  };
}
