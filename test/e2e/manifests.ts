/** Small builders for the YAML of end-to-end tests: JSON is YAML. */

export interface Doc {
  readonly [field: string]: unknown;
}

const GATEWAY_API = 'gateway.networking.k8s.io/v1';

/** Documents as one file. */
export const yaml = (...docs: readonly Doc[]): string => docs.map((doc) => `---\n${JSON.stringify(doc)}\n`).join('');

export const gatewayClass = (parametersRef?: string): Doc => ({
  apiVersion: GATEWAY_API,
  kind: 'GatewayClass',
  metadata: { name: 'weirgate' },
  spec: {
    controllerName: 'weirgate.dev/gateway-controller',
    ...(parametersRef === undefined
      ? {}
      : {
          parametersRef: { group: 'weirgate.dev', kind: 'WeirgateConfig', name: parametersRef, namespace: 'default' },
        }),
  },
});

export const config = (name: string, spec: Doc): Doc => ({
  apiVersion: 'weirgate.dev/v1alpha1',
  kind: 'WeirgateConfig',
  metadata: { name },
  spec,
});

/** A Gateway on 127.0.0.1. */
export const gateway = (name: string, listeners: readonly Doc[]): Doc => ({
  apiVersion: GATEWAY_API,
  kind: 'Gateway',
  metadata: { name },
  spec: { gatewayClassName: 'weirgate', addresses: [{ type: 'IPAddress', value: '127.0.0.1' }], listeners },
});

export const httpListener = (port: number, name = 'http', hostname?: string): Doc => ({
  name,
  port,
  protocol: 'HTTP',
  ...(hostname === undefined ? {} : { hostname }),
});

export const tcpListener = (port: number, name = 'tcp'): Doc => ({ name, port, protocol: 'TCP' });

export const backend = (name: string, ...ports: readonly number[]): Doc => ({
  apiVersion: 'weirgate.dev/v1alpha1',
  kind: 'Backend',
  metadata: { name },
  spec: { endpoints: ports.map((port) => ({ address: '127.0.0.1', port })) },
});

export const backendRef = (name: string, weight?: number): Doc => ({
  group: 'weirgate.dev',
  kind: 'Backend',
  name,
  ...(weight === undefined ? {} : { weight }),
});

export const httpRoute = (
  name: string,
  spec: { readonly hostnames?: readonly string[]; readonly rules: readonly Doc[]; readonly parent?: Doc },
): Doc => ({
  apiVersion: GATEWAY_API,
  kind: 'HTTPRoute',
  metadata: { name },
  spec: {
    parentRefs: [spec.parent ?? { name: 'edge' }],
    ...(spec.hostnames === undefined ? {} : { hostnames: spec.hostnames }),
    rules: spec.rules,
  },
});

export const tcpRoute = (name: string, refs: readonly Doc[], section?: string): Doc => ({
  apiVersion: GATEWAY_API,
  kind: 'TCPRoute',
  metadata: { name },
  spec: {
    parentRefs: [{ name: 'edge', ...(section === undefined ? {} : { sectionName: section }) }],
    rules: [{ backendRefs: refs }],
  },
});

/** The usual: one HTTP listener, one route for everything, one Backend. */
export const simpleHttp = (port: number, ...backendPorts: readonly number[]): string =>
  yaml(
    gatewayClass(),
    gateway('edge', [httpListener(port)]),
    httpRoute('all', { rules: [{ backendRefs: [backendRef('pool')] }] }),
    backend('pool', ...backendPorts),
  );

/** The same for TCP. */
export const simpleTcp = (port: number, ...backendPorts: readonly number[]): string =>
  yaml(
    gatewayClass(),
    gateway('edge', [tcpListener(port)]),
    tcpRoute('all', [backendRef('pool')]),
    backend('pool', ...backendPorts),
  );
