import { describe, expect, it } from 'vitest';
import { buildText } from '../../support/build.js';
import { textOf, type WrittenObject } from '../../support/snapshot-arbitrary.js';

const classOf = (name: string, parametersRef?: object): WrittenObject => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'GatewayClass',
  metadata: { name },
  spec: { controllerName: 'weirgate.dev/gateway-controller', ...(parametersRef && { parametersRef }) },
});

const configOf = (name: string, spec: object): WrittenObject => ({
  apiVersion: 'weirgate.dev/v1alpha1',
  kind: 'WeirgateConfig',
  metadata: { name },
  spec,
});

const reference = (name: string, more: object = {}) => ({
  group: 'weirgate.dev',
  kind: 'WeirgateConfig',
  namespace: 'default',
  name,
  ...more,
});

const accepted = (objects: readonly WrittenObject[]): string[] =>
  buildText(textOf(objects)).status.map(({ name, status }) => {
    const [condition] = status.conditions ?? [];
    return `${name} ${condition?.status}/${condition?.reason}`;
  });

describe('GatewayClasses', () => {
  it('a parametersRef must name an existing WeirgateConfig with its namespace', () => {
    const { namespace, ...withoutNamespace } = reference('good');
    expect(namespace).toBe('default');
    expect(
      accepted([
        configOf('good', {}),
        classOf('fine', reference('good')),
        classOf('kind', reference('good', { kind: 'ConfigMap', group: '' })),
        classOf('lost', reference('missing')),
        classOf('nowhere', withoutNamespace),
        classOf('plain'),
      ]),
    ).toEqual([
      'fine True/Accepted',
      'kind False/InvalidParameters',
      'lost False/InvalidParameters',
      'nowhere False/InvalidParameters',
      'plain True/Accepted',
    ]);
  });

  it('the first class with settings sets them for the process, and the others are told', () => {
    const { ir, diagnostics } = buildText(
      textOf([
        classOf('a'),
        classOf('b', reference('first')),
        classOf('c', reference('second')),
        classOf('d', reference('first')),
        configOf('first', { workers: 3, via: true }),
        configOf('second', { workers: 5 }),
      ]),
    );
    expect(ir.settings).toMatchObject({ workers: 3, via: true });
    expect(diagnostics.map(({ code, object }) => `${code} ${object}`)).toEqual(['WG4005 GatewayClass c']);
  });

  it('supportedFeatures are sorted and distinct', () => {
    const [status] = buildText(textOf([classOf('a')])).status;
    const names = status?.status.supportedFeatures?.map(({ name }) => name) ?? [];
    expect(names).toEqual([...new Set(names)].sort());
    expect(names.length).toBeGreaterThan(0);
    expect(names.length).toBeLessThanOrEqual(64);
  });
});
