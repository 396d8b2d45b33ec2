/**
 * The incidents of other balancers that Weirgate must be right about from the start (H1 to H24): which tests cover each,
 * and which issue brings what is still missing. The architecture test keeps the table complete and its names true.
 */
export interface IncidentCase {
  readonly id: `H${number}`;
  /** What went wrong elsewhere. */
  readonly incident: string;
  /** Files with the tests, and a piece of text that stands in them. */
  readonly coveredBy: readonly { readonly file: string; readonly text: string }[];
  /** Number of the issue that completes the case; undefined: nothing is missing. */
  readonly waitsFor: number | undefined;
}

const REQUEST_HEAD = 'native/crates/proto/tests/request_head.rs';
const STRICT = 'test/e2e/http-strict.test.ts';
const ROUTING = 'test/e2e/http-routing.test.ts';
const INTERIM = 'test/e2e/http-interim.test.ts';
const RELOAD = 'test/e2e/reload.test.ts';
const SIMULATION = 'native/crates/engine/src/worker/simulation/runs.rs';
const golden = (name: string, text: string) => ({ file: `test/golden/${name}/status.yaml`, text });

export const CASES: readonly IncidentCase[] = [
  { id: 'H1', incident: 'a post-quantum ClientHello in two segments is cut', coveredBy: [], waitsFor: 5 },
  {
    id: 'H2',
    incident: 'a coalesced connection reaches the wrong site or is stuck on 421',
    coveredBy: [],
    waitsFor: 5,
  },
  {
    id: 'H3',
    incident: 'Transfer-Encoding variants beside Content-Length smuggle a request',
    coveredBy: [
      { file: STRICT, text: 'Transfer-Encoding beside Content-Length' },
      { file: STRICT, text: 'no endpoint has seen the hidden request' },
    ],
    waitsFor: undefined,
  },
  {
    id: 'H4',
    incident: 'an empty or odd Content-Length is passed on',
    coveredBy: [
      { file: REQUEST_HEAD, text: 'content_length_is_digits_or_a_list_of_one_number' },
      { file: STRICT, text: 'a list of equal numbers is one number' },
    ],
    waitsFor: undefined,
  },
  {
    id: 'H5',
    incident: 'an absolute-form target without a path loses its query',
    coveredBy: [
      { file: REQUEST_HEAD, text: 'an_absolute_form_target_names_the_host_and_the_host_field_loses' },
      { file: ROUTING, text: 'beside Host: evil.corp.test reaches' },
    ],
    waitsFor: undefined,
  },
  {
    id: 'H6',
    incident: 'a half-closed TCP session loses the answer',
    coveredBy: [
      { file: SIMULATION, text: 'every_tcp_stream_arrives_whole_in_both_directions' },
      { file: 'test/e2e/tcp.test.ts', text: '3 MiB and a FIN from the $first' },
    ],
    waitsFor: 7,
  },
  { id: 'H7', incident: 'UDP payloads are cut', coveredBy: [], waitsFor: 7 },
  { id: 'H8', incident: 'UDP listeners are dark during a reload or restart', coveredBy: [], waitsFor: 7 },
  {
    id: 'H9',
    incident: 'a reload cuts WebSockets of routes that did not change',
    coveredBy: [{ file: 'test/e2e/http-upgrade.test.ts', text: 'twenty tunnels outlive four reloads' }],
    waitsFor: 8,
  },
  {
    id: 'H10',
    incident: 'old generations linger and memory climbs',
    coveredBy: [{ file: RELOAD, text: 'no process comes or goes with a reload' }],
    waitsFor: 8,
  },
  {
    id: 'H11',
    incident: 'closing one SO_REUSEPORT socket loses what is queued on it',
    coveredBy: [
      { file: RELOAD, text: 'that change other routes, weights and endpoints' },
      { file: 'test/e2e/worker-death.test.ts', text: 'loses nothing that is queued on its listening sockets' },
      { file: 'test/e2e/worker-stop.test.ts', text: 'loses nothing outside and serves nothing twice' },
      { file: 'test/e2e/workers.test.ts', text: 'loses no connection: 2 → 4 → 2 under load' },
    ],
    waitsFor: 8,
  },
  { id: 'H12', incident: 'start time explodes with many certificates', coveredBy: [], waitsFor: 5 },
  {
    id: 'H13',
    incident: 'a Host with a port is not found',
    coveredBy: [
      { file: REQUEST_HEAD, text: 'a_1_1_request_has_exactly_one_valid_host' },
      { file: ROUTING, text: 'Host: $host reaches $to, unchanged upstream' },
    ],
    waitsFor: undefined,
  },
  {
    id: 'H14',
    incident: 'the winner of two equal matches changes at reload',
    coveredBy: [
      golden('of equal matches the older route wins, then the first by name, and check says so', 'HTTPRoute'),
      { file: 'test/e2e/equal-matches.test.ts', text: 'the older route has every request, whatever its name' },
      { file: 'test/e2e/equal-matches.test.ts', text: 'without times the first by name has every request' },
    ],
    waitsFor: undefined,
  },
  {
    id: 'H15',
    incident: 'cross-namespace backends work without a grant, or not with one',
    coveredBy: [
      golden('a reference without a grant is RefNotPermitted, whether its target exists or not', 'RefNotPermitted'),
      golden('a grant must fit by kind, namespace and name, from and to in one grant', 'RefNotPermitted'),
      golden('cross-namespace backends follow their grants for HTTPRoute and GRPCRoute alike', 'GRPCRoute web/both'),
      { file: 'test/e2e/grants.test.ts', text: 'with a grant $given each backend has its share' },
    ],
    waitsFor: 6,
  },
  { id: 'H16', incident: 'of an RSA and an ECDSA certificate only the first is used', coveredBy: [], waitsFor: 5 },
  {
    id: 'H17',
    incident: 'IPv4 peers show as ::ffff:a.b.c.d on a dual-stack listener',
    coveredBy: [{ file: 'test/e2e/http-forwarding.test.ts', text: 'an IPv4 client of a listener on every address' }],
    waitsFor: 7,
  },
  {
    id: 'H18',
    incident: 'accept fails in a tight loop at the limit of descriptors',
    coveredBy: [
      { file: 'test/e2e/descriptors.test.ts', text: 'clients that leave make room for those that are queued' },
      {
        file: 'native/crates/engine/src/worker/live.rs',
        text: 'a_full_backlog_is_served_once_descriptors_are_free_without_a_new_connection',
      },
    ],
    waitsFor: 7,
  },
  {
    id: 'H19',
    incident: 'an early answer to an upload becomes 502',
    coveredBy: [{ file: INTERIM, text: 'an endpoint that refuses an upload of 8 MB' }],
    waitsFor: 6,
  },
  {
    id: 'H20',
    incident: '103 Early Hints are lost or break the client',
    coveredBy: [{ file: INTERIM, text: 'three of them in one segment with the answer' }],
    waitsFor: 6,
  },
  {
    id: 'H21',
    incident: 'round robin looks random, each worker has its own pointer',
    coveredBy: [
      { file: 'test/unit/compile-sequence.test.ts', text: 'keeps every stretch within one step of its share' },
      { file: 'native/crates/engine/src/shared/counters.rs', text: 'every_caller_gets_another_ticket' },
      { file: 'test/e2e/balancing.test.ts', text: 'thirty TCP connections one after the other are 10, 10 and 10' },
    ],
    waitsFor: 10,
  },
  { id: 'H22', incident: 'PROXY v2 LOCAL is mishandled', coveredBy: [], waitsFor: 7 },
  { id: 'H23', incident: 'names are resolved once, a missing one stops the start', coveredBy: [], waitsFor: 6 },
  {
    id: 'H24',
    incident: 'after a refused reload the next signals are dead',
    coveredBy: [
      { file: 'test/systemd/service.test.ts', text: 'takes the next good reload after a refused one' },
      { file: RELOAD, text: 'leaves the next one its chance (H24)' },
      { file: RELOAD, text: 'ends with what was written last' },
      { file: 'test/e2e/state.root.test.ts', text: 'a full disk costs one warning and no traffic' },
    ],
    waitsFor: 8,
  },
];
