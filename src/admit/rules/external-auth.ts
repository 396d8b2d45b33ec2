/**
 * The rule of external authorization, in filters of routes and of listeners alike.
 */
import type { ExternalAuthFilter } from '../../gateway-api/index.js';
import { eachMisplacedField, type Violate } from './rule.js';

const FIELD_OF_PROTOCOL = [
  ['GRPC', 'grpc'],
  ['HTTP', 'http'],
] as const;

/** Reports the field of another protocol, and that of its own which is missing. */
export function checkExternalAuth(externalAuth: ExternalAuthFilter, path: string, violate: Violate): void {
  eachMisplacedField(externalAuth, externalAuth.protocol, FIELD_OF_PROTOCOL, (protocol, field, isPresent) => {
    const at = `${path}.${field}`;
    if (isPresent) violate(at, `${field} belongs to protocol ${protocol}`, 'remove it');
    else violate(at, `protocol ${protocol} needs the field ${field}`, `add ${field}: {}`);
  });
}
