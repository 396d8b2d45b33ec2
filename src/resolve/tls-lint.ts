/**
 * Doubts about certificates that are valid by themselves: names that are served and that no certificate of the listener has.
 * A listener's `*.example.com` stands for any number of labels, a certificate's for one (RFC 9525 section 6.3).
 */
import { isValidFor } from '../model/certificate-names.js';
import { ANY_HOSTNAME, coversHostname, intersectHostnames } from '../model/hostname.js';
import type { Certificate } from '../model/model.js';
import { CODES } from './codes.js';
import type { ListenerDraft } from './drafts.js';
import type { Findings } from './findings.js';

/** Most names that a message shows. */
const MAX_NAMES = 3;

/**
 * Says for which names clients get no valid certificate: the hostname of the listener, and those of the routes on it; and which of several
 * certificates has no name that the listener serves. Call it once all routes are attached.
 * Cost: one look-up for each hostname of an attached route.
 */
export function reportCertificateNames(listeners: Iterable<ListenerDraft>, findings: Findings): void {
  for (const listener of listeners) {
    const { termination, sockets } = listener;
    if (termination === undefined || sockets.length === 0) continue;
    const names = new Set(termination.certificates.flatMap((certificate) => certificate.names));
    reportMissingNames(listener, names, findings);
    for (const certificate of termination.certificates) {
      if (termination.certificates.length > 1) reportUseless(listener, certificate, findings);
    }
  }
}

function reportMissingNames(listener: ListenerDraft, names: ReadonlySet<string>, findings: Findings): void {
  const { hostname, owner, spec, path, httpAttachments, streamAttachments } = listener;
  const missing = new Set<string>();
  const note = (served: string): void => {
    if (served !== ANY_HOSTNAME && !isValidFor(names, served)) missing.add(served);
  };
  note(hostname);
  for (const { hostnames } of httpAttachments) for (const attached of hostnames) note(attached.hostname);
  for (const { hostnames } of streamAttachments) for (const attached of hostnames) note(attached.hostname);
  if (missing.size === 0) return;
  const shown = [...missing].slice(0, MAX_NAMES);
  const more = missing.size > shown.length ? ` and ${missing.size - shown.length} more` : '';
  findings.add(owner, {
    code: CODES.certificateNarrow,
    subject: { kind: 'listener', name: spec.name },
    path: `${path}.tls.certificateRefs`,
    message: `no certificate is valid for ${shown.join(', ')}${more}, so clients are warned or turned away`,
    hint: hintFor(names, shown),
  });
}

function reportUseless(listener: ListenerDraft, { key, names }: Certificate, findings: Findings): void {
  const { hostname, owner, spec, path } = listener;
  if (names.some((name) => intersectHostnames(name, hostname) !== undefined)) return;
  findings.add(owner, {
    code: CODES.certificateUnused,
    subject: { kind: 'listener', name: spec.name },
    path: `${path}.tls.certificateRefs`,
    message: `the certificate of ${key.replace('/', ' ')} is valid for no name that the listener serves`,
    hint:
      names.length === 0
        ? 'it has no DNS name in subjectAltName'
        : `it is valid for ${names.slice(0, MAX_NAMES).join(', ')}`,
  });
}

function hintFor(names: ReadonlySet<string>, missing: readonly string[]): string {
  if (names.size === 0) return 'the certificates have no DNS name in subjectAltName; the common name does not count';
  const tooDeep = [...names].find((name) => missing.some((wanted) => wanted !== name && coversHostname(name, wanted)));
  const known = [...names].slice(0, MAX_NAMES).join(', ');
  return tooDeep === undefined
    ? `the certificates are valid for ${known}`
    : `${tooDeep} of a certificate stands for one label only, unlike the hostname of a listener`;
}
