/** Admitted files that came from elsewhere: equal texts become one, and nothing else changes. */
import { deserialize, serialize } from 'node:v8';
import { expect, it } from 'vitest';
import { type AdmittedFile, admitText } from '../../../src/admit/index.js';
import { spanAt } from '../../../src/gateway-api/index.js';
import { Interner } from '../../../src/primary/intern.js';

const route = (name: string): string => `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name}, labels: { "__proto__": x, tier: front } }
spec:
  parentRefs: [{ name: edge }]
  hostnames: [${name}.example.com]
  rules: [{ matches: [{ path: { value: /shop } }], backendRefs: [{ name: app, port: 80 }] }]
`;
const TEXT = [route('a'), route('b'), 'kind: [', 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: c }\n'].join(
  '---\n',
);

function copyOf(file: AdmittedFile): AdmittedFile {
  return deserialize(serialize(file)) as AdmittedFile;
}

it('a file is what it was, places included, and holds none of the bytes that it came in', () => {
  const file = admitText('a.yaml', TEXT);
  const bytes = serialize(file);
  const shared = new Interner().share(deserialize(bytes) as AdmittedFile);
  expect(shared).toEqual(file);
  for (const [index, resource] of shared.resources.entries()) {
    expect(spanAt(resource, 'spec.rules[0].backendRefs[0].port')).toEqual(
      spanAt(file.resources[index] as (typeof file.resources)[number], 'spec.rules[0].backendRefs[0].port'),
    );
    expect(resource.positions.packed.buffer.byteLength).toBeLessThan(bytes.length);
  }
});

it('names of fields are shared between objects and files', () => {
  const interner = new Interner();
  const [one, other] = [
    interner.share(copyOf(admitText('a.yaml', TEXT))),
    interner.share(copyOf(admitText('b.yaml', TEXT))),
  ];
  const [a, b] = one.resources;
  expect(a?.positions.keys).toBe(b?.positions.keys);
  expect(other.resources[0]?.positions.keys).toBe(a?.positions.keys);
});
