/**
 * Conditions name the generation that they judge: an operator, and the official suite, tell by it whether a status is stale.
 */
import { expect, it } from 'vitest';
import { buildText } from '../support/build.js';
import { textOf, type WrittenObject } from '../support/snapshot-arbitrary.js';

const API = 'gateway.networking.k8s.io/v1';

function written(kind: string, name: string, generation: number | undefined, spec: object): WrittenObject {
  return { apiVersion: API, kind, metadata: { name, ...(generation !== undefined && { generation }) }, spec };
}

const listeners = [
  { name: 'http', protocol: 'HTTP', port: 80 },
  { name: 'odd', protocol: 'example.com/odd', port: 81 },
];
const rules = [{ backendRefs: [{ name: 'missing', port: 80 }] }];

it.each<[string, number | undefined, number]>([
  ['every condition names the generation of the object that it judges', 7, 7],
  ['an object without a generation has the first one, as in an API server', undefined, 1],
])('%s', (_, generation, expected) => {
  const { status } = buildText(
    textOf([
      written('GatewayClass', 'weirgate', generation, { controllerName: 'weirgate.dev/gateway-controller' }),
      written('Gateway', 'edge', generation, { gatewayClassName: 'weirgate', listeners }),
      written('HTTPRoute', 'web', generation, { parentRefs: [{ name: 'edge' }], rules }),
    ]),
  );
  expect(status.map(({ kind }) => kind).sort()).toEqual(['Gateway', 'GatewayClass', 'HTTPRoute']);
  for (const { kind, status: of } of status) {
    const lists = [of.conditions, ...(of.listeners ?? of.parents ?? []).map(({ conditions }) => conditions)];
    const generations = lists.flatMap((list) => list ?? []).map(({ observedGeneration }) => observedGeneration);
    expect(new Set(generations), kind).toEqual(new Set([expected]));
  }
});
