/**
 * BackendTLSPolicy (gateway.networking.k8s.io): TLS towards the endpoints of a Service.
 */
import {
  annotationValue,
  hostname,
  localObjectReference,
  policyTargetReference,
  preciseHostname,
} from './references.js';
import { array, described, type Infer, map, object, oneOf, optional, string } from './schema.js';

export const subjectAltName = object('a name that the certificate of an endpoint may have', {
  type: oneOf('kind of the name', ['Hostname', 'URI']),
  hostname: optional(described(hostname, 'with type Hostname')),
  uri: optional(string('with type URI', { minLength: 1, maxLength: 253, format: 'uri' })),
});
export type SubjectAltName = Infer<typeof subjectAltName>;

export const backendTlsPolicySpec = object('how endpoints prove who they are', {
  targetRefs: array('Services of the same namespace; sectionName is the name of a port', policyTargetReference, {
    minItems: 1,
    maxItems: 16,
  }),
  validation: object('what is verified', {
    caCertificateRefs: optional(
      array('ConfigMaps with the authorities under ca.crt', localObjectReference, { minItems: 1, maxItems: 8 }),
    ),
    wellKnownCACertificates: optional(
      string('System: the authorities of the host; in place of caCertificateRefs', {
        minLength: 1,
        maxLength: 253,
        format: 'wellKnownCa',
      }),
    ),
    hostname: described(preciseHostname, 'server name that is sent, and the name of the certificate'),
    subjectAltNames: optional(
      array('names, one of which the certificate must have; then hostname is only sent', subjectAltName, {
        maxItems: 5,
      }),
    ),
  }),
  options: optional(map('domain-prefixed options', annotationValue, { maxItems: 16 })),
});
export type BackendTLSPolicySpec = Infer<typeof backendTlsPolicySpec>;
