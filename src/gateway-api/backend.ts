/**
 * Backend (weirgate.dev): endpoints that no cluster knows, written down by address.
 */
import { portNumber } from './references.js';
import { array, type Infer, integer, object, string, withDefault } from './schema.js';

export const backendEndpoint = object('one endpoint', {
  address: string('IP address of the endpoint', { format: 'ip' }),
  port: portNumber,
  weight: withDefault(integer('share of the traffic among the endpoints, 1 to 1000000', { min: 1, max: 1_000_000 }), 1),
});
export type BackendEndpoint = Infer<typeof backendEndpoint>;

export const backendSpec = object('endpoints of a Backend', {
  endpoints: array('addresses and ports', backendEndpoint, {
    minItems: 1,
    maxItems: 4096,
    keys: ['address', 'port'],
  }),
});
export type BackendSpec = Infer<typeof backendSpec>;
