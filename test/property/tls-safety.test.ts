/**
 * Whatever is written about TLS: nobody shows a certificate that is not granted to him, nothing that should be verified goes unverified,
 * and no data plane is asked for TLS without a certificate.
 */
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { admitSnapshot, admitText } from '../../src/admit/index.js';
import type { IrListener, IrTermination } from '../../src/ir/ir.js';
import { ALL_CAPABILITIES } from '../../src/model/capabilities.js';
import { plan } from '../../src/pipeline.js';
import { FACTS } from '../support/build.js';
import { gatewayClass, textOf, type WrittenObject } from '../support/snapshot-arbitrary.js';

const GATEWAY_API = 'gateway.networking.k8s.io/v1';
const FOLDER = new URL('../golden/certificates/', import.meta.url);
const CERTIFICATES = readdirSync(FOLDER).map((file) => admitText(file, readFileSync(new URL(file, FOLDER), 'utf8')));

const reference = fc.record(
  {
    group: fc.constantFrom('', 'example.com'),
    kind: fc.constantFrom('Secret', 'ConfigMap'),
    name: fc.constantFrom('shop', 'pay', 'wild', 'shared', 'mismatch', 'missing', 'authority', 'other-authority'),
    namespace: fc.constantFrom('default', 'vault'),
  },
  { requiredKeys: ['name'] },
);
const authority = reference.map(({ group = '', kind = 'ConfigMap', ...rest }) => ({ group, kind, ...rest }));
const validation = fc.record(
  {
    validation: fc.record({
      caCertificateRefs: fc.array(authority, { minLength: 1, maxLength: 2 }),
      mode: fc.constantFrom('AllowValidOnly', 'AllowInsecureFallback'),
    }),
  },
  { requiredKeys: [] },
);
const listener = fc.record({
  protocol: fc.constantFrom('HTTPS', 'TLS'),
  port: fc.constantFrom(443, 8443),
  mode: fc.constantFrom('Terminate', 'Passthrough'),
  certificateRefs: fc.array(reference, { maxLength: 2 }),
  option: fc.constantFrom(
    undefined,
    ['weirgate.dev/min-tls-version', '1.3'],
    ['weirgate.dev/alpn', 'h9'],
    ['example.com/x', 'y'],
  ),
});

const gateway = fc
  .record({
    listeners: fc.array(listener, { minLength: 1, maxLength: 4 }),
    frontend: fc.record(
      { default: validation, perPort: fc.record({ port: fc.constantFrom(443, 8443), tls: validation }) },
      { requiredKeys: ['default'] },
    ),
    hasFrontend: fc.boolean(),
    client: fc.option(reference, { nil: undefined }),
  })
  .map(({ listeners, frontend: { perPort, ...frontend }, hasFrontend, client }) => ({
    apiVersion: GATEWAY_API,
    kind: 'Gateway',
    metadata: { name: 'edge' },
    spec: {
      gatewayClassName: 'weirgate',
      listeners: listeners.map(({ protocol, port, mode, certificateRefs, option }, index) => ({
        name: `l${index}`,
        protocol,
        port,
        hostname: `h${index}.example.com`,
        tls: {
          mode: protocol === 'HTTPS' ? 'Terminate' : mode,
          certificateRefs,
          options: Object.fromEntries([option ?? ['example.com/a', 'b']]),
        },
      })),
      tls: {
        ...(hasFrontend && { frontend: { ...frontend, ...(perPort !== undefined && { perPort: [perPort] }) } }),
        ...(client !== undefined && { backend: { clientCertificateRef: client } }),
      },
    },
  }));

const policy = fc
  .record({
    name: fc.constantFrom('a', 'b'),
    section: fc.constantFrom(undefined, 'https', 'admin', 'nothing'),
    refs: fc.array(authority, { maxLength: 2 }),
    wellKnown: fc.constantFrom('System', 'example.com/bundle'),
  })
  .map(({ name, section, refs, wellKnown }) => ({
    apiVersion: GATEWAY_API,
    kind: 'BackendTLSPolicy',
    metadata: { name },
    spec: {
      targetRefs: [{ group: '', kind: 'Service', name: 'web', ...(section !== undefined && { sectionName: section }) }],
      validation: {
        hostname: 'web.example.com',
        ...(refs.length === 0
          ? { wellKnownCACertificates: wellKnown }
          : { caCertificateRefs: refs.map(({ namespace: _, ...local }) => local) }),
      },
    },
  }));

const grant = fc
  .record({ kind: fc.constantFrom('Secret', 'ConfigMap'), name: fc.constantFrom(undefined, 'shared') })
  .map(
    ({ kind, name }): WrittenObject => ({
      apiVersion: GATEWAY_API,
      kind: 'ReferenceGrant',
      metadata: { name: `for-${kind.toLowerCase()}`, namespace: 'vault' },
      spec: {
        from: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: 'default' }],
        to: [{ group: '', kind, ...(name !== undefined && { name }) }],
      },
    }),
  );

const web: WrittenObject[] = [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: {
      ports: [
        { name: 'https', port: 443 },
        { name: 'admin', port: 8443 },
      ],
    },
  },
  {
    apiVersion: GATEWAY_API,
    kind: 'HTTPRoute',
    metadata: { name: 'web' },
    spec: {
      parentRefs: [{ name: 'open' }],
      rules: [
        {
          backendRefs: [
            { name: 'web', port: 443 },
            { name: 'web', port: 8443 },
          ],
        },
      ],
    },
  },
  {
    apiVersion: GATEWAY_API,
    kind: 'Gateway',
    metadata: { name: 'open' },
    spec: { gatewayClassName: 'weirgate', listeners: [{ name: 'http', protocol: 'HTTP', port: 80 }] },
  },
];

function terminationOf(listener: IrListener): IrTermination | undefined {
  if (listener.kind === 'http') return listener.tls;
  return listener.kind === 'tls' ? listener.termination : undefined;
}

describe('TLS', () => {
  it('is never shown ungranted, never unverified, never without a certificate', () => {
    const grants = fc.uniqueArray(grant, { selector: ({ metadata }) => metadata.name, maxLength: 2 });
    const policies = fc.uniqueArray(policy, { selector: ({ metadata }) => metadata.name, maxLength: 2 });
    fc.assert(
      fc.property(gateway, policies, grants, (edge, ofWeb, granted) => {
        const objects = [gatewayClass, edge, ...ofWeb, ...granted, ...web];
        const snapshot = admitSnapshot([...CERTIFICATES, admitText('input.yaml', textOf(objects))]);
        expect(snapshot.diagnostics).toEqual([]);
        const { ir } = plan(snapshot, FACTS, new Set(ALL_CAPABILITIES));

        for (const { key } of ir.certificates) {
          const [, namespace, name] = key.split('/');
          const isGranted = granted.some(({ spec }) => {
            const { to } = spec as { readonly to: readonly { readonly kind: string; readonly name?: string }[] };
            return to.some((one) => one.kind === 'Secret' && (one.name === undefined || one.name === name));
          });
          expect([key, namespace === 'default' || isGranted]).toEqual([key, true]);
          expect(key).not.toBe('Secret/default/mismatch');
        }

        for (const listener of ir.listeners) {
          const spec = edge.spec.listeners.find(({ name }) => listener.name === `default/edge/${name}`);
          if (spec === undefined) continue;
          const isPassedThrough = spec.tls.mode === 'Passthrough';
          const termination = terminationOf(listener);
          expect(termination === undefined).toBe(isPassedThrough);
          if (termination === undefined) continue;
          expect(termination.certificates.length).toBeGreaterThan(0);
          const { frontend } = edge.spec.tls;
          const entry = frontend?.perPort?.find(({ port }) => port === spec.port);
          const demanded = spec.protocol === 'HTTPS' ? (entry?.tls ?? frontend?.default)?.validation : undefined;
          expect(termination.clientValidation?.mode).toBe(
            demanded && (demanded.mode === 'AllowValidOnly' ? 'require' : 'allow'),
          );
          if (demanded !== undefined) expect(termination.clientValidation?.authorities.length).toBeGreaterThan(0);
        }

        for (const cluster of ir.clusters) {
          const section = cluster.key.endsWith(':443') ? 'https' : 'admin';
          const isSecured = ofWeb.some(({ spec }) => [undefined, section].includes(spec.targetRefs[0]?.sectionName));
          expect([cluster.key, cluster.tls !== undefined]).toEqual([cluster.key, isSecured]);
          expect(cluster.tls?.authorities).not.toEqual([]);
        }
      }),
      { numRuns: 300 },
    );
  });
});
