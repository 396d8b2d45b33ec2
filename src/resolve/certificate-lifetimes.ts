/**
 * Certificates that do not hold now, or soon will not. Apart from resolution, which has no clock: equal snapshots stay equal.
 */
import type { Snapshot } from '../admit/snapshot.js';
import type { Diagnostic } from '../base/index.js';
import { objectLabel, spanAt } from '../gateway-api/index.js';
import type { Ir } from '../ir/ir.js';
import { lifetimeDoubt } from '../model/certificate-lifetime.js';
import { heldBy, keyOf } from './certificates.js';
import { CODES } from './codes.js';

/**
 * Returns a warning for each certificate that the IR uses and that does not hold at `now` (milliseconds since 1970), or for two more weeks.
 * Cost: one look-up for each Secret.
 */
export function judgeLifetimes(
  { resources }: Pick<Snapshot, 'resources'>,
  { certificates }: Pick<Ir, 'certificates'>,
  now: number,
): Diagnostic[] {
  const used = new Set(certificates.map(({ key }) => key));
  return resources.flatMap((resource) => {
    if (resource.kind !== 'Secret' || !used.has(keyOf(resource))) return [];
    const held = heldBy(resource);
    const doubt = held.ok ? lifetimeDoubt(held.value.lifetime, now) : undefined;
    if (doubt === undefined) return [];
    const { namespace, name } = resource.metadata;
    // The place is the name, not the content: reports show the line.
    const path = 'metadata.name';
    return [
      {
        severity: 'warning',
        code: CODES.certificateLifetime,
        object: objectLabel(resource.kind, namespace, name),
        path,
        message: `the certificate ${doubt}`,
        hint: 'renew it: clients refuse one that does not hold',
        span: spanAt(resource, path),
      },
    ];
  });
}
