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
  path: fc.record({ type: fc.constantFrom('exact', 'prefix'), value: path }),
  method: fc.option(method, { nil: undefined }),
  headers: fc.uniqueArray(fc.record({ name: headerName, value: headerValue }), {
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

/** Requests that often meet what `arbitraryIr` makes. */
export const arbitraryRequest: fc.Arbitrary<ExplainedRequest> = fc.record({
  method,
  host: requestHost,
  path: requestPath,
  headers: fc.array(fc.tuple(fc.constantFrom('x-a', 'X-A', 'x-b', 'accept'), headerValue), { maxLength: 4 }),
});
