/**
 * Rules of Service and EndpointSlice, as far as wrong values would mislead routing.
 */
import { isIPv4, isIPv6 } from 'node:net';
import type { EndpointSlice, Service } from '../../gateway-api/index.js';
import { eachItem, eachRepeated, type Rule, type Violate } from './rule.js';

function checkPortNames(service: Service, violate: Violate): void {
  const { ports } = service.spec;
  if (ports.length > 1) {
    eachItem(ports, 'spec.ports', ({ name, port }, path) => {
      if (name === undefined || name === '')
        violate(`${path}.name`, `port ${port} has no name`, 'ports of a Service with several ports need names');
    });
  }
  eachRepeated(
    ports,
    'spec.ports',
    ({ name }) => name,
    ({ name }, path, firstPath) => {
      violate(`${path}.name`, `port name "${name}" is there twice`, `${firstPath} has it already`);
    },
  );
}

function checkPortNumbers(service: Service, violate: Violate): void {
  const key = ({ port, protocol }: { port: number; protocol: string }): string => `${protocol} ${port}`;
  eachRepeated(service.spec.ports, 'spec.ports', key, ({ port, protocol }, path, firstPath) => {
    violate(`${path}.port`, `${protocol} port ${port} is there twice`, `${firstPath} has it already`);
  });
}

function checkAddresses(slice: EndpointSlice, violate: Violate): void {
  const fits = { IPv4: isIPv4, IPv6: isIPv6, FQDN: () => true }[slice.addressType];
  eachItem(slice.endpoints, 'endpoints', ({ addresses }, path) => {
    eachItem(addresses, `${path}.addresses`, (address, addressPath) => {
      if (fits(address) && !address.includes('%')) return;
      violate(
        addressPath,
        `"${address}" is no ${slice.addressType} address`,
        `addressType is ${slice.addressType}; write one slice for each kind of address`,
      );
    });
  });
}

function checkSlicePorts(slice: EndpointSlice, violate: Violate): void {
  eachRepeated(
    slice.ports,
    'ports',
    ({ name }) => name,
    ({ name }, path, firstPath) => {
      violate(path, `port name "${name}" is there twice`, `${firstPath} has it already`);
    },
  );
}

/** The rules of Service. */
export const SERVICE_RULES: readonly Rule<Service>[] = [
  { code: 'WG3501', says: 'several ports of a Service have names, each its own', check: checkPortNames },
  { code: 'WG3502', says: 'no port of a Service is there twice', check: checkPortNumbers },
];

/** The rules of EndpointSlice. */
export const ENDPOINT_SLICE_RULES: readonly Rule<EndpointSlice>[] = [
  { code: 'WG3511', says: 'addresses are of the addressType', check: checkAddresses },
  { code: 'WG3512', says: 'port names of a slice are unique', check: checkSlicePorts },
];
