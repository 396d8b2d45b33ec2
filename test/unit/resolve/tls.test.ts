import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { admitSnapshot, admitText, type Snapshot } from '../../../src/admit/index.js';
import { ALL_CAPABILITIES, type Capability } from '../../../src/model/capabilities.js';
import { type Plan, plan } from '../../../src/pipeline.js';
import { judgeLifetimes } from '../../../src/resolve/index.js';
import { FACTS } from '../../support/build.js';
import { gatewayClass, textOf, type WrittenObject } from '../../support/snapshot-arbitrary.js';

const FOLDER = new URL('../../golden/certificates/', import.meta.url);
const CERTIFICATES = readdirSync(FOLDER);

/** Our class, all certificates of the golden cases, and what is given. */
function snapshotOf(...objects: readonly WrittenObject[]): Snapshot {
  const files = CERTIFICATES.map((file) => admitText(file, readFileSync(new URL(file, FOLDER), 'utf8')));
  return admitSnapshot([...files, admitText('input.yaml', textOf([gatewayClass, ...objects]))]);
}

function planWithout(lacking: readonly Capability[], ...objects: readonly WrittenObject[]): Plan {
  return plan(snapshotOf(...objects), FACTS, new Set(ALL_CAPABILITIES.filter((one) => !lacking.includes(one))));
}

function gateway(name: string, listeners: readonly object[], tls?: object): WrittenObject {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name },
    spec: { gatewayClassName: 'weirgate', listeners, ...(tls !== undefined && { tls }) },
  };
}

const HTTPS = { name: 'https', protocol: 'HTTPS', port: 443, tls: { certificateRefs: [{ name: 'shop' }] } };
const AUTHORITY = { group: '', kind: 'ConfigMap', name: 'authority' };

function conditionsOf({ status }: Plan, kind: string, listener?: string): string[] {
  const body = status.find((object) => object.kind === kind)?.status;
  const conditions =
    listener === undefined
      ? (body?.conditions ?? body?.ancestors?.[0]?.conditions ?? body?.parents?.[0]?.conditions)
      : body?.listeners?.find(({ name }) => name === listener)?.conditions;
  return (conditions ?? []).map(({ type, status: is, reason }) => `${type} ${is}/${reason}`);
}

describe('a data plane that cannot do all of TLS', () => {
  it('serves nobody unverified where client certificates are demanded', () => {
    const tls = { frontend: { default: { validation: { caCertificateRefs: [AUTHORITY] } } } };
    const http = { name: 'http', protocol: 'HTTP', port: 80 };
    const result = planWithout(['tls/clientValidation'], gateway('edge', [HTTPS, http], tls));
    expect(conditionsOf(result, 'Gateway', 'https')).toEqual(
      expect.arrayContaining([
        'Accepted False/UnsupportedValue',
        'Programmed False/Invalid',
        'ResolvedRefs True/ResolvedRefs',
      ]),
    );
    expect(result.ir.sockets.map(({ key }) => key)).toEqual(['tcp/[::]:80']);
  });

  it('says so when it has no client certificate to show', () => {
    const tls = { backend: { clientCertificateRef: { name: 'client' } } };
    const result = planWithout(['upstream/clientCertificate'], gateway('edge', [HTTPS], tls));
    expect(result.ir.listeners[0]?.clientCertificate).toBeUndefined();
    expect(result.diagnostics.map(({ path }) => path)).toContain('spec.tls.backend.clientCertificateRef');
  });

  it('answers errors for backends with a BackendTLSPolicy', () => {
    const result = planWithout(['upstream/tls'], ...policied(['edge']));
    expect(result.ir.actions[0]?.backends).toEqual([{ kind: 'invalid', weight: 1, status: 500 }]);
    expect(conditionsOf(result, 'BackendTLSPolicy')).toContain('Accepted False/Invalid');
    expect(conditionsOf(result, 'HTTPRoute')).toContain('ResolvedRefs True/ResolvedRefs');
  });
});

/** Gateways on ports of their own, a route to `Backend default/pool` on all of them, and a policy for it. */
function policied(gateways: readonly string[], status?: object): WrittenObject[] {
  return [
    ...gateways.map((name, index) => gateway(name, [{ name: 'http', protocol: 'HTTP', port: 8000 + index }])),
    {
      apiVersion: 'weirgate.dev/v1alpha1',
      kind: 'Backend',
      metadata: { name: 'pool' },
      spec: { endpoints: [{ address: '10.0.0.1', port: 443 }] },
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name: 'web' },
      spec: {
        parentRefs: gateways.map((name) => ({ name })),
        rules: [{ backendRefs: [{ group: 'weirgate.dev', kind: 'Backend', name: 'pool' }] }],
      },
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'BackendTLSPolicy',
      metadata: { name: 'pool' },
      spec: {
        targetRefs: [{ group: 'weirgate.dev', kind: 'Backend', name: 'pool' }],
        validation: { caCertificateRefs: [AUTHORITY], hostname: 'pool.example.com' },
      },
      ...(status !== undefined && { status }),
    } as WrittenObject,
  ];
}

describe('the ancestors of a policy', () => {
  const names = Array.from({ length: 18 }, (_, index) => `gateway-${String(index).padStart(2, '0')}`);

  function ancestorsAndSilent(status?: object): {
    readonly shown: number;
    readonly silent: string[];
    readonly plan: Plan;
  } {
    const result = planWithout([], ...policied(names, status));
    const policy = result.status.find(({ kind }) => kind === 'BackendTLSPolicy');
    const silent = result.diagnostics.filter(({ code }) => code === 'WG4063').map(({ object }) => object);
    return { shown: policy?.status.ancestors?.length ?? 0, silent, plan: result };
  }

  it('are at most 16, and the Gateways without room say so', () => {
    const { shown, silent, plan: result } = ancestorsAndSilent();
    expect([shown, ...silent]).toEqual([16, 'Gateway default/gateway-16', 'Gateway default/gateway-17']);
    expect(result.ir.clusters[0]?.tls?.serverName).toBe('pool.example.com');
  });

  it('leave the room that other controllers have taken', () => {
    const foreign = { controllerName: 'example.com/other', ancestorRef: { name: 'x' }, conditions: [] };
    const own = { ...foreign, controllerName: 'weirgate.dev/gateway-controller' };
    const { shown, silent } = ancestorsAndSilent({ ancestors: [foreign, own, foreign] });
    expect([shown, silent.length]).toEqual([14, 4]);
  });
});

describe('certificates', () => {
  const all = CERTIFICATES.map((file) => file.replace('.yaml', ''));
  const listeners = all.map((name, index) => ({
    ...HTTPS,
    name: `l${index}`,
    hostname: `h${index}.example.com`,
    tls: { certificateRefs: [{ name }] },
  }));

  it('never show a part of their keys', () => {
    const result = planWithout(
      [],
      gateway('edge', listeners, { backend: { clientCertificateRef: { name: 'client' } } }),
    );
    const said = JSON.stringify([result.diagnostics, result.status]);
    const texts = CERTIFICATES.map((file) => readFileSync(new URL(file, FOLDER), 'utf8'));
    const lines = texts.flatMap((text) => text.split('PRIVATE KEY-----')[1]?.split('\n') ?? []);
    const secrets = lines.map((line) => line.trim()).filter((line) => line.length > 20);
    expect(secrets.length).toBeGreaterThan(10);
    for (const secret of secrets)
      for (let at = 0; at + 16 <= secret.length; at += 8) expect(said).not.toContain(secret.slice(at, at + 16));
  });

  it('are one in the IR, however often they are named', () => {
    const twice = [HTTPS, { ...HTTPS, name: 'again', port: 8443 }];
    const { ir } = planWithout([], gateway('edge', twice));
    expect(ir.certificates.map(({ key }) => key)).toEqual(['Secret/default/shop']);
  });

  it('are told when they do not hold, if they are used', () => {
    const snapshot = snapshotOf(gateway('edge', [HTTPS]));
    const { ir } = plan(snapshot, FACTS, new Set(ALL_CAPABILITIES));
    const told = (now: number): string[] =>
      judgeLifetimes(snapshot, ir, now).map(
        ({ object, message, span }) => `${span.file}:${span.line} ${object}: ${message}`,
      );
    expect(told(Date.UTC(2050, 0, 1))).toEqual([]);
    expect(told(Date.UTC(2150, 0, 1))).toEqual([
      expect.stringMatching(/^shop\.yaml:4 Secret default\/shop: the certificate expired \d+ days ago, on 2126-11-07$/),
    ]);
  });
});
