/**
 * The rule of external authorization, in filters of routes and of listeners alike.
 */
import type { ExternalAuthFilter } from '../../gateway-api/index.js';
import type { Violate } from './rule.js';

const FIELD_OF_PROTOCOL = [
  ['GRPC', 'grpc'],
  ['HTTP', 'http'],
] as const;

/** Reports the field of another protocol, and that of its own which is missing. */
export function checkExternalAuth(externalAuth: ExternalAuthFilter, path: string, violate: Violate): void {
  for (const [protocol, field] of FIELD_OF_PROTOCOL) {
    const present = externalAuth[field] !== undefined;
    if (present === (externalAuth.protocol === protocol)) continue;
    const message = present
      ? `${field} belongs to protocol ${protocol}`
      : `protocol ${protocol} needs the field ${field}`;
    violate(`${path}.${field}`, message, present ? 'remove it' : `add ${field}: {}`);
  }
}
