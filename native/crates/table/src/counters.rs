//! What each counter cell means: numbers for the engine, names and help for metrics. xtask prints `counters.gen.ts` from here.
//! Cells are u64, single writer (the worker that owns the column), and never go backwards.

/// One counter cell of a kind of slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Index within the slot (or within the engine-wide cells).
    pub number: usize,
    /// Name in code and JSON: `bytes_in`.
    pub name: &'static str,
    /// Metric family without the `_total` suffix; families repeat when a label tells cells apart.
    pub metric: &'static str,
    /// Extra label as `name=value`; empty: none.
    pub label: &'static str,
    /// The cell counts this many of the metric's unit per million: 1,000,000 for plain counts, 1 for microseconds to seconds.
    pub per_million: u32,
    /// One sentence for people and for `# HELP`.
    pub help: &'static str,
}

const PLAIN: u32 = 1_000_000;
const MICROS: u32 = 1;

macro_rules! cells {
    ($( $(#[$meta:meta])* $module:ident { $( $name:ident = $number:literal, $key:literal, $metric:literal, $label:literal, $unit:ident, $help:literal; )* } )*) => {
        $(
            $(#[$meta])*
            pub mod $module {
                use super::{Cell, MICROS, PLAIN};
                #[allow(dead_code)]
                const UNITS: (u32, u32) = (PLAIN, MICROS);
                $( #[doc = $help] pub const $name: usize = $number; )*
                /// All cells of this kind in order.
                pub const CELLS: &[Cell] = &[ $( Cell {
                    number: $number, name: $key, metric: $metric, label: $label, per_million: $unit, help: $help,
                }, )* ];
            }
        )*
        /// Every kind of cells by name.
        pub const KINDS: &[(&str, &[Cell])] = &[ $( (stringify!($module), $module::CELLS), )* ];
    };
}

cells! {
    /// Cells of a listener's slot.
    listener {
        ACCEPTED = 0, "accepted", "weirgate_listener_connections_accepted", "", PLAIN, "Client connections accepted.";
        CLOSED = 1, "closed", "weirgate_listener_connections_closed", "", PLAIN, "Client connections closed.";
        BYTES_IN = 2, "bytes_in", "weirgate_listener_bytes", "direction=in", PLAIN, "Bytes between clients and the listener.";
        BYTES_OUT = 3, "bytes_out", "weirgate_listener_bytes", "direction=out", PLAIN, "Bytes between clients and the listener.";
        REQUESTS = 4, "requests", "weirgate_listener_requests", "", PLAIN, "Requests whose head was read.";
        REJECTED = 5, "rejected", "weirgate_listener_rejected", "", PLAIN, "Requests answered by Weirgate itself.";
    }
    /// Cells of an action's slot (a rule of a route).
    action {
        REQUESTS = 0, "requests", "weirgate_route_requests", "", PLAIN, "Requests or TCP connections given to the rule.";
        STATUS_1XX = 1, "status_1xx", "weirgate_route_responses", "class=1xx", PLAIN, "Responses sent to clients by class of status.";
        STATUS_2XX = 2, "status_2xx", "weirgate_route_responses", "class=2xx", PLAIN, "Responses sent to clients by class of status.";
        STATUS_3XX = 3, "status_3xx", "weirgate_route_responses", "class=3xx", PLAIN, "Responses sent to clients by class of status.";
        STATUS_4XX = 4, "status_4xx", "weirgate_route_responses", "class=4xx", PLAIN, "Responses sent to clients by class of status.";
        STATUS_5XX = 5, "status_5xx", "weirgate_route_responses", "class=5xx", PLAIN, "Responses sent to clients by class of status.";
        RETRIES = 6, "retries", "weirgate_route_retries", "", PLAIN, "Further tries after a failed one.";
        BYTES_IN = 7, "bytes_in", "weirgate_route_bytes", "direction=in", PLAIN, "Body or stream bytes of the rule's clients.";
        BYTES_OUT = 8, "bytes_out", "weirgate_route_bytes", "direction=out", PLAIN, "Body or stream bytes of the rule's clients.";
        DURATION_US = 9, "duration_us", "weirgate_route_duration_seconds", "", MICROS, "Time from the head of a request to the end of its response, summed.";
    }
    /// Cells of an endpoint's slot.
    endpoint {
        CONNECTS = 0, "connects", "weirgate_endpoint_connects", "", PLAIN, "Connections established to the endpoint.";
        CONNECT_FAILURES = 1, "connect_failures", "weirgate_endpoint_connect_failures", "", PLAIN, "Connections that were refused or timed out.";
        REQUESTS = 2, "requests", "weirgate_endpoint_requests", "", PLAIN, "Requests or TCP connections sent to the endpoint.";
        REUSED = 3, "reused", "weirgate_endpoint_connections_reused", "", PLAIN, "Requests that took an idle connection.";
        BYTES_OUT = 4, "bytes_out", "weirgate_endpoint_bytes", "direction=out", PLAIN, "Bytes between Weirgate and the endpoint.";
        BYTES_IN = 5, "bytes_in", "weirgate_endpoint_bytes", "direction=in", PLAIN, "Bytes between Weirgate and the endpoint.";
        FAILURES = 6, "failures", "weirgate_endpoint_failures", "", PLAIN, "Requests that failed after the connection stood.";
        CONNECT_US = 7, "connect_us", "weirgate_endpoint_connect_seconds", "", MICROS, "Time of establishing connections, summed.";
    }
    /// Engine-wide cells of a worker's column, from `layout::ENGINE_CELLS_FIRST` on.
    engine {
        ACCEPTS = 0, "accepts", "weirgate_worker_accepts", "", PLAIN, "Connections accepted on any socket.";
        ACCEPT_ERRORS = 1, "accept_errors", "weirgate_worker_accept_errors", "", PLAIN, "Calls of accept that failed.";
        ACCEPT_PAUSES = 2, "accept_pauses", "weirgate_worker_accept_pauses", "", PLAIN, "Times that accepting stopped for want of descriptors.";
        TURNS = 3, "turns", "weirgate_worker_turns", "", PLAIN, "Turns of the event loop.";
        TABLE_SWAPS = 4, "table_swaps", "weirgate_worker_table_swaps", "", PLAIN, "Configurations taken over.";
        TABLE_REFUSALS = 5, "table_refusals", "weirgate_worker_table_refusals", "", PLAIN, "Configurations refused.";
        PIPE_FALLBACKS = 6, "pipe_fallbacks", "weirgate_worker_pipe_fallbacks", "", PLAIN, "Bulk directions that got no pipe and were copied.";
        LOG_DROPPED = 7, "log_dropped", "weirgate_worker_log_dropped", "", PLAIN, "Access records dropped because the ring was full.";
        ENDPOINT_RESTS = 8, "endpoint_rests", "weirgate_worker_endpoint_rests", "", PLAIN, "Times that an endpoint was rested after a failed connect.";
    }
}
