/** Backends of other namespaces follow their ReferenceGrants from reload to reload, with no edit of the route (H15). */
import { beforeAll, expect } from 'vitest';
import { each } from './each.js';
import { freePort, Instance } from './instance.js';
import { type Doc, gateway, gatewayClass, httpListener, httpRoute, yaml } from './manifests.js';
import { ask, httpBackend } from './peers.js';

const REQUESTS = 400;
const API = 'gateway.networking.k8s.io';

let port: number;
let instance: Instance;

const inNamespace = (namespace: string, doc: Doc): Doc => ({
  ...doc,
  metadata: { ...(doc.metadata as Doc), namespace },
});

/** A Service of namespace data with one endpoint. */
function service(name: string, endpoint: number): Doc[] {
  const slice = { name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } };
  return [
    { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports: [{ port: 80 }] } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: slice,
      addressType: 'IPv4',
      ports: [{ port: endpoint }],
      endpoints: [{ addresses: ['127.0.0.1'] }],
    },
  ].map((doc) => inNamespace('data', doc));
}

interface Grant {
  readonly namespace?: string;
  readonly fromKind?: string;
  readonly fromNamespace?: string;
  readonly toKind?: string;
  readonly name?: string;
}

/** A grant that fits but for what is given. */
function grant({
  namespace = 'data',
  fromKind = 'HTTPRoute',
  fromNamespace = 'web',
  toKind = 'Service',
  name,
}: Grant): string {
  return yaml({
    apiVersion: `${API}/v1`,
    kind: 'ReferenceGrant',
    metadata: { name: 'routes', namespace },
    spec: {
      from: [{ group: API, kind: fromKind, namespace: fromNamespace }],
      to: [{ group: '', kind: toKind, ...(name !== undefined && { name }) }],
    },
  });
}

/** Who answered, and how often. */
async function answers(): Promise<Record<string, number>> {
  const got: Record<string, number> = {};
  for (let number = 0; number < REQUESTS; number += 1) {
    const { status, headers } = await ask(port);
    const who = String(headers['x-backend'] ?? status);
    got[who] = (got[who] ?? 0) + 1;
  }
  return got;
}

async function resolvedRefs(): Promise<string> {
  const { items } = await instance.status();
  const route = items.find(({ kind }) => kind === 'HTTPRoute');
  const parents = (route?.status?.parents ?? []) as readonly { conditions: readonly Record<string, string>[] }[];
  const condition = parents[0]?.conditions.find(({ type }) => type === 'ResolvedRefs');
  return `${condition?.status}/${condition?.reason}`;
}

beforeAll(async () => {
  port = await freePort();
  const [allowed, denied] = [await httpBackend('allowed'), await httpBackend('denied')];
  const backendRefs = [
    { name: 'allowed', namespace: 'data', port: 80, weight: 1 },
    { name: 'denied', namespace: 'data', port: 80, weight: 3 },
  ];
  instance = await Instance.start({
    files: {
      'edge.yaml': yaml(
        gatewayClass(),
        inNamespace('web', gateway('edge', [httpListener(port)])),
        inNamespace('web', httpRoute('both', { rules: [{ backendRefs }] })),
        ...service('allowed', allowed.port),
        ...service('denied', denied.port),
      ),
      'grant.yaml': grant({ name: 'allowed' }),
    },
  });
});

each([
  { given: 'for the first Service', files: grant({ name: 'allowed' }), got: { allowed: 100, 500: 300 } },
  { given: 'for nobody', files: '', got: { 500: 400 } },
  { given: 'for all Services', files: grant({}), got: { allowed: 100, denied: 300 } },
  { given: 'from another kind', files: grant({ fromKind: 'GRPCRoute' }), got: { 500: 400 } },
  { given: 'from another namespace', files: grant({ fromNamespace: 'default' }), got: { 500: 400 } },
  { given: 'to another kind', files: grant({ toKind: 'Secret' }), got: { 500: 400 } },
  { given: 'in the namespace of the route', files: grant({ namespace: 'web' }), got: { 500: 400 } },
  { given: 'for the second Service', files: grant({ name: 'denied' }), got: { 500: 100, denied: 300 } },
] as readonly { given: string; files: string; got: Record<string, number> }[])(
  'with a grant $given each backend has its share, or its share is 500',
  async ({ files, got }) => {
    instance.write('grant.yaml', files);
    expect((await instance.reload()).status).toBe(0);
    expect(await answers()).toEqual(got);
    expect(await resolvedRefs()).toBe(got['500'] === undefined ? 'True/ResolvedRefs' : 'False/RefNotPermitted');
  },
);
