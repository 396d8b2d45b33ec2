/**
 * Labels and annotations that somebody wants on everything that is made for a Gateway. Source: GatewayInfrastructure.
 */
import type { Gateway } from '../gateway-api/index.js';
import type { Infrastructure } from '../model/model.js';
import { CODES } from './codes.js';
import type { Findings } from './findings.js';

/** Returns what is wanted; the model carries it to whoever makes objects. */
export function infrastructureOf({ spec }: Gateway): Infrastructure {
  const { labels = {}, annotations = {} } = spec.infrastructure ?? {};
  return { labels, annotations };
}

/** Says that there is nothing to put labels and annotations on: a Gateway from files is listeners in this process and no object. */
export function reportIdleInfrastructure(gateway: Gateway, findings: Findings): void {
  const wanted = Object.entries(infrastructureOf(gateway)).filter(([, entries]) => Object.keys(entries).length > 0);
  const [first] = wanted;
  if (first === undefined) return;
  const fields = wanted.map(([field]) => field).join(' and ');
  findings.add(gateway, {
    code: CODES.infrastructureIdle,
    path: `spec.infrastructure.${first[0]}`,
    message: `${fields} of infrastructure have no effect: no object is made for a Gateway that comes from files`,
    hint: 'labels of the Gateway itself belong into its metadata',
  });
}
