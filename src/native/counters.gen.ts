// Generated from native/crates/table/src/counters.rs and native/crates/session/src/close_reason.rs by native/xtask (cargo run -p xtask -- gen). Do not edit; CI compares.

/** One counter cell of a kind of slot. */
export interface CounterCell {
  /** Index within the slot (kind `engine`: within the engine-wide cells). */
  readonly number: number;
  readonly name: string;
  /** Metric family without `_total`; families repeat when labels tell cells apart. */
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Cell value × scale = metric value. */
  readonly scale: number;
  readonly help: string;
}

/** All cells by kind of slot. */
export const COUNTER_CELLS = {
  listener: [
    { number: 0, name: 'accepted', metric: 'weirgate_listener_connections_accepted', labels: {}, scale: 1, help: 'Client connections accepted.' },
    { number: 1, name: 'closed', metric: 'weirgate_listener_connections_closed', labels: {}, scale: 1, help: 'Client connections closed.' },
    { number: 2, name: 'bytesIn', metric: 'weirgate_listener_bytes', labels: { direction: 'in' }, scale: 1, help: 'Bytes between clients and the listener.' },
    { number: 3, name: 'bytesOut', metric: 'weirgate_listener_bytes', labels: { direction: 'out' }, scale: 1, help: 'Bytes between clients and the listener.' },
    { number: 4, name: 'requests', metric: 'weirgate_listener_requests', labels: {}, scale: 1, help: 'Requests whose head was read.' },
    { number: 5, name: 'rejected', metric: 'weirgate_listener_rejected', labels: {}, scale: 1, help: 'Requests answered by Weirgate itself.' },
  ],
  action: [
    { number: 0, name: 'requests', metric: 'weirgate_route_requests', labels: {}, scale: 1, help: 'Requests or TCP connections given to the rule.' },
    { number: 1, name: 'status1xx', metric: 'weirgate_route_responses', labels: { class: '1xx' }, scale: 1, help: 'Responses sent to clients by class of status.' },
    { number: 2, name: 'status2xx', metric: 'weirgate_route_responses', labels: { class: '2xx' }, scale: 1, help: 'Responses sent to clients by class of status.' },
    { number: 3, name: 'status3xx', metric: 'weirgate_route_responses', labels: { class: '3xx' }, scale: 1, help: 'Responses sent to clients by class of status.' },
    { number: 4, name: 'status4xx', metric: 'weirgate_route_responses', labels: { class: '4xx' }, scale: 1, help: 'Responses sent to clients by class of status.' },
    { number: 5, name: 'status5xx', metric: 'weirgate_route_responses', labels: { class: '5xx' }, scale: 1, help: 'Responses sent to clients by class of status.' },
    { number: 6, name: 'retries', metric: 'weirgate_route_retries', labels: {}, scale: 1, help: 'Further tries after a failed one.' },
    { number: 7, name: 'bytesIn', metric: 'weirgate_route_bytes', labels: { direction: 'in' }, scale: 1, help: 'Body or stream bytes of the rule\'s clients.' },
    { number: 8, name: 'bytesOut', metric: 'weirgate_route_bytes', labels: { direction: 'out' }, scale: 1, help: 'Body or stream bytes of the rule\'s clients.' },
    { number: 9, name: 'durationUs', metric: 'weirgate_route_duration_seconds', labels: {}, scale: 1e-6, help: 'Time from the head of a request to the end of its response, summed.' },
  ],
  endpoint: [
    { number: 0, name: 'connects', metric: 'weirgate_endpoint_connects', labels: {}, scale: 1, help: 'Connections established to the endpoint.' },
    { number: 1, name: 'connectFailures', metric: 'weirgate_endpoint_connect_failures', labels: {}, scale: 1, help: 'Connections that were refused or timed out.' },
    { number: 2, name: 'requests', metric: 'weirgate_endpoint_requests', labels: {}, scale: 1, help: 'Requests or TCP connections sent to the endpoint.' },
    { number: 3, name: 'reused', metric: 'weirgate_endpoint_connections_reused', labels: {}, scale: 1, help: 'Requests that took an idle connection.' },
    { number: 4, name: 'bytesOut', metric: 'weirgate_endpoint_bytes', labels: { direction: 'out' }, scale: 1, help: 'Bytes between Weirgate and the endpoint.' },
    { number: 5, name: 'bytesIn', metric: 'weirgate_endpoint_bytes', labels: { direction: 'in' }, scale: 1, help: 'Bytes between Weirgate and the endpoint.' },
    { number: 6, name: 'failures', metric: 'weirgate_endpoint_failures', labels: {}, scale: 1, help: 'Requests that failed after the connection stood.' },
    { number: 7, name: 'connectUs', metric: 'weirgate_endpoint_connect_seconds', labels: {}, scale: 1e-6, help: 'Time of establishing connections, summed.' },
  ],
  engine: [
    { number: 0, name: 'accepts', metric: 'weirgate_worker_accepts', labels: {}, scale: 1, help: 'Connections accepted on any socket.' },
    { number: 1, name: 'acceptErrors', metric: 'weirgate_worker_accept_errors', labels: {}, scale: 1, help: 'Calls of accept that failed.' },
    { number: 2, name: 'acceptPauses', metric: 'weirgate_worker_accept_pauses', labels: {}, scale: 1, help: 'Times that accepting stopped for want of descriptors.' },
    { number: 3, name: 'turns', metric: 'weirgate_worker_turns', labels: {}, scale: 1, help: 'Turns of the event loop.' },
    { number: 4, name: 'tableSwaps', metric: 'weirgate_worker_table_swaps', labels: {}, scale: 1, help: 'Configurations taken over.' },
    { number: 5, name: 'tableRefusals', metric: 'weirgate_worker_table_refusals', labels: {}, scale: 1, help: 'Configurations refused.' },
    { number: 6, name: 'pipeFallbacks', metric: 'weirgate_worker_pipe_fallbacks', labels: {}, scale: 1, help: 'Bulk directions that got no pipe and were copied.' },
    { number: 7, name: 'logDropped', metric: 'weirgate_worker_log_dropped', labels: {}, scale: 1, help: 'Access records dropped because the ring was full.' },
    { number: 8, name: 'endpointRests', metric: 'weirgate_worker_endpoint_rests', labels: {}, scale: 1, help: 'Times that an endpoint was rested after a failed connect.' },
  ],
} as const satisfies Readonly<Record<string, readonly CounterCell[]>>;

/** Cell numbers by kind of slot and name. */
export const CELL = {
  listener: { accepted: 0, closed: 1, bytesIn: 2, bytesOut: 3, requests: 4, rejected: 5 },
  action: { requests: 0, status1xx: 1, status2xx: 2, status3xx: 3, status4xx: 4, status5xx: 5, retries: 6, bytesIn: 7, bytesOut: 8, durationUs: 9 },
  endpoint: { connects: 0, connectFailures: 1, requests: 2, reused: 3, bytesOut: 4, bytesIn: 5, failures: 6, connectUs: 7 },
  engine: { accepts: 0, acceptErrors: 1, acceptPauses: 2, turns: 3, tableSwaps: 4, tableRefusals: 5, pipeFallbacks: 6, logDropped: 7, endpointRests: 8 },
} as const;

/** Why a connection or request ended. */
export interface CloseReasonInfo {
  /** Counter cell and wire number. */
  readonly number: number;
  /** Log word and metric label `reason`. */
  readonly word: string;
  /** Who brought it about; metric label `side`. */
  readonly side: string;
  /** Status of the answer that names it; 0: none. */
  readonly status: number;
  readonly help: string;
}

/** Every close reason; its number is its index. */
export const CLOSE_REASONS: readonly CloseReasonInfo[] = [
  { number: 0, word: 'client_closed', side: 'nobody', status: 0, help: 'The client closed an idle connection, or ended the connection after its last answer.' },
  { number: 1, word: 'idle_timeout', side: 'nobody', status: 0, help: 'No request began within the idle timeout of a kept connection.' },
  { number: 2, word: 'server_closed', side: 'nobody', status: 0, help: 'The proxy closed after the answer, because a peer asked for it or the version has no keep-alive.' },
  { number: 3, word: 'drained', side: 'nobody', status: 0, help: 'The connection was closed between requests because its worker drains.' },
  { number: 4, word: 'tcp_done', side: 'nobody', status: 0, help: 'A TCP session ended in both directions.' },
  { number: 5, word: 'upgrade_done', side: 'nobody', status: 0, help: 'An upgraded connection ended in both directions.' },
  { number: 6, word: 'header_timeout', side: 'client', status: 408, help: 'The head of a request was not complete within the header timeout.' },
  { number: 7, word: 'bad_request', side: 'client', status: 400, help: 'The request was malformed or ambiguous.' },
  { number: 8, word: 'head_too_large', side: 'client', status: 431, help: 'The head of the request was above its limits.' },
  { number: 9, word: 'version_unsupported', side: 'client', status: 505, help: 'The request spoke another version of HTTP.' },
  { number: 10, word: 'bad_request_body', side: 'client', status: 400, help: 'The body of the request was malformed.' },
  { number: 11, word: 'client_reset', side: 'client', status: 0, help: 'The client reset the connection.' },
  { number: 12, word: 'client_aborted', side: 'client', status: 0, help: 'The client closed before its request or the answer was complete.' },
  { number: 13, word: 'client_stalled', side: 'client', status: 408, help: 'The client neither sent its body nor took the answer for the stream idle timeout.' },
  { number: 14, word: 'request_timeout', side: 'upstream', status: 504, help: 'The request took longer than the route\'s request timeout.' },
  { number: 15, word: 'no_listener', side: 'configuration', status: 404, help: 'No listener of the socket serves the host.' },
  { number: 16, word: 'no_route', side: 'configuration', status: 404, help: 'No route of the listener matches the request.' },
  { number: 17, word: 'backend_invalid', side: 'configuration', status: 500, help: 'The chosen backend does not exist or may not be referred to.' },
  { number: 18, word: 'no_endpoint', side: 'upstream', status: 503, help: 'The backend has no endpoint that may be used.' },
  { number: 19, word: 'connect_failed', side: 'upstream', status: 502, help: 'No endpoint accepted the connection, for another cause than those below.' },
  { number: 20, word: 'connect_refused', side: 'upstream', status: 502, help: 'The endpoint refused the connection.' },
  { number: 21, word: 'connect_timeout', side: 'upstream', status: 504, help: 'The endpoint did not accept within the connect timeout.' },
  { number: 22, word: 'upstream_reset', side: 'upstream', status: 502, help: 'The endpoint reset the connection.' },
  { number: 23, word: 'upstream_closed_early', side: 'upstream', status: 502, help: 'The endpoint closed before its answer was complete.' },
  { number: 24, word: 'upstream_timeout', side: 'upstream', status: 504, help: 'The endpoint did not answer within the backend request timeout.' },
  { number: 25, word: 'bad_response', side: 'upstream', status: 502, help: 'The endpoint\'s answer was malformed or ambiguous.' },
  { number: 26, word: 'bad_response_body', side: 'upstream', status: 502, help: 'The body of the endpoint\'s answer was malformed.' },
  { number: 27, word: 'stream_idle_timeout', side: 'upstream', status: 504, help: 'No byte moved in either direction of an exchange for the stream idle timeout.' },
  { number: 28, word: 'half_closed_timeout', side: 'nobody', status: 0, help: 'One direction had ended and the other was silent for the half-closed timeout.' },
  { number: 29, word: 'tunnel_idle_timeout', side: 'nobody', status: 0, help: 'No byte moved through a TCP session or upgraded connection for the tunnel idle timeout.' },
  { number: 30, word: 'descriptors_exhausted', side: 'proxy', status: 503, help: 'No descriptor was left for the connection to the endpoint.' },
  { number: 31, word: 'memory_pressure', side: 'proxy', status: 503, help: 'The worker\'s memory budget was used up.' },
  { number: 32, word: 'listener_removed', side: 'configuration', status: 0, help: 'The listener was removed and its drain time is over.' },
  { number: 33, word: 'worker_stopping', side: 'proxy', status: 503, help: 'The worker stopped before the connection ended by itself.' },
  { number: 34, word: 'internal', side: 'proxy', status: 500, help: 'A system call failed in a way that nothing above explains.' },
  { number: 35, word: 'not_implemented', side: 'client', status: 501, help: 'The request asks for what is not implemented.' },
  { number: 36, word: 'completed', side: 'nobody', status: 0, help: 'The answer was sent whole; the connection may go on.' },
];
