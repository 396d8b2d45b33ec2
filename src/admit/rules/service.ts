/**
 * Rules of Service, as far as wrong values would mislead routing.
 */
import { isIP } from 'node:net';
import { FORMATS, type Service } from '../../gateway-api/index.js';
import { eachItem, eachRepeated, type Rule, type Violate } from './rule.js';

/** Such a Service has no address of its own. */
const HEADLESS = 'None';

function checkPorts({ spec }: Service, violate: Violate): void {
  const { ports, type, clusterIP, clusterIPs = [] } = spec;
  if (ports.length > 0 || type === 'ExternalName' || clusterIP === HEADLESS || clusterIPs[0] === HEADLESS) return;
  violate('spec.ports', 'a Service needs a port', 'add ports, or clusterIP: None for a Service without address');
}

function checkPortNames({ spec: { ports } }: Service, violate: Violate): void {
  if (ports.length > 1) {
    eachItem(ports, 'spec.ports', ({ name, port }, path) => {
      if (name === undefined || name === '')
        violate(`${path}.name`, `port ${port} has no name`, 'ports of a Service with several ports need names');
    });
  }
  eachRepeated(
    ports,
    'spec.ports',
    ({ name }) => (name === '' ? undefined : name),
    ({ name }, path, firstPath) => {
      violate(`${path}.name`, `port name "${name}" is there twice`, `${firstPath} has it already`);
    },
  );
}

function checkPortNumbers({ spec: { ports } }: Service, violate: Violate): void {
  const key = ({ port, protocol }: { port: number; protocol: string }): string => `${protocol} ${port}`;
  eachRepeated(ports, 'spec.ports', key, ({ port, protocol }, path, firstPath) => {
    violate(path, `${protocol} port ${port} is there twice`, `${firstPath} has it already`);
  });
}

function checkAddresses({ spec: { clusterIP, clusterIPs } }: Service, violate: Violate): void {
  const check = (address: string, path: string): void => {
    if (address === HEADLESS || isIP(address) !== 0) return;
    violate(path, `"${address}" is no IP address`, `write an address, "${HEADLESS}", or nothing`);
  };
  if (clusterIP !== undefined && clusterIP !== '') check(clusterIP, 'spec.clusterIP');
  eachItem(clusterIPs, 'spec.clusterIPs', check);
}

function checkExternalName({ spec: { type, externalName = '' } }: Service, violate: Violate): void {
  if (type !== 'ExternalName') return;
  const hint = 'write the host name that the Service stands for';
  if (externalName === '') violate('spec.externalName', 'type ExternalName needs externalName', hint);
  else if (!FORMATS.subdomain.test(externalName.replace(/\.$/, ''))) {
    violate('spec.externalName', `"${externalName}" is no host name`, hint);
  }
}

/** The rules of Service. */
export const SERVICE_RULES: readonly Rule<Service>[] = [
  { code: 'WG3501', says: 'several ports of a Service have names, each its own', check: checkPortNames },
  { code: 'WG3502', says: 'no port of a Service is there twice', check: checkPortNumbers },
  { code: 'WG3503', says: 'a Service with an address has a port', check: checkPorts },
  { code: 'WG3504', says: 'a clusterIP is an address or None', check: checkAddresses },
  { code: 'WG3505', says: 'type ExternalName has a host name', check: checkExternalName },
];
