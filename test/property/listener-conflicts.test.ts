/**
 * Which listeners conflict, against the rules written down as plainly as they are read: every pair is looked at.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StatusBody } from '../../src/status/status.js';
import { planFiles } from '../support/build.js';
import { gatewayClass, textOf, type WrittenObject } from '../support/snapshot-arbitrary.js';

// The seed is printed by fast-check when a case fails; WEIRGATE_SEED repeats it.
const SEED = Number(process.env.WEIRGATE_SEED ?? Date.now() % 2 ** 31);
const RUNS = Number(process.env.WEIRGATE_RUNS ?? 300);

const HOST = ['192.0.2.1', '192.0.2.2', '2001:db8::1'];

interface ListenerCase {
  readonly protocol: 'HTTP' | 'HTTPS' | 'TLS' | 'TCP' | 'UDP';
  readonly port: number;
  readonly hostname: string | undefined;
}

interface GatewayCase {
  /** Empty: all of the host. */
  readonly addresses: readonly string[];
  readonly listeners: readonly ListenerCase[];
}

interface SetCase {
  readonly gateway: number;
  readonly namespace: string;
  readonly created: string | undefined;
  readonly listeners: readonly ListenerCase[];
}

const listener = fc
  .record({
    protocol: fc.constantFrom('HTTP', 'HTTP', 'HTTPS', 'TLS', 'TCP', 'UDP'),
    port: fc.constantFrom(80, 443),
    hostname: fc.constantFrom(undefined, 'a.test', '*.test'),
  })
  .map(
    ({ protocol, port, hostname }): ListenerCase => ({
      protocol,
      port,
      hostname: protocol === 'TCP' || protocol === 'UDP' ? undefined : hostname,
    }),
  );

// What is alike within one object is refused by admission.
const listeners = fc.uniqueArray(listener, { minLength: 1, maxLength: 4, selector: (one) => JSON.stringify(one) });

const gateway: fc.Arbitrary<GatewayCase> = fc.record({
  addresses: fc.uniqueArray(fc.constantFrom(...HOST, '0.0.0.0', '::'), { maxLength: 2 }),
  listeners,
});

const configuration = fc.array(gateway, { minLength: 1, maxLength: 4 }).chain((gateways) =>
  fc.record({
    gateways: fc.constant(gateways),
    sets: fc.array(
      fc.record({
        gateway: fc.nat(gateways.length - 1),
        namespace: fc.constantFrom('a', 'b'),
        created: fc.constantFrom(undefined, '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'),
        listeners,
      }),
      { maxLength: 4 },
    ),
  }),
);

describe(`conflicts of listeners (seed ${SEED})`, () => {
  it('are those that a look at every pair finds', () => {
    fc.assert(
      fc.property(configuration, ({ gateways, sets }) => {
        const { status } = planFiles({ 'input.yaml': textOf(write(gateways, sets)) }, { hostAddresses: HOST });
        const found = Object.fromEntries(status.map(({ name, status: body }) => [name, conflictedOf(body)]));
        expect(found).toMatchObject(judge(gateways, sets));
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });
});

/** A listener on a port of its own keeps every Gateway accepted: one that is not has no ListenerSets to judge. */
function write(gateways: readonly GatewayCase[], sets: readonly SetCase[]): WrittenObject[] {
  const apiVersion = 'gateway.networking.k8s.io/v1';
  return [
    gatewayClass,
    ...gateways.map(({ addresses, listeners: own }, index) => ({
      apiVersion,
      kind: 'Gateway',
      metadata: { name: `g${index}`, namespace: 'default' },
      spec: {
        gatewayClassName: 'weirgate',
        allowedListeners: { namespaces: { from: 'All' } },
        addresses: addresses.map((value) => ({ value })),
        listeners: [...own.map(writeListener), { name: 'own', protocol: 'UDP', port: 1000 + index }],
      },
    })),
    ...sets.map(({ gateway: parent, namespace, created, listeners: own }, index) => ({
      apiVersion,
      kind: 'ListenerSet',
      metadata: { name: `s${index}`, namespace, ...(created !== undefined && { creationTimestamp: created }) },
      spec: { parentRef: { name: `g${parent}`, namespace: 'default' }, listeners: own.map(writeListener) },
    })),
  ];
}

function writeListener({ protocol, port, hostname }: ListenerCase, index: number): object {
  const tls = { HTTPS: { certificateRefs: [{ name: 'gone' }] }, TLS: { mode: 'Passthrough' } };
  return {
    name: `l${index}`,
    protocol,
    port,
    ...(hostname !== undefined && { hostname }),
    ...(protocol in tls && { tls: tls[protocol as keyof typeof tls] }),
  };
}

function conflictedOf({ listeners: reported = [] }: StatusBody): string[] {
  return reported
    .filter(({ conditions }) => conditions.some(({ type, status }) => type === 'Conflicted' && status === 'True'))
    .map(({ name }) => name);
}

interface Placed extends ListenerCase {
  readonly name: string;
  readonly addresses: readonly string[];
}

/** Names of the conflicted listeners by object. */
function judge(gateways: readonly GatewayCase[], sets: readonly SetCase[]): Record<string, string[]> {
  const place = (list: readonly ListenerCase[], { addresses }: GatewayCase): Placed[] =>
    list.map((one, index) => ({ ...one, name: `l${index}`, addresses: addresses.length === 0 ? ['::'] : addresses }));
  const ofGateways = gateways.map((one) => place(one.listeners, one));
  const all = ofGateways.flat();
  const winners = all.filter((one) => !all.some((other) => other !== one && clash(one, other)));
  const verdicts: Record<string, string[]> = {};
  for (const [index, list] of ofGateways.entries()) verdicts[`g${index}`] = losersOf(list, winners);
  for (const { set, index } of bySeniority(sets)) {
    const list = place(set.listeners, gateways[set.gateway] as GatewayCase);
    const free = list.filter((one) => !winners.some((winner) => clash(one, winner)));
    const left = free.filter((one) => !free.some((other) => other !== one && clash(one, other)));
    winners.push(...left);
    verdicts[`s${index}`] = losersOf(list, winners);
  }
  return verdicts;
}

function losersOf(list: readonly Placed[], winners: readonly Placed[]): string[] {
  return list.filter((one) => !winners.includes(one)).map(({ name }) => name);
}

function bySeniority(sets: readonly SetCase[]): { readonly set: SetCase; readonly index: number }[] {
  const key = ({ created = '9', namespace }: SetCase, index: number): string => `${created} ${namespace}/s${index}`;
  return sets.map((set, index) => ({ set, index, key: key(set, index) })).sort((a, b) => (a.key < b.key ? -1 : 1));
}

function clash(a: Placed, b: Placed): boolean {
  if (a.port !== b.port || (a.protocol === 'UDP') !== (b.protocol === 'UDP')) return false;
  if (!a.addresses.some((one) => b.addresses.some((other) => covers(one, other) || covers(other, one)))) return false;
  if (a.protocol === 'TCP' || b.protocol === 'TCP' || a.protocol === 'UDP') return true;
  return (a.protocol === 'HTTP') !== (b.protocol === 'HTTP') || a.hostname === b.hostname;
}

function covers(wide: string, narrow: string): boolean {
  return wide === narrow || wide === '::' || (wide === '0.0.0.0' && !narrow.includes(':'));
}
