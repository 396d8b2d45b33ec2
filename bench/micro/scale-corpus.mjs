/**
 * The configuration of the scale bench: many teams, each a namespace with a Gateway, a listener for the team's own host
 * names, a Service with an endpoint, and a hundred HTTPRoutes; a file a team. Serves `scale.mjs`.
 */

/** Routes of each team: 100,000 routes stand on 1,000 Gateways. */
export const ROUTES_A_TEAM = 100;

const GATEWAY_API = 'gateway.networking.k8s.io/v1';

/** Returns the files of a configuration with so many routes; `port` is the one that every listener shares. */
export function corpus(routes, format, port) {
  const teams = Math.ceil(routes / ROUTES_A_TEAM);
  const files = [{ name: `class.${format}`, text: write([gatewayClass()], format) }];
  for (let team = 0; team < teams; team++) files.push(teamFile(team, 0, format, port));
  return files;
}

/** Returns the file of one team; with another `revision` its first route has another path. */
export function teamFile(team, revision, format, port) {
  const objects = [gateway(team, port), ...service(team)];
  for (let route = 0; route < ROUTES_A_TEAM; route++) objects.push(httpRoute(team, route, route === 0 ? revision : 0));
  return { name: `${namespaceOf(team)}.${format}`, text: write(objects, format) };
}

/** Returns a file with one Gateway of 64 listeners and routes that attach to all of them. */
export function crowd(routes, listeners, format, port) {
  const host = (listener) => `*.l${listener}.bench.example`;
  const objects = [
    gatewayClass(),
    {
      apiVersion: GATEWAY_API,
      kind: 'Gateway',
      metadata: { name: 'edge', namespace: namespaceOf(0) },
      spec: {
        gatewayClassName: 'bench',
        addresses: [{ type: 'IPAddress', value: '127.0.0.1' }],
        listeners: Array.from({ length: listeners }, (_, listener) => ({
          name: `http-${listener}`,
          protocol: 'HTTP',
          port,
          hostname: host(listener),
        })),
      },
    },
    ...service(0),
  ];
  for (let route = 0; route < routes; route++) {
    const { spec, metadata, ...rest } = httpRoute(0, route, 0);
    const matches = [{ path: { type: 'PathPrefix', value: `/route-${route}` } }];
    objects.push({
      ...rest,
      metadata: { ...metadata, name: `route-${route}` },
      spec: { parentRefs: spec.parentRefs, rules: [{ ...spec.rules[0], matches }] },
    });
  }
  return { name: `crowd.${format}`, text: write(objects, format) };
}

const namespaceOf = (team) => `team-${String(team).padStart(4, '0')}`;

const gatewayClass = () => ({
  apiVersion: GATEWAY_API,
  kind: 'GatewayClass',
  metadata: { name: 'bench' },
  spec: { controllerName: 'weirgate.dev/gateway-controller' },
});

const gateway = (team, port) => ({
  apiVersion: GATEWAY_API,
  kind: 'Gateway',
  metadata: { name: 'edge', namespace: namespaceOf(team) },
  spec: {
    gatewayClassName: 'bench',
    addresses: [{ type: 'IPAddress', value: '127.0.0.1' }],
    listeners: [{ name: 'http', protocol: 'HTTP', port, hostname: `*.${namespaceOf(team)}.bench.example` }],
  },
});

const service = (team) => [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'app', namespace: namespaceOf(team) },
    spec: { ports: [{ name: 'http', port: 80 }] },
  },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'app-1', namespace: namespaceOf(team), labels: { 'kubernetes.io/service-name': 'app' } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 3000 }],
    endpoints: [{ addresses: ['127.0.0.1'] }],
  },
];

const httpRoute = (team, route, revision) => ({
  apiVersion: GATEWAY_API,
  kind: 'HTTPRoute',
  metadata: { name: `app-${route}`, namespace: namespaceOf(team) },
  spec: {
    parentRefs: [{ name: 'edge' }],
    hostnames: [`app-${route}.${namespaceOf(team)}.bench.example`],
    rules: [
      {
        matches: [{ path: { type: 'PathPrefix', value: revision === 0 ? '/' : `/revision-${revision}` } }],
        backendRefs: [{ name: 'app', port: 80 }],
      },
    ],
  },
});

function write(objects, format) {
  if (format === 'yaml') return objects.map((object) => `---\n${yaml(object, '').join('\n')}\n`).join('');
  return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }, null, 1)}\n`;
}

/** Text that means itself without quotes. */
const PLAIN = /^[a-zA-Z/][a-zA-Z0-9./-]*$/;

/** Lines of a map or list in block style. */
function yaml(value, indent) {
  const items = Array.isArray(value);
  return Object.entries(value).flatMap(([key, field]) => {
    const head = items ? `${indent}-` : `${indent}${key}:`;
    if (typeof field !== 'object') return [`${head} ${PLAIN.test(field) ? field : JSON.stringify(field)}`];
    const inner = yaml(field, `${indent}  `);
    return items ? [`${head} ${inner[0].trimStart()}`, ...inner.slice(1)] : [head, ...inner];
  });
}
