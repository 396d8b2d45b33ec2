/** Of two routes with equal matches the older one is served, then the first by name: over reloads, renamed files and all workers (H14). */
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { freePort, Instance, weirgate } from './instance.js';
import { backend, backendRef, type Doc, gateway, gatewayClass, httpListener, httpRoute, yaml } from './manifests.js';
import { ask, httpBackend } from './peers.js';

const REQUESTS = 500;
const WORKERS = 3;

let port: number;
let instance: Instance;
let backends: Doc;

/** A route of namespace ns-a to the backend of its name; both match the same. */
function route(name: string, creationTimestamp?: string): string {
  const { metadata: _, ...rest } = httpRoute(name, {
    hostnames: ['same.test'],
    parent: { name: 'edge', namespace: 'default' },
    rules: [{ backendRefs: [backendRef(name)] }],
  });
  return yaml({ ...rest, metadata: { name, namespace: 'ns-a', ...(creationTimestamp && { creationTimestamp }) } });
}

/** Who answered, and how often. */
async function answers(): Promise<Record<string, number>> {
  const got: Record<string, number> = {};
  for (let number = 0; number < REQUESTS; number += 1) {
    const { status, headers } = await ask(port, { host: 'same.test' });
    const who = String(headers['x-backend'] ?? status);
    got[who] = (got[who] ?? 0) + 1;
  }
  return got;
}

beforeAll(async () => {
  port = await freePort();
  const [zeta, alpha] = [await httpBackend('zeta'), await httpBackend('alpha')];
  const inNamespace = (name: string, at: number): Doc => ({
    ...backend(name, at),
    metadata: { name, namespace: 'ns-a' },
  });
  backends = {
    kind: 'List',
    apiVersion: 'v1',
    items: [inNamespace('zeta', zeta.port), inNamespace('alpha', alpha.port)],
  };
  const listener = { ...httpListener(port), allowedRoutes: { namespaces: { from: 'All' } } };
  instance = await Instance.start({
    workers: WORKERS,
    files: {
      'edge.yaml': yaml(gatewayClass(), gateway('edge', [listener]), backends),
      'a.yaml': route('alpha', '2026-05-09T00:00:00Z'),
      'z.yaml': route('zeta', '2026-01-03T00:00:00Z'),
    },
  });
});

test('the older route has every request, whatever its name and that of its file', async () => {
  expect(await answers()).toEqual({ zeta: REQUESTS });
  instance.remove('a.yaml');
  instance.remove('z.yaml');
  instance.write('0-zeta.yaml', route('zeta', '2026-01-03T00:00:00Z'));
  instance.write('9-alpha.yaml', route('alpha', '2026-05-09T00:00:00Z'));
  expect((await instance.reload()).status).toBe(0);
  expect(await answers()).toEqual({ zeta: REQUESTS });
});

test('check warns once, of the route that never wins', async () => {
  const { stdout } = await weirgate(['check', join(instance.folder, 'config'), '-o', 'json']);
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: readonly { code: string; object: string }[] };
  expect(diagnostics.filter(({ code }) => code === 'WG4041').map(({ object }) => object)).toEqual([
    'HTTPRoute ns-a/alpha',
  ]);
});

test('without times the first by name has every request, in either order of the files', async () => {
  instance.write('0-zeta.yaml', route('zeta'));
  instance.write('9-alpha.yaml', route('alpha'));
  expect((await instance.reload()).status).toBe(0);
  expect(await answers()).toEqual({ alpha: REQUESTS });
  instance.remove('0-zeta.yaml');
  instance.remove('9-alpha.yaml');
  instance.write('a.yaml', route('zeta'));
  instance.write('z.yaml', route('alpha'));
  expect((await instance.reload()).status).toBe(0);
  expect(await answers()).toEqual({ alpha: REQUESTS });
});
