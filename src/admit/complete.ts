/**
 * What an API server fills in from other fields of the same object, before it stores it: a default that is no constant.
 * Serves `admit-text.ts`.
 */
import type { Resource, Secret, Service } from '../gateway-api/index.js';

/** Returns the object as it would be stored; it has obeyed all rules. Cost: O(1), for Secret and Service linear in their size. */
export function complete(resource: Resource): Resource {
  switch (resource.kind) {
    case 'Secret':
      return completeSecret(resource);
    case 'Service':
      return completeService(resource);
    default:
      return resource;
  }
}

/** Plain text goes over what stands under the same key, and everything is base64 of one form afterwards. */
function completeSecret({ stringData = {}, ...secret }: Secret): Secret {
  const encoded = Object.entries(secret.data).map(([key, text]) => [key, Buffer.from(text, 'base64')] as const);
  const plain = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text)] as const);
  const data = [...encoded, ...plain].map(([key, bytes]) => [key, bytes.toString('base64')] as const);
  // Not by assignment: a key may be "__proto__".
  return { ...secret, data: Object.fromEntries(data) };
}

/** A port leads to the same port of the endpoints, unless it says otherwise. */
function completeService(service: Service): Service {
  const ports = service.spec.ports.map((port) => {
    const { targetPort = 0 } = port;
    return targetPort === 0 ? { ...port, targetPort: port.port } : port;
  });
  return { ...service, spec: { ...service.spec, ports } };
}
