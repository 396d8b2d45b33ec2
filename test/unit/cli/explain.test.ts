/** `weirgate explain`: fields from the schemas, and answers about requests, to read and as data. */
import { describe, expect, it } from 'vitest';
import { findField, formatField } from '../../../src/cli/explain-field.js';
import { buildRequestReport, formatRequestReport } from '../../../src/cli/explain-request.js';
import { explainUrl, parseUrl } from '../../../src/explain/explain-url.js';
import { KINDS } from '../../../src/gateway-api/index.js';
import type { Ir, IrTermination, IrTlsListener } from '../../../src/ir/ir.js';
import { action, cluster, exact, httpListener, httpSocket, ir, prefix, TIMEOUTS } from '../../support/ir.js';

const plain = (_: string, text: string): string => text;

function field(path: string): string {
  const found = findField(path);
  return found.ok ? formatField(found.value, plain) : `error: ${found.error}`;
}

describe('a field', () => {
  it('is found by kind and path, stepping into lists', () => {
    const text = field('httproute.spec.rules.matches.path');
    expect(text).toContain('KIND:      HTTPRoute\n');
    expect(text).toContain('VERSION:   gateway.networking.k8s.io/v1\n');
    expect(text).toContain('FIELD:     spec.rules.matches.path <object>\n');
    expect(text).toContain('Default: {"type":"PathPrefix","value":"/"}');
    expect(text).toMatch(/^ {2}type +<string> /m);
  });

  it('tells limits, words and form', () => {
    expect(field('httproute.spec.rules.matches.path.type')).toContain('One of: Exact, PathPrefix, RegularExpression');
    expect(field('gateway.spec.listeners')).toMatch(/Items: 1 to 64\n.*No two items may have the same name\./s);
    expect(field('gateway.spec.listeners.port')).toContain('Value: 1 to 65535');
    expect(field('gateway.spec.listeners.hostname')).toContain('Form: a lower-case host name');
    expect(field('gateway.spec')).toMatch(/^ {2}gatewayClassName +<string> +-required- /m);
  });

  it('takes kinds as kubectl does, and indexes', () => {
    expect(field('gtw.spec.listeners[0].name')).toBe(field('gateways.spec.listeners.name'));
  });

  it.each([
    ['htproute.spec', 'did you mean httproute?'],
    ['httproute.spec.rule', 'HTTPRoute.spec has no field rule; did you mean rules?'],
    ['httproute.spec.rules.zzz', 'has no field zzz; it has name, matches,'],
    ['gateway.spec.gatewayClassName.x', 'has no field x; it has no fields'],
  ])('%s that is not there says what is: %s', (path, message) => {
    expect(field(path)).toContain(message);
  });

  it('of every kind has a description', () => {
    for (const { kind, schema } of KINDS) {
      expect(field(kind)).toContain('DESCRIPTION:');
      expect(schema.doc).not.toBe('');
    }
  });
});

describe('a URL', () => {
  it.each([
    ['http://a.test', 'http', 'a.test', 80, '/', ''],
    ['https://a.test/x%2Fy?q=1&r#f', 'https', 'a.test', 443, '/x%2Fy', 'q=1&r'],
    ['https://[::1]:8443/', 'https', '[::1]', 8443, '/', ''],
    ['TLS://db.test', 'tls', 'db.test', 443, '/', ''],
    ['tcp://db.test:5432', 'tcp', 'db.test', 5432, '/', ''],
    ['udp://:53', 'udp', '', 53, '/', ''],
    ['http://a.test?x', 'http', 'a.test', 80, '/', 'x'],
  ])('%s is read', (text, scheme, host, port, path, query) => {
    expect(parseUrl(text)).toEqual({ ok: true, value: { scheme, host, port, path, query } });
  });

  it.each([
    ['a.test/', 'is no URL'],
    ['ftp://a.test/', 'the scheme ftp is none of'],
    ['tcp://a.test', 'write tcp://a.test:PORT'],
    ['http://a.test:0/', 'not between 1 and 65535'],
    ['http://user@a.test/', 'is no URL'],
    ['http://a.test/a b', 'is no URL'],
  ])('%s is refused: %s', (text, message) => {
    const parsed = parseUrl(text);
    expect(parsed.ok ? '' : parsed.error).toContain(message);
  });
});

const termination: IrTermination = {
  certificates: [],
  minVersion: '1.2',
  maxVersion: '1.3',
  cipherSuites: [],
  alpn: [],
  clientValidation: undefined,
};
const passthrough: IrTlsListener = {
  kind: 'tls',
  name: 'edge/vault',
  hostname: 'vault.lab.test',
  timeouts: TIMEOUTS,
  clientCertificate: undefined,
  termination: undefined,
  routes: [{ hostname: 'vault.lab.test', action: 1 }],
};

/** Names of one certificate on two HTTPS listeners, a third passed through, and clear text beside. */
const edge: Ir = ir({
  sockets: [
    { ...httpSocket(443, [0, 1, 2]), protocol: 'tls' },
    httpSocket(80, [3]),
    { ...httpSocket(53, [4]), key: 'udp/127.0.0.1:53', transport: 'udp', protocol: 'udp' },
  ],
  listeners: [
    {
      ...httpListener('*.lab.test', [{ hostname: '*.lab.test', matches: [prefix('/', 0)] }], 'edge/wild'),
      tls: termination,
    },
    {
      ...httpListener('pay.lab.test', [{ hostname: 'pay.lab.test', matches: [prefix('/', 2)] }], 'edge/pay'),
      tls: termination,
    },
    passthrough,
    httpListener(
      '',
      [
        {
          hostname: '',
          matches: [
            exact('/a', 0, { queryParams: [{ name: 'v', type: 'exact', value: '2' }] }),
            prefix('/', 3, { grpc: true }),
            { ...prefix('', 1), path: { type: 'regex', value: '/u/\\d+' } },
          ],
        },
      ],
      'edge/http',
    ),
    { kind: 'udp', name: 'edge/dns', timeouts: TIMEOUTS, clientCertificate: undefined, action: undefined },
  ],
  actions: [
    action('HTTPRoute/lab/wild/0'),
    action('TLSRoute/lab/vault/0'),
    action('HTTPRoute/lab/pay/0', []),
    action('GRPCRoute/lab/api/0'),
  ],
  clusters: [cluster('Service/lab/web:80', ['10.0.0.1:80'])],
});

function answer(
  url: string,
  options: { method?: string; sni?: string; headers?: [string, string][]; address?: string } = {},
): string[] {
  const parsed = parseUrl(url);
  if (!parsed.ok) throw new Error(parsed.error);
  const { method = 'GET', sni: serverName, headers = [], address } = options;
  const answers = explainUrl(edge, { method, url: parsed.value, headers, serverName, address });
  return buildRequestReport(edge, url, answers).answers.map(({ result, action: route }) => `${route} ${result}`);
}

describe('a request', () => {
  it.each([
    ['https://blog.lab.test/', undefined, 'HTTPRoute/lab/wild/0 forwarded'],
    ['https://wiki.lab.test/', 'blog.lab.test', 'HTTPRoute/lab/wild/0 forwarded'],
    ['https://pay.lab.test/', 'blog.lab.test', ' 421: the host belongs to listener edge/pay, the server name does not'],
    [
      'https://blog.lab.test/',
      'pay.lab.test',
      ' 421: the host belongs to listener edge/wild, the server name does not',
    ],
    ['https://other.invalid/', 'blog.lab.test', ' 404: no route of the listener matches'],
    ['https://pay.lab.test/', undefined, 'HTTPRoute/lab/pay/0 500: the rule has no backend that works'],
    ['https://vault.lab.test/', undefined, 'TLSRoute/lab/vault/0 forwarded'],
    ['https://other.invalid/', undefined, ' no listener serves this name: 404, with TLS the handshake is refused'],
    ['https://127.0.0.1/', undefined, ' no listener serves this name: 404, with TLS the handshake is refused'],
  ])('%s with server name %s: %s', (url, sni, expected) => {
    expect(answer(url, sni === undefined ? {} : { sni })).toEqual([expected]);
  });

  it('is judged by query, regular expression and gRPC', () => {
    expect(answer('http://x.test/a?v=2')).toEqual(['HTTPRoute/lab/wild/0 forwarded']);
    expect(answer('http://x.test/a?v=1&v=2')).toEqual([' 404: no route of the listener matches']);
    expect(answer('http://x.test/u/17')).toEqual(['TLSRoute/lab/vault/0 forwarded']);
    expect(answer('http://x.test/u/17/b')).toEqual([' 404: no route of the listener matches']);
    const headers: [string, string][] = [['Content-Type', 'application/grpc+proto']];
    expect(answer('http://x.test/a?v=2', { headers })).toEqual(['GRPCRoute/lab/api/0 forwarded']);
    expect(answer('http://x.test/b', { headers: [['content-type', 'application/grpcx']] })).toEqual([
      ' 404: no route of the listener matches',
    ]);
  });

  it('with the wrong protocol, port or address is told so', () => {
    expect(answer('http://x.test:443/')).toEqual([' nothing: the socket speaks TLS: ask for an https URL']);
    expect(answer('https://x.test:80/')).toEqual([
      ' nothing: the socket speaks HTTP in clear text: ask for an http URL',
    ]);
    expect(answer('udp://x.test:53')).toEqual([' no route: the connection is closed, datagrams are dropped']);
    expect(answer('tcp://x.test:53')).toEqual([]);
    expect(answer('http://x.test/', { method: 'CONNECT' })).toEqual([' nothing: the socket answers CONNECT with 501']);
    expect(answer('http://x.test/', { address: '127.0.0.9' })).toEqual([]);
    const nowhere = formatRequestReport(buildRequestReport(edge, 'GET x', []), plain);
    expect(nowhere).toContain(
      'nothing listens there: the connection is refused (listeners have tcp/127.0.0.1:443, tcp/127.0.0.1:80, ',
    );
  });

  it('reads well: what wins, its shares, and why each other candidate lost', () => {
    const parsed = parseUrl('http://x.test/a?v=2');
    if (!parsed.ok) throw new Error(parsed.error);
    const question = { method: 'GET', url: parsed.value, headers: [], serverName: undefined, address: undefined };
    const report = buildRequestReport(edge, 'GET http://x.test/a?v=2', explainUrl(edge, question));
    expect(formatRequestReport(report, plain)).toBe(`GET http://x.test/a?v=2
  socket    tcp/127.0.0.1:80
  listener  edge/http
  route     HTTPRoute/lab/wild/0
  match     any method exact /a, query v=2
  backend   Service/lab/web:80  100 %
  result    forwarded
  not       match GRPCRoute/lab/api/0 at any host: gRPC any method prefix /: the request is not gRPC: its content-type is not application/grpc
  not       match TLSRoute/lab/vault/0 at any host: any method regex /u/\\d+: the path is /a
`);
  });
});
