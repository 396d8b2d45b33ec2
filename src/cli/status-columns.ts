/**
 * Which columns a kind has: those that kubectl shows, from the `additionalPrinterColumns` of the definitions and from
 * kubectl's own tables, and behind AGE with `-o wide` what else is worth a look. Pure. Serves `status-tables.ts`.
 */
import { isOwnEntry } from '../gateway-api/index.js';
import type { ListedObject } from '../ipc/admin-protocol.js';

/** One kind's columns between NAME and AGE, and those behind AGE. */
export interface Columns {
  readonly names: readonly string[];
  readonly wide: readonly string[];
  readonly row: (object: ListedObject) => readonly string[];
  readonly wideRow: (object: ListedObject) => readonly string[];
}

/** Returns the columns of a kind; none but NAME and AGE for one that is not known. */
export function columnsOf(kind: string): Columns {
  return COLUMNS[kind] ?? PLAIN;
}

type Row = (object: ListedObject) => readonly string[];

function define(names: readonly string[], row: Row, wide: readonly string[] = [], wideRow: Row = NO_CELLS): Columns {
  return { names, row, wide, wideRow };
}

const NO_CELLS: Row = () => [];
const PLAIN = define([], NO_CELLS);

const ROUTE_WIDE = ['ACCEPTED', 'RESOLVED', 'PARENTS', 'RULES'];
const routeWide: Row = (object) => [...verdictsIn(object, 'parents'), parentRefs(object), count(spec(object).rules)];
const httpRoute = define(['HOSTNAMES'], (object) => [hostnames(object)], ROUTE_WIDE, routeWide);
const streamRoute = define([], NO_CELLS, ROUTE_WIDE, routeWide);

const COLUMNS: Readonly<Record<string, Columns>> = {
  GatewayClass: define(
    ['CONTROLLER', 'ACCEPTED'],
    (object) => [text(spec(object).controllerName), verdict(object, 'Accepted')],
    ['DESCRIPTION'],
    (object) => [text(spec(object).description)],
  ),
  Gateway: define(
    ['CLASS', 'ADDRESS', 'PROGRAMMED'],
    (object) => [text(spec(object).gatewayClassName), addresses(object), verdict(object, 'Programmed')],
    ['ACCEPTED', 'PORTS', 'LISTENERS', 'ROUTES'],
    (object) => [verdict(object, 'Accepted'), ports(object), count(status(object).listeners), routes(object)],
  ),
  ListenerSet: define(
    ['ACCEPTED', 'PROGRAMMED'],
    (object) => [verdict(object, 'Accepted'), verdict(object, 'Programmed')],
    ['PARENT', 'PORTS', 'LISTENERS', 'ROUTES'],
    (object) => [
      reference(record(spec(object).parentRef)),
      ports(object),
      count(status(object).listeners),
      routes(object),
    ],
  ),
  HTTPRoute: httpRoute,
  GRPCRoute: httpRoute,
  TLSRoute: define([], NO_CELLS, ['HOSTNAMES', ...ROUTE_WIDE], (object) => [hostnames(object), ...routeWide(object)]),
  TCPRoute: streamRoute,
  UDPRoute: streamRoute,
  ReferenceGrant: define([], NO_CELLS, ['FROM', 'TO'], (object) => [
    list(spec(object).from).map(granted).join(),
    list(spec(object).to).map(granted).join(),
  ]),
  BackendTLSPolicy: define([], NO_CELLS, ['ACCEPTED', 'RESOLVED', 'TARGETS', 'HOSTNAME'], (object) => [
    ...verdictsIn(object, 'ancestors'),
    targets(object),
    text(record(spec(object).validation).hostname),
  ]),
  Service: define(
    ['TYPE', 'CLUSTER-IP', 'EXTERNAL-IP', 'PORT(S)'],
    (object) => {
      const { type, clusterIP, externalName } = spec(object);
      return [text(type), orNone(text(clusterIP)), orNone(text(externalName)), orNone(servicePorts(object))];
    },
    ['SELECTOR'],
    (object) => [orNone(pairs(record(spec(object).selector)))],
  ),
  EndpointSlice: define(['ADDRESSTYPE', 'PORTS', 'ENDPOINTS'], (object) => {
    const { addressType, ports: own, endpoints } = object as ListedObject & Fields;
    const found = list(endpoints).flatMap(({ addresses: each }) => (Array.isArray(each) ? each.slice(0, 1) : []));
    const shown = found.length > 3 ? [...found.slice(0, 3), `+ ${found.length - 3} more...`] : found;
    return [
      text(addressType),
      orNone(
        list(own)
          .map(({ port }) => number(port))
          .join(),
      ),
      orNone(shown.join()),
    ];
  }),
  Secret: define(['TYPE', 'DATA'], (object) => [text((object as ListedObject & Fields).type), keys(object)]),
  ConfigMap: define(['DATA'], (object) => [keys(object)]),
  Namespace: define(['STATUS'], () => ['Active']),
  Backend: define(['ENDPOINTS', 'ACCEPTED'], (object) => [count(spec(object).endpoints), verdict(object, 'Accepted')]),
  BackendPolicy: define(['TARGETS', 'ACCEPTED'], (object) => [
    targets(object),
    ...verdictsIn(object, 'ancestors').slice(0, 1),
  ]),
};

type Fields = Readonly<Record<string, unknown>>;

// ── cells ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Returns `True`, `False` or `Unknown`: the status of a condition of the object; `-` without it. */
function verdict(object: ListedObject, type: string): string {
  return verdictOf(status(object).conditions, type);
}

/** Returns the status of the condition of that type in a list; `-` without it. */
export function verdictOf(conditions: unknown, type: string): string {
  const found = list(conditions).find((condition) => condition.type === type);
  return found === undefined ? '-' : text(found.status);
}

/** Returns the worst of Accepted and of ResolvedRefs over our entries: what one parent refuses is worth a look. */
function verdictsIn(object: ListedObject, field: 'parents' | 'ancestors'): string[] {
  const entries = list(status(object)[field]).filter(isOwnEntry);
  return ['Accepted', 'ResolvedRefs'].map((type) =>
    worst(entries.map(({ conditions }) => verdictOf(conditions, type))),
  );
}

function worst(verdicts: readonly string[]): string {
  return ['False', 'Unknown', 'True'].find((word) => verdicts.includes(word)) ?? '-';
}

function hostnames(object: ListedObject): string {
  const names = spec(object).hostnames;
  return Array.isArray(names) && names.length > 0 ? names.join() : '*';
}

function addresses(object: ListedObject): string {
  return list(status(object).addresses)
    .map(({ value }) => text(value))
    .join();
}

function ports(object: ListedObject): string {
  return [...new Set(list(spec(object).listeners).map(({ port }) => number(port)))].join();
}

function routes(object: ListedObject): string {
  const listeners = list(status(object).listeners);
  return String(listeners.reduce((sum, { attachedRoutes }) => sum + Number(attachedRoutes ?? 0), 0));
}

function parentRefs(object: ListedObject): string {
  return list(spec(object).parentRefs).map(reference).join();
}

/** `edge`, `edge/http`, `ListenerSet/team:8443`: the kind where it is no Gateway. */
function reference({ kind, name, sectionName, port }: Fields): string {
  const owner = kind === undefined || kind === 'Gateway' ? text(name) : `${text(kind)}/${text(name)}`;
  return `${owner}${sectionName === undefined ? '' : `/${text(sectionName)}`}${port === undefined ? '' : `:${number(port)}`}`;
}

function targets(object: ListedObject): string {
  return list(spec(object).targetRefs)
    .map(({ kind, name, sectionName }) => [kind, name, sectionName].filter((word) => word !== undefined).join('/'))
    .join();
}

/** `HTTPRoute in shop`, `Secret/edge`. */
function granted({ kind, namespace, name }: Fields): string {
  if (namespace !== undefined) return `${text(kind)} in ${text(namespace)}`;
  return name === undefined ? text(kind) : `${text(kind)}/${text(name)}`;
}

function servicePorts(object: ListedObject): string {
  return list(spec(object).ports)
    .map(({ port, protocol }) => `${number(port)}/${text(protocol)}`)
    .join();
}

function keys(object: ListedObject): string {
  const { data, stringData, binaryData } = object as ListedObject & Fields;
  return String(new Set([data, stringData, binaryData].flatMap((each) => Object.keys(record(each)))).size);
}

function pairs(map: Fields): string {
  return Object.entries(map)
    .map(([key, value]) => `${key}=${text(value)}`)
    .join();
}

function orNone(cell: string): string {
  return cell === '' ? '<none>' : cell;
}

// ── values of any shape ─────────────────────────────────────────────────────────────────────────────────────────────

function count(value: unknown): string {
  return String(Array.isArray(value) ? value.length : 0);
}

function spec(object: ListedObject): Fields {
  return record(object.spec);
}

function status(object: ListedObject): Fields {
  return record(object.status);
}

/** Returns the value if it is an object, else an empty one. */
export function record(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** Returns the entries of a list as objects; none of anything else. */
export function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(record) : [];
}

/** Returns the value if it is text, else none. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the value if it is a number, as text, else none. */
export function number(value: unknown): string {
  return typeof value === 'number' ? String(value) : '';
}
