/**
 * BackendPolicy (weirgate.dev): active health checks for Services and Backends; attaches as GEP-713 says.
 */
import { duration, policyTargetReference } from './references.js';
import { array, described, type Infer, integer, object, oneOf, optional, string, withDefault } from './schema.js';

const status = integer('HTTP status, 100 to 599', { min: 100, max: 599 });

export const healthCheck = object('asks every endpoint at intervals whether it works', {
  type: oneOf('TCP: a connection can be made; HTTP: a GET is answered as expected', ['TCP', 'HTTP']),
  interval: withDefault(described(duration, 'time between two checks of an endpoint, at least 100ms'), '5s'),
  timeout: withDefault(described(duration, 'longest wait for an answer, at least 10ms'), '2s'),
  healthyThreshold: withDefault(
    integer('successes in a row until an endpoint is used again, 1 to 100', { min: 1, max: 100 }),
    2,
  ),
  unhealthyThreshold: withDefault(
    integer('failures in a row until an endpoint is left out, 1 to 100', { min: 1, max: 100 }),
    3,
  ),
  http: optional(
    object('with type HTTP', {
      path: withDefault(
        string('path and query of the request', { minLength: 1, maxLength: 1024, format: 'requestTarget' }),
        '/',
      ),
      host: optional(
        string('Host of the request; without it the address of the endpoint', {
          minLength: 1,
          maxLength: 253,
          format: 'authority',
        }),
      ),
      expectedStatuses: withDefault(
        array(
          'ranges of statuses that count as success',
          object('a range, both ends included', { from: status, to: status }),
          {
            minItems: 1,
            maxItems: 16,
          },
        ),
        [{ from: 200, to: 399 }],
      ),
    }),
  ),
});
export type HealthCheck = Infer<typeof healthCheck>;

export const backendPolicySpec = object('what the policy is for, and what it says', {
  targetRefs: array('Services or Backends of the same namespace', policyTargetReference, { minItems: 1, maxItems: 16 }),
  healthCheck: optional(healthCheck),
});
export type BackendPolicySpec = Infer<typeof backendPolicySpec>;
