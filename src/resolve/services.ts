/**
 * Services: the ready endpoints behind a port, from the EndpointSlices that carry the Service's label.
 */
import { type EndpointPort, type EndpointSlice, SERVICE_NAME_LABEL, type ServicePort } from '../gateway-api/index.js';
import { compareIpAddresses, type IpAddress, parseIpAddress } from '../model/ip-address.js';
import type { Endpoint } from '../model/model.js';
import { objectName } from '../model/object-ref.js';
import { CODES } from './codes.js';
import type { Findings } from './findings.js';
import type { Inventory } from './inventory.js';

/** A port of a slice, by its index there. */
interface OfferedPort {
  readonly slice: EndpointSlice;
  readonly index: number;
  readonly port: EndpointPort;
}

/** What the slices of one Service offer. */
interface Offer {
  /** Those of type FQDN, of which nothing is served. */
  readonly unserved: EndpointSlice[];
  /** Ports by name and protocol: a Service may have thousands of ports, and as many slices. */
  readonly ports: Map<string, OfferedPort[]>;
  readonly portNames: Set<string>;
  /** Once somebody has asked. */
  sortedNames: ReadonlySet<string> | undefined;
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** Endpoints of Services; slices are grouped once. */
export class ServiceEndpoints {
  readonly #byService = new Map<string, Offer>();
  readonly #findings: Findings;
  /** Slices about which something was said already: once is enough. */
  readonly #told = new Set<EndpointSlice>();

  constructor(inventory: Inventory, findings: Findings) {
    this.#findings = findings;
    for (const slice of inventory.all('EndpointSlice')) {
      const service = slice.metadata.labels[SERVICE_NAME_LABEL];
      if (service === undefined) {
        this.#tell(
          slice,
          'metadata.labels',
          `the label ${SERVICE_NAME_LABEL} is missing, so no Service has these endpoints`,
        );
        continue;
      }
      const key = objectName({ namespace: slice.metadata.namespace, name: service });
      let offer = this.#byService.get(key);
      if (offer === undefined) {
        offer = { unserved: [], ports: new Map(), portNames: new Set(), sortedNames: undefined };
        this.#byService.set(key, offer);
      }
      addSlice(offer, slice);
    }
  }

  /** Returns the ready endpoints of a port, each once, sorted by address and port. */
  of(service: { readonly namespace: string; readonly name: string }, port: ServicePort): Endpoint[] {
    const found = new Map<string, { readonly address: IpAddress; readonly port: number }>();
    const offer = this.#byService.get(objectName(service));
    for (const slice of offer?.unserved ?? []) {
      this.#tell(slice, 'addressType', 'addresses of type FQDN are not served by this version');
    }
    for (const { slice, index, port: slicePort } of offer?.ports.get(portKey(port)) ?? []) {
      const number = targetPort(slicePort, port);
      // An API server takes any number here.
      if (number >= 1 && number <= 65_535) this.#collect(slice, number, found);
      else this.#tell(slice, `ports[${index}].port`, `no endpoint has the port ${number}`);
    }
    return sortedEndpoints([...found.values()].map((endpoint) => ({ ...endpoint, weight: 1 })));
  }

  /** Returns the port names that the slices of a Service know, sorted, for messages. Cost: O(1) after the first time. */
  portNames(service: { readonly namespace: string; readonly name: string }): ReadonlySet<string> {
    const offer = this.#byService.get(objectName(service));
    if (offer === undefined) return NO_NAMES;
    offer.sortedNames ??= new Set([...offer.portNames].sort());
    return offer.sortedNames;
  }

  #collect(
    slice: EndpointSlice,
    port: number,
    found: Map<string, { readonly address: IpAddress; readonly port: number }>,
  ): void {
    for (const [index, { addresses, conditions }] of slice.endpoints.entries()) {
      if (conditions.ready === false) continue;
      // The addresses of one endpoint are the same endpoint; consumers use the first (discovery.k8s.io/v1, Endpoint.addresses).
      const [text = ''] = addresses;
      const address = parseIpAddress(text);
      if (address === undefined)
        this.#tell(slice, `endpoints[${index}].addresses[0]`, `"${text}" is not an IP address`);
      else found.set(`${address.text} ${port}`, { address, port });
    }
  }

  #tell(slice: EndpointSlice, path: string, message: string): void {
    if (this.#told.has(slice)) return;
    this.#told.add(slice);
    this.#findings.add(slice, { code: CODES.endpointIgnored, path, message });
  }
}

/** Sorts endpoints by address and port; the same address and port twice is one endpoint with both weights. */
export function sortedEndpoints(
  endpoints: readonly { readonly address: IpAddress; readonly port: number; readonly weight: number }[],
): Endpoint[] {
  const sorted = [...endpoints].sort((a, b) => compareIpAddresses(a.address, b.address) || a.port - b.port);
  const merged: { ip: string; port: number; weight: number }[] = [];
  for (const { address, port, weight } of sorted) {
    const last = merged.at(-1);
    if (last?.ip === address.text && last.port === port) last.weight = Math.min(last.weight + weight, MAX_WEIGHT);
    else merged.push({ ip: address.text, port, weight });
  }
  return merged;
}

/** Limit of `Backend.spec.endpoints[].weight`. */
const MAX_WEIGHT = 1_000_000;

function addSlice(offer: Offer, slice: EndpointSlice): void {
  if (slice.addressType === 'FQDN') offer.unserved.push(slice);
  for (const [index, port] of slice.ports.entries()) {
    offer.portNames.add(port.name);
    if (slice.addressType === 'FQDN') continue;
    const key = portKey(port);
    const known = offer.ports.get(key);
    if (known === undefined) offer.ports.set(key, [{ slice, index, port }]);
    else known.push({ slice, index, port });
  }
}

/** Ports of Service and slice belong together by name; a Service with one port may leave the name out on both sides. */
function portKey({ name = '', protocol }: EndpointPort | ServicePort): string {
  return `${protocol} ${name}`;
}

/** A slice port without a number stands for every port, then the Service says which. */
function targetPort(slicePort: EndpointPort, port: ServicePort): number {
  if (slicePort.port !== undefined) return slicePort.port;
  return typeof port.targetPort === 'number' && port.targetPort > 0 ? port.targetPort : port.port;
}
