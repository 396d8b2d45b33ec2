/**
 * Random IRs and requests over small alphabets, so that hosts, paths and headers meet often. Serves the property tests.
 */
import fc from 'fast-check';
import type { ExplainedRequest } from '../../src/explain/explain.js';
import { specificity } from '../../src/explain/host-match.js';
import type { Ir, IrMatch, IrVirtualHost } from '../../src/ir/ir.js';
import { action, cluster, httpListener, httpSocket, ir } from './ir.js';

const ACTIONS = 5;

const label = fc.constantFrom('a', 'b', 'api', 'x-1');
const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
const hostname = fc.oneof(
  fc.constant(''),
  name,
  name.map((text) => `*.${text}`),
);

const element = fc.constantFrom('a', 'v2', 'v2x', 'é', '%2F', '', '.', 'A');
const elements = fc.array(element, { maxLength: 5 });
const path = fc.oneof(
  elements.map((parts) => `/${parts.join('/')}`),
  // Deeper than the hashes that the native lookup keeps.
  fc.integer({ min: 28, max: 40 }).map((depth) => '/a'.repeat(depth)),
);
const requestPath = fc.oneof(
  path,
  path.map((text) => `${text}/`),
  path.map((text) => `${text}x`),
  fc.constantFrom('*', ''),
);

const method = fc.constantFrom('GET', 'POST', 'get');
const headerName = fc.constantFrom('x-a', 'x-b');
const headerValue = fc.constantFrom('', '1', '2', 'ü');

const match: fc.Arbitrary<IrMatch> = fc.record({
  path: fc.record({ type: fc.constantFrom('exact' as const, 'prefix' as const), value: path }),
  queryParams: fc.constant([]),
  grpc: fc.constant(false),
  method: fc.option(method, { nil: undefined }),
  headers: fc.uniqueArray(fc.record({ name: headerName, type: fc.constant('exact' as const), value: headerValue }), {
    maxLength: 2,
    selector: (header) => header.name,
  }),
  action: fc.integer({ min: 0, max: ACTIONS - 1 }),
});

const virtualHosts: fc.Arbitrary<IrVirtualHost[]> = fc
  .array(fc.record({ hostname, matches: fc.array(match, { maxLength: 6 }) }), { maxLength: 6 })
  .map((hosts) => hosts.toSorted((a, b) => specificity(b.hostname) - specificity(a.hostname)));

/** IRs with one HTTP socket of one to four listeners. */
export const arbitraryIr: fc.Arbitrary<Ir> = fc
  .uniqueArray(fc.record({ hostname, virtualHosts }), {
    minLength: 1,
    maxLength: 4,
    selector: (listener) => listener.hostname,
  })
  .map((listeners) =>
    ir({
      sockets: [
        httpSocket(
          8080,
          listeners.map((_, i) => i),
        ),
      ],
      listeners: listeners.map((listener, i) => httpListener(listener.hostname, listener.virtualHosts, `edge/${i}`)),
      actions: Array.from({ length: ACTIONS }, (_, i) => action(`a${i}`, [i + 1, 2])),
      clusters: [cluster('Service/default/one:80', ['10.0.0.1:80']), cluster('Service/default/two:80', [])],
    }),
  );

const requestHost = fc.oneof(
  name,
  name.map((text) => text.toUpperCase()),
  name.map((text) => `${text}.`),
  fc.array(fc.constantFrom('a', 'b', 'api', '', 'zz'), { maxLength: 6 }).map((labels) => labels.join('.')),
);

/** Requests out of nowhere. */
const strayRequest: fc.Arbitrary<ExplainedRequest> = fc.record({
  method,
  host: requestHost,
  path: requestPath,
  query: fc.constant(''),
  headers: fc.array(fc.tuple(fc.constantFrom('x-a', 'X-A', 'x-b', 'accept'), headerValue), { maxLength: 4 }),
});

/** Requests made after a match of the IR; some are spoilt by a suffix, a header or the case. */
function aimedRequest(
  matches: readonly { readonly hostname: string; readonly match: IrMatch }[],
): fc.Arbitrary<ExplainedRequest> {
  return fc
    .record({
      aim: fc.constantFrom(...matches),
      label: fc.constantFrom('a', 'B.api', 'zz'),
      suffix: fc.constantFrom('', '', '', '/', '/a', 'x'),
      stray: strayRequest,
      keepsHeaders: fc.boolean(),
    })
    .map(({ aim: { hostname, match }, label, suffix, stray, keepsHeaders }) => ({
      method: match.method ?? stray.method,
      host: hostname === '' ? stray.host : hostname.replace('*', label),
      path: `${match.path.value}${suffix}`,
      query: '',
      headers: [
        ...match.headers.map(({ name, value }) => [name, value] as const),
        ...(keepsHeaders ? [] : stray.headers),
      ],
    }));
}

/** An IR and requests that often meet it. */
export const arbitraryCase: fc.Arbitrary<readonly [Ir, readonly ExplainedRequest[]]> = arbitraryIr.chain((ir) => {
  const matches = ir.listeners.flatMap((listener) =>
    listener.kind === 'http'
      ? listener.virtualHosts.flatMap(({ hostname, matches }) => matches.map((match) => ({ hostname, match })))
      : [],
  );
  const request =
    matches.length === 0
      ? strayRequest
      : fc.oneof({ weight: 3, arbitrary: aimedRequest(matches) }, { weight: 1, arbitrary: strayRequest });
  return fc.tuple(fc.constant(ir), fc.array(request, { minLength: 20, maxLength: 40 }));
});
