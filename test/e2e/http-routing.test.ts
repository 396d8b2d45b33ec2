/** Which backend a request reaches, through the real table: host, path, method, headers, ports and absolute targets. */
import { beforeAll, expect, test } from 'vitest';
import { each } from './each.js';
import { freePort, Instance } from './instance.js';
import { backend, backendRef, type Doc, gateway, gatewayClass, httpListener, httpRoute, yaml } from './manifests.js';
import { type Backend, httpBackend } from './peers.js';
import { field, Wire } from './wire.js';

const NAMES = ['shop', 'any-shop', 'deep', 'v2', 'exact', 'post', 'canary', 'canary-eu', 'rest', 'api'] as const;
type Name = (typeof NAMES)[number];

const backends = {} as Record<Name, Backend>;
let port: number;
let instance: Instance;

beforeAll(async () => {
  for (const name of NAMES) backends[name] = await httpBackend(name);
  port = await freePort();
  const to = (name: Name, ...matches: Doc[]): Doc => ({
    ...(matches.length === 0 ? {} : { matches }),
    backendRefs: [backendRef(name)],
  });
  const prefix = (value: string): Doc => ({ path: { type: 'PathPrefix', value } });
  instance = await Instance.start({
    files: {
      'edge.yaml': yaml(
        gatewayClass(),
        gateway('edge', [httpListener(port), httpListener(port, 'api', 'api.corp.test')]),
        httpRoute('shop', {
          parent: { name: 'edge', sectionName: 'http' },
          hostnames: ['shop.corp.test'],
          rules: [
            to('shop'),
            to('deep', prefix('/v2/deep')),
            to('v2', prefix('/v2/')),
            to('exact', { path: { type: 'Exact', value: '/v2/exact' } }),
            to('post', { ...prefix('/form'), method: 'POST' }),
            to('canary', { ...prefix('/form'), headers: [{ name: 'X-Canary', value: 'yes' }] }),
            to('canary-eu', {
              ...prefix('/form'),
              headers: [
                { name: 'x-canary', value: 'yes' },
                { name: 'x-region', value: 'eu' },
              ],
            }),
          ],
        }),
        httpRoute('wild', {
          parent: { name: 'edge', sectionName: 'http' },
          hostnames: ['*.shop.corp.test'],
          rules: [to('any-shop')],
        }),
        httpRoute('rest', {
          parent: { name: 'edge', sectionName: 'http' },
          hostnames: ['rest.corp.test'],
          rules: [to('rest', prefix('/only'))],
        }),
        httpRoute('api', { parent: { name: 'edge', sectionName: 'api' }, rules: [to('api', prefix('/api'))] }),
        ...NAMES.map((name) => backend(name, backends[name].port)),
      ),
    },
  });
});

/** Sends one request and says who answered: a backend, or a status of our own. */
async function reached(
  line: string,
  fields: readonly string[],
): Promise<{ to: string; text: string; seen: Name | '' }> {
  const client = await Wire.connect(port);
  await client.write(`${[`${line} HTTP/1.1`, ...fields].join('\r\n')}\r\n\r\n`);
  const answer = await client.answer();
  const name = field(answer.fields, 'x-backend');
  client.finish();
  return { to: name ?? String(answer.status), text: answer.body.toString(), seen: (name ?? '') as Name | '' };
}

const last = (name: Name): Backend['seen'][number] => {
  const seen = backends[name].seen.at(-1);
  if (seen === undefined) throw new Error(`${name} has seen nothing`);
  return seen;
};

each([
  { line: 'GET /', host: 'shop.corp.test', to: 'shop' },
  { line: 'GET /anything?x=/v2', host: 'shop.corp.test', to: 'shop' },
  { line: 'GET /', host: 'SHOP.Corp.TEST', to: 'shop' },
  { line: 'GET /', host: 'shop.corp.test.', to: 'shop' },
  { line: 'GET /', host: 'a.shop.corp.test', to: 'any-shop' },
  { line: 'GET /', host: 'b.a.shop.corp.test', to: 'any-shop' },
  { line: 'GET /v2', host: 'a.shop.corp.test', to: 'any-shop' },
  { line: 'GET /', host: 'xshop.corp.test', to: '404' },
  { line: 'GET /', host: 'corp.test', to: '404' },
  { line: 'GET /v2', host: 'shop.corp.test', to: 'v2' },
  { line: 'GET /v2/', host: 'shop.corp.test', to: 'v2' },
  { line: 'GET /v2/x?deep', host: 'shop.corp.test', to: 'v2' },
  { line: 'GET /v2x', host: 'shop.corp.test', to: 'shop' },
  { line: 'GET /V2', host: 'shop.corp.test', to: 'shop' },
  { line: 'GET /v2/deep', host: 'shop.corp.test', to: 'deep' },
  { line: 'GET /v2/deep/er', host: 'shop.corp.test', to: 'deep' },
  { line: 'GET /v2/deeper', host: 'shop.corp.test', to: 'v2' },
  { line: 'GET /v2/exact', host: 'shop.corp.test', to: 'exact' },
  { line: 'GET /v2/exact?q', host: 'shop.corp.test', to: 'exact' },
  { line: 'GET /v2/exact/', host: 'shop.corp.test', to: 'v2' },
  { line: 'GET /form', host: 'shop.corp.test', to: 'shop' },
  { line: 'POST /form', host: 'shop.corp.test', to: 'post' },
  { line: 'PUT /form', host: 'shop.corp.test', to: 'shop' },
  { line: 'GET /form', host: 'shop.corp.test', fields: ['x-CANARY: yes'], to: 'canary' },
  { line: 'GET /form', host: 'shop.corp.test', fields: ['X-Canary: YES'], to: 'shop' },
  { line: 'GET /form', host: 'shop.corp.test', fields: ['X-Region: eu'], to: 'shop' },
  { line: 'GET /form', host: 'shop.corp.test', fields: ['X-Region: eu', 'X-Canary: yes'], to: 'canary-eu' },
  { line: 'POST /form', host: 'shop.corp.test', fields: ['X-Region: eu', 'X-Canary: yes'], to: 'post' },
  { line: 'GET /only/this', host: 'rest.corp.test', to: 'rest' },
  { line: 'GET /other', host: 'rest.corp.test', to: '404' },
  { line: 'GET /api/x', host: 'api.corp.test', to: 'api' },
  { line: 'GET /only', host: 'api.corp.test', to: '404' },
] as readonly { line: string; host: string; fields?: readonly string[]; to: string }[])(
  '$line for $host with [$fields] reaches $to',
  async ({ line, host, fields = [], to }) => {
    expect((await reached(line, [`Host: ${host}`, ...fields])).to).toBe(to);
  },
);

// H13: the port of a Host decides nothing and is passed on as it came.
each([
  { host: 'api.corp.test', to: 'api' },
  { host: 'api.corp.test:8443', to: 'api' },
  { host: 'api.corp.test:9999', to: 'api' },
  { host: 'API.Corp.Test:8443', to: 'api' },
  // The empty port is the default one: RFC 3986 §3.2.3.
  { host: 'api.corp.test:', to: 'api' },
  { host: 'api.corp.test:x', to: '400' },
  { host: 'api.corp.test:65536', to: '400' },
])('Host: $host reaches $to, unchanged upstream', async ({ host, to }) => {
  const { to: got, seen } = await reached('GET /api', [`Host: ${host}`]);
  expect(got).toBe(to);
  if (seen !== '') expect(last(seen).raw.slice(0, 2)).toEqual(['Host', host]);
});

// H5: of an absolute-form target the authority ends at `/`, `?` or `#`, and it wins over Host.
each([
  { target: 'http://shop.corp.test?id=7', to: 'shop', url: '/?id=7', host: 'shop.corp.test' },
  { target: 'http://shop.corp.test:8080', to: 'shop', url: '/', host: 'shop.corp.test:8080' },
  { target: 'HTTP://SHOP.corp.TEST/a', to: 'shop', url: '/a', host: 'SHOP.corp.TEST' },
  { target: 'http://shop.corp.test/v2?/x', to: 'v2', url: '/v2?/x', host: 'shop.corp.test' },
  {
    target: 'http://shop.corp.test/v2/deep?http://evil',
    to: 'deep',
    url: '/v2/deep?http://evil',
    host: 'shop.corp.test',
  },
  { target: 'http://user@shop.corp.test/', to: '400', url: '', host: '' },
  { target: 'http://shop.corp.test#frag', to: '400', url: '', host: '' },
  { target: 'http:///path', to: '400', url: '', host: '' },
  { target: 'ftp://shop.corp.test/', to: '400', url: '', host: '' },
  { target: 'shop.corp.test/', to: '400', url: '', host: '' },
])('GET $target beside Host: evil.corp.test reaches $to as $url with Host $host', async ({ target, to, url, host }) => {
  const { to: got, seen } = await reached(`GET ${target}`, ['Host: evil.corp.test']);
  expect(got).toBe(to);
  if (seen !== '') expect([last(seen).url, last(seen).headers.host]).toEqual([url, host]);
});

test('OPTIONS * is about the server as a whole and reaches the route of /, still as *', async () => {
  expect((await reached('OPTIONS *', ['Host: shop.corp.test'])).to).toBe('shop');
  expect(last('shop')).toMatchObject({ method: 'OPTIONS', url: '*' });
});

test('a 404 says in its body whether the host or the route is unknown', async () => {
  expect((await reached('GET /', ['Host: rest.corp.test'])).text).toBe('404 not found: no route matches\n');
  const before = await instance.metric('weirgate_connections_closed_total', { reason: 'no_route' });
  await reached('GET /', ['Host: rest.corp.test']);
  expect(await instance.metric('weirgate_connections_closed_total', { reason: 'no_route' })).toBe(before + 1);
});
