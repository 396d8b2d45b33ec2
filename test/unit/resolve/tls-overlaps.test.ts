import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isValidFor } from '../../../src/model/certificate-names.js';
import { coversHostname, hostnameSpecificity, intersectHostnames } from '../../../src/model/hostname.js';
import type { ListenerDraft } from '../../../src/resolve/drafts.js';
import type { Findings } from '../../../src/resolve/findings.js';
import { reportTlsOverlaps } from '../../../src/resolve/tls-overlaps.js';

interface Given {
  readonly hostname: string;
  /** Names of its certificate. */
  readonly names: readonly string[];
}

const LABELS = ['a', 'b', 'z'];
/** Every host with up to three labels below `x`. */
const HOSTS = LABELS.flatMap((one) => [
  `${one}.x`,
  ...LABELS.flatMap((two) => [`${two}.${one}.x`, ...LABELS.map((three) => `${three}.${two}.${one}.x`)]),
]);
const NAMES = [...HOSTS.filter((host) => !host.includes('z')), '*.x', '*.a.x', '*.b.x', '*.a.a.x', '*.b.a.x'];

/** The listeners as far as overlaps look at them. */
function listenersOf(given: readonly Given[]): ListenerDraft[] {
  const owner = { apiVersion: 'v1', kind: 'Gateway', metadata: { namespace: 'default', name: 'edge' }, positions: [] };
  const gateway = { name: 'default/edge', resource: owner };
  return given.map(({ hostname, names }, index) => {
    const draft: unknown = {
      gateway,
      owner,
      hostname,
      protocol: 'HTTPS',
      accepted: true,
      path: `spec.listeners[${index}]`,
      spec: { name: String(index), port: 443 },
      sockets: [{ key: 'tcp/[::]:443' }],
      termination: { certificates: [{ names }] },
    };
    return draft as ListenerDraft;
  });
}

function reasonsOf(given: readonly Given[]): string[] {
  const told: Pick<Findings, 'add'> & { readonly reasons: string[] } = {
    reasons: given.map(() => 'none'),
    add(_, { subject, condition }) {
      if (subject?.kind === 'listener') this.reasons[Number(subject.name)] = condition?.reason ?? 'none';
    },
  };
  reportTlsOverlaps(listenersOf(given), told as unknown as Findings);
  return told.reasons;
}

/** What the definition says, name by name and pair by pair. */
function expected(given: readonly Given[]): string[] {
  const ofHostname = new Set<number>();
  const ofCertificate = new Set<number>();
  for (const [index, one] of given.entries()) {
    for (const [other, two] of given.entries()) {
      if (index === other || intersectHostnames(one.hostname, two.hostname) === undefined) continue;
      ofHostname.add(index).add(other);
    }
    for (const host of HOSTS) {
      if (!isValidFor(new Set(one.names), host)) continue;
      const owners = given
        .map(({ hostname }, place) => ({ hostname, place }))
        .filter(({ hostname }) => coversHostname(hostname, host));
      owners.sort((a, b) => hostnameSpecificity(b.hostname) - hostnameSpecificity(a.hostname));
      const owner = owners[0]?.place ?? index;
      if (owner !== index) ofCertificate.add(index).add(owner);
    }
  }
  return given.map((_, index) =>
    ofCertificate.has(index) ? 'OverlappingCertificates' : ofHostname.has(index) ? 'OverlappingHostnames' : 'none',
  );
}

describe('overlaps of TLS listeners', () => {
  it('are those that the names of hosts show', () => {
    const given = fc.uniqueArray(
      fc.record({
        hostname: fc.constantFrom('', ...NAMES),
        names: fc.array(fc.constantFrom(...NAMES), { maxLength: 3 }),
      }),
      { selector: ({ hostname }) => hostname, minLength: 1, maxLength: 6 },
    );
    fc.assert(
      fc.property(given, (listeners) => {
        expect(reasonsOf(listeners)).toEqual(expected(listeners));
      }),
      { numRuns: 500 },
    );
  });

  it('are found in a crowd that shares one certificate', () => {
    const crowd = Array.from({ length: 20_000 }, (_, index) => ({ hostname: `h${index}.x`, names: ['*.x'] }));
    expect(new Set(reasonsOf(crowd))).toEqual(new Set(['OverlappingCertificates']));
  });
});
