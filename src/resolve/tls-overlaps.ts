/**
 * Overlaps of TLS listeners: where a client may take a connection that it made for one listener to be good for another one, because the
 * hostname or a certificate says so. Nothing is refused for it; requests that come the wrong way are answered with 421.
 * Source: ListenerConditionOverlappingTLSConfig, GEP-3567.
 */
import { wildcardAbove } from '../model/certificate-names.js';
import { ANY_HOSTNAME, isWildcard } from '../model/hostname.js';
import { CODES } from './codes.js';
import { type ListenerDraft, listenerText } from './drafts.js';
import { type Findings, isTrue } from './findings.js';

/** Most rivals that a message names. */
const MAX_RIVALS = 3;

interface Overlap {
  /** Listeners whose hostname includes names of this one, or the other way round. */
  readonly byHostname: Set<ListenerDraft>;
  /** Listeners that serve names which a certificate of this one is valid for, or the other way round. */
  readonly byCertificate: Set<ListenerDraft>;
}

/**
 * Says which accepted listeners overlap. Listeners meet on a port of their Gateway, and on a socket that several Gateways share.
 * Cost: O(listeners × (labels + certificate names) × sockets).
 */
export function reportTlsOverlaps(listeners: Iterable<ListenerDraft>, findings: Findings): void {
  const overlaps = new Map<ListenerDraft, Overlap>();
  for (const group of groupByPlace(listeners).values()) {
    if (group.length > 1) new Group(group, overlaps).judge();
  }
  for (const [listener, overlap] of overlaps) report(listener, overlap, findings);
}

function groupByPlace(listeners: Iterable<ListenerDraft>): Map<string, ListenerDraft[]> {
  const groups = new Map<string, ListenerDraft[]>();
  for (const listener of listeners) {
    const { protocol, accepted, gateway, spec, sockets } = listener;
    if (!accepted || (protocol !== 'HTTPS' && protocol !== 'TLS')) continue;
    for (const place of [`${gateway.name} ${spec.port}`, ...sockets.map(({ key }) => key)]) {
      const group = groups.get(place);
      if (group === undefined) groups.set(place, [listener]);
      else group.push(listener);
    }
  }
  return groups;
}

/** The listeners of one place, by the names that they serve. */
class Group {
  readonly #listeners: readonly ListenerDraft[];
  readonly #overlaps: Map<ListenerDraft, Overlap>;
  readonly #byHostname = new Map<string, ListenerDraft>();
  /** Listeners of a single host, by the certificate wildcard that covers it. */
  readonly #hostsBelow = new Map<string, ListenerDraft[]>();

  constructor(listeners: readonly ListenerDraft[], overlaps: Map<ListenerDraft, Overlap>) {
    this.#listeners = listeners;
    this.#overlaps = overlaps;
    for (const listener of listeners) {
      const { hostname } = listener;
      if (!this.#byHostname.has(hostname)) this.#byHostname.set(hostname, listener);
      if (hostname === ANY_HOSTNAME || isWildcard(hostname)) continue;
      push(this.#hostsBelow, wildcardAbove(hostname), listener);
    }
  }

  judge(): void {
    const holders = new Map<string, ListenerDraft[]>();
    for (const listener of this.#listeners) {
      for (const hostname of wider(listener.hostname)) {
        const other = this.#byHostname.get(hostname);
        if (other !== undefined) this.#note('byHostname', listener, other);
      }
      const names = new Set(listener.termination?.certificates.flatMap((certificate) => certificate.names));
      for (const name of names) push(holders, name, listener);
    }
    for (const [name, ofName] of holders) {
      const owners = this.#ownersOf(name);
      for (const holder of ofName) this.#noteFirst(holder, owners);
      for (const owner of owners) this.#noteFirst(owner, ofName);
    }
  }

  /** Returns the listeners that requests for a certificate's name lead to; a wildcard may lead to several. */
  #ownersOf(name: string): ListenerDraft[] {
    const owners = isWildcard(name) ? [...(this.#hostsBelow.get(name) ?? [])] : [];
    for (const hostname of [name, ...wider(name)]) {
      const owner = this.#byHostname.get(hostname);
      if (owner === undefined) continue;
      owners.push(owner);
      break;
    }
    return owners;
  }

  /** One member of a crowd is enough for the condition: the crowd is not gone through for each member. */
  #noteFirst(listener: ListenerDraft, others: readonly ListenerDraft[]): void {
    for (const other of others.slice(0, MAX_RIVALS + 1)) this.#note('byCertificate', listener, other);
  }

  #note(kind: keyof Overlap, a: ListenerDraft, b: ListenerDraft): void {
    if (a === b) return;
    for (const [listener, other] of [
      [a, b],
      [b, a],
    ] as const) {
      let overlap = this.#overlaps.get(listener);
      if (overlap === undefined) {
        overlap = { byHostname: new Set(), byCertificate: new Set() };
        this.#overlaps.set(listener, overlap);
      }
      if (overlap[kind].size < MAX_RIVALS) overlap[kind].add(other);
    }
  }
}

function push<K>(map: Map<K, ListenerDraft[]>, key: K, listener: ListenerDraft): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [listener]);
  else list.push(listener);
}

/** Returns the listener hostnames that include all of `hostname` besides itself, the closest first. */
function wider(hostname: string): string[] {
  if (hostname === ANY_HOSTNAME) return [];
  const wildcards: string[] = [];
  for (let dot = hostname.indexOf('.'); dot >= 0; dot = hostname.indexOf('.', dot + 1)) {
    const wildcard = `*${hostname.slice(dot)}`;
    if (wildcard !== hostname) wildcards.push(wildcard);
  }
  return [...wildcards, ANY_HOSTNAME];
}

function report(listener: ListenerDraft, { byHostname, byCertificate }: Overlap, findings: Findings): void {
  const isOfCertificate = byCertificate.size > 0;
  const rivals = isOfCertificate ? byCertificate : byHostname;
  const names = [...new Set([...rivals].map((rival) => rivalText(listener, rival)))].sort();
  const others = `${names.join(', ')}${rivals.size >= MAX_RIVALS ? ' and maybe more' : ''}`;
  const what = isOfCertificate ? 'names and certificates' : 'hostnames';
  findings.add(listener.owner, {
    code: CODES.tlsOverlap,
    severity: isOfCertificate ? 'warning' : 'summary',
    subject: { kind: 'listener', name: listener.spec.name },
    condition: isTrue('OverlappingTLSConfig', isOfCertificate ? 'OverlappingCertificates' : 'OverlappingHostnames'),
    path: isOfCertificate ? `${listener.path}.tls` : `${listener.path}.hostname`,
    message: `${what} overlap with those of ${others}`,
    hint: 'clients may use a connection of one for the other, which is answered with 421; certificates for own names only prevent it',
  });
}

/** Whoever wrote a ListenerSet may not see the names of other namespaces. */
function rivalText(own: ListenerDraft, rival: ListenerDraft): string {
  if (own.owner === rival.owner) return `listener "${rival.spec.name}"`;
  if (own.owner.metadata.namespace === rival.owner.metadata.namespace) return `listener ${listenerText(rival)}`;
  if (rival.owner === own.gateway.resource) return `a listener of Gateway ${own.gateway.name}`;
  return `a listener of another ${rival.owner.kind}`;
}
