/**
 * Rules of EndpointSlice, as far as wrong values would mislead routing.
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { type EndpointSlice, FORMATS } from '../../gateway-api/index.js';
import { eachItem, eachRepeated, type Rule, type Violate } from './rule.js';

type AddressType = EndpointSlice['addressType'];

const FITS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['IPv4', isIPv4],
  ['IPv6', (text: string) => isIPv6(text) && !text.includes('%') && !isMapped(text)],
  ['FQDN', FORMATS.subdomain.test],
]);

/** Networks in which no endpoint can be, with the words for it. An API server refuses loopback too; a host has backends there. */
const NOWHERE: readonly (readonly [AddressType, string, number, string])[] = [
  ['IPv4', '0.0.0.0', 32, 'stands for no address at all'],
  ['IPv4', '169.254.0.0', 16, 'is link-local'],
  ['IPv4', '224.0.0.0', 24, 'is link-local multicast'],
  ['IPv6', '::', 128, 'stands for no address at all'],
  ['IPv6', 'fe80::', 10, 'is link-local'],
  ['IPv6', 'ff02::', 16, 'is link-local multicast'],
];

const NETWORKS = NOWHERE.map(([type, address, prefix, why]) => {
  const network = new BlockList();
  network.addSubnet(address, prefix, type === 'IPv4' ? 'ipv4' : 'ipv6');
  return { type, network, why };
});

/** An IPv4 address in the clothes of IPv6: `::ffff:192.0.2.1`. */
const MAPPED = new BlockList();
MAPPED.addSubnet('::ffff:0:0', 96, 'ipv6');

function isMapped(text: string): boolean {
  return MAPPED.check(text, 'ipv6');
}

function checkAddresses({ addressType, endpoints }: EndpointSlice, violate: Violate): void {
  eachItem(endpoints, 'endpoints', ({ addresses }, endpointPath) => {
    eachItem(addresses, `${endpointPath}.addresses`, (address, path) => {
      const fits = FITS.get(addressType);
      // The type itself may be a word that is none.
      if (fits === undefined) return;
      if (!fits(address)) {
        const message = `"${address}" is no ${addressType} address`;
        violate(path, message, `addressType is ${addressType}; write one slice for each kind of address`);
        return;
      }
      if (addressType === 'FQDN') return;
      const family = addressType === 'IPv4' ? 'ipv4' : 'ipv6';
      const found = NETWORKS.find(({ type, network }) => type === addressType && network.check(address, family));
      if (found !== undefined)
        violate(path, `"${address}" ${found.why}`, 'write the address that the backend listens on');
    });
  });
}

function checkPortNames({ ports }: EndpointSlice, violate: Violate): void {
  eachRepeated(
    ports,
    'ports',
    ({ name }) => name,
    ({ name }, path, firstPath) => {
      violate(`${path}.name`, `port name "${name}" is there twice`, `${firstPath} has it already`);
    },
  );
}

/** The rules of EndpointSlice. */
export const ENDPOINT_SLICE_RULES: readonly Rule<EndpointSlice>[] = [
  { code: 'WG3511', says: 'addresses are of the addressType, and such as an endpoint can have', check: checkAddresses },
  { code: 'WG3512', says: 'port names of a slice are unique', check: checkPortNames },
];
