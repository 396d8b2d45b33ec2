/**
 * The rules of precedence, judged twice: by the IR, through the oracle, and straight from the objects by a judge that knows
 * neither listeners' tries nor virtual hosts: it collects everything that fits and takes the best.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ExplainedRequest, explainRequest } from '../../src/explain/explain.js';
import { coversHost, specificity } from '../../src/explain/host-match.js';
import { buildFiles } from '../support/build.js';
import { gatewayClass, servedMatch, textOf, type WrittenObject } from '../support/snapshot-arbitrary.js';

const SEED = Number(process.env.WEIRGATE_SEED ?? Date.now() % 2 ** 31);
const RUNS = Number(process.env.WEIRGATE_RUNS ?? 400);

interface Match {
  readonly path: { readonly type: string; readonly value: string };
  readonly method?: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

interface Route extends WrittenObject {
  readonly spec: {
    readonly parentRefs: readonly { readonly name: string; readonly sectionName?: string }[];
    readonly hostnames: readonly string[];
    readonly rules: readonly { readonly matches: readonly Match[] }[];
  };
}

const HOSTNAMES = ['', 'a.test', 'b.a.test', '*.a.test', '*.b.a.test', '*.test'];

const listenerHostnames = fc.uniqueArray(fc.constantFrom(...HOSTNAMES), { minLength: 1, maxLength: 4 });

const arbitraryRoute = fc
  .record({
    created: fc.constantFrom('2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', undefined),
    section: fc.constantFrom(undefined, undefined, 0, 1),
    hostnames: fc.uniqueArray(fc.constantFrom(...HOSTNAMES.slice(1)), { maxLength: 3 }),
    rules: fc.array(fc.record({ matches: fc.array(servedMatch, { minLength: 1, maxLength: 3 }) }), {
      minLength: 1,
      maxLength: 3,
    }),
  })
  .map(
    ({ created, section, hostnames, rules }) =>
      (name: string): Route => ({
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: 'HTTPRoute',
        metadata: { name, ...(created && { creationTimestamp: created }) },
        spec: {
          parentRefs: [{ name: 'edge', ...(section !== undefined && { sectionName: `l${section}` }) }],
          hostnames,
          rules,
        },
      }),
  );

const routes = fc
  .array(arbitraryRoute, { minLength: 1, maxLength: 5 })
  .map((made) => made.map((make, i) => make(`r${i}`)));

const request: fc.Arbitrary<ExplainedRequest> = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT'),
  host: fc.constantFrom('a.test', 'b.a.test', 'x.b.a.test', 'x.a.test', 'c.test', 'test'),
  path: fc.constantFrom('/', '/a', '/a/', '/a/b', '/a/b/c', '/ab', '/abc'),
  query: fc.constant(''),
  headers: fc.subarray<readonly [string, string]>([
    ['X-ONE', '1'],
    ['x-two', '2'],
  ]),
});

it(`the best match wins, whichever way it is looked for (seed ${SEED})`, () => {
  let routed = 0;
  fc.assert(
    fc.property(
      listenerHostnames,
      routes,
      fc.array(request, { minLength: 1, maxLength: 20 }),
      (hostnames, all, requests) => {
        const { ir } = buildFiles({ 'all.yaml': textOf([gatewayClass, gatewayOf(hostnames), ...all]) });
        for (const one of requests) {
          const decision = explainRequest(ir, ir.sockets[0]!, one);
          const expected = bestRule(hostnames, all, one);
          if (expected !== undefined) routed += 1;
          expect({ one, action: decision.kind === 'action' ? decision.action : undefined }).toEqual({
            one,
            action: expected,
          });
        }
      },
    ),
    { seed: SEED, numRuns: RUNS },
  );
  expect(routed).toBeGreaterThan(RUNS / 4);
});

function gatewayOf(hostnames: readonly string[]): WrittenObject {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'edge' },
    spec: {
      gatewayClassName: 'weirgate',
      listeners: hostnames.map((hostname, i) => ({
        name: `l${i}`,
        protocol: 'HTTP',
        port: 80,
        ...(hostname !== '' && { hostname }),
      })),
    },
  };
}

/** Returns the action of the rule that the specification gives the request to. */
function bestRule(hostnames: readonly string[], all: readonly Route[], one: ExplainedRequest): string | undefined {
  const listener = hostnames
    .map((hostname, index) => ({ hostname, index }))
    .filter(({ hostname }) => coversHost(hostname, one.host))
    .sort((a, b) => specificity(b.hostname) - specificity(a.hostname))[0];
  if (listener === undefined) return undefined;
  const found = all.flatMap((route) => {
    const { parentRefs, rules } = route.spec;
    const section = parentRefs[0]?.sectionName ?? `l${listener.index}`;
    const own = route.spec.hostnames.length === 0 ? [''] : route.spec.hostnames;
    const covering = own.filter((hostname) => coversHost(hostname, one.host));
    if (section !== `l${listener.index}` || covering.length === 0) return [];
    return rules.flatMap(({ matches }, rule) =>
      matches
        .filter((match) => fits(match, one))
        .map((match, place) => ({
          action: `HTTPRoute/default/${route.metadata.name}/${rule}`,
          rank: [
            -Math.max(...covering.map(specificity)),
            match.path.type === 'Exact' ? 0 : 1,
            -elementsText(match.path.value).length,
            match.method === undefined ? 1 : 0,
            -match.headers.length,
            Date.parse(route.metadata.creationTimestamp ?? '9999-01-01T00:00:00Z'),
            Number(route.metadata.name.slice(1)),
            rule,
            place,
          ],
        })),
    );
  });
  return found.sort((a, b) => compareRanks(a.rank, b.rank))[0]?.action;
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  return a.map((value, index) => value - b[index]!).find((difference) => difference !== 0) ?? 0;
}

function fits({ path, method, headers }: Match, one: ExplainedRequest): boolean {
  if (method !== undefined && method !== one.method) return false;
  const sent = new Map(one.headers.map(([name, value]) => [name.toLowerCase(), value]));
  if (!headers.every(({ name, value }) => sent.get(name.toLowerCase()) === value)) return false;
  if (path.type === 'Exact') return path.value === one.path;
  const wanted = elementsText(path.value);
  return one.path === wanted || one.path.startsWith(`${wanted}/`);
}

/** A prefix without its trailing slash. */
function elementsText(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
