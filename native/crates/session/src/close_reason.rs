//! Why a connection or request ended: one enum, written once, for logs, metrics, answers and retries.
//! Not here: how many of them there were (counters), what the answer says in detail.
//! Serves the engine; the primary reads the names through generated code.

use proto::h1::HeadError;

/// Who brought the end about, so that an operator knows where to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// A proper end that nobody is to blame for.
    Nobody,
    Client,
    Upstream,
    /// The configuration: nothing matches, or what matches cannot serve.
    Configuration,
    /// This process or its host.
    Proxy,
}

impl Side {
    /// Value of the metric label `side`.
    pub fn label(self) -> &'static str {
        match self {
            Self::Nobody => "nobody",
            Self::Client => "client",
            Self::Upstream => "upstream",
            Self::Configuration => "configuration",
            Self::Proxy => "proxy",
        }
    }
}

/// Whether another endpoint may be asked after this; `retry::judge` adds what the request itself allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Retry {
    /// The cause would be the same again, or an answer has begun.
    Never,
    /// The endpoint was never reached: any request may go elsewhere.
    Any,
    /// The request may have been acted upon: only if repeating it is harmless and possible.
    Idempotent,
}

/// What is known about a close reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    pub reason: CloseReason,
    /// The word in logs, and the value of the metric label `reason`.
    pub word: &'static str,
    pub side: Side,
    pub retry: Retry,
    /// The status of the answer that names it, if the client gets one; 0 if there is none to give.
    pub status: u16,
    /// One sentence for the metrics' and the manual's reader.
    pub help: &'static str,
}

macro_rules! close_reasons {
    ($($(#[doc = $doc:literal])* $name:ident = $number:literal, $word:literal, $side:ident, $retry:ident, $status:literal;)+) => {
        /// Why a connection or request ended. The number is the counter's cell: never reuse one, add at the end.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum CloseReason {
            $($(#[doc = $doc])* $name = $number,)+
        }

        impl CloseReason {
            /// Every reason, by number.
            pub const ALL: &[Info] = &[
                $(Info {
                    reason: CloseReason::$name,
                    word: $word,
                    side: Side::$side,
                    retry: Retry::$retry,
                    status: $status,
                    help: concat!($($doc),*),
                },)+
            ];
        }
    };
}

close_reasons! {
    /// The client closed an idle connection, or ended the connection after its last answer.
    ClientClosed = 0, "client_closed", Nobody, Never, 0;
    /// No request began within the idle timeout of a kept connection.
    IdleTimeout = 1, "idle_timeout", Nobody, Never, 0;
    /// The proxy closed after the answer, because a peer asked for it or the version has no keep-alive.
    ServerClosed = 2, "server_closed", Nobody, Never, 0;
    /// The connection was closed between requests because its worker drains.
    Drained = 3, "drained", Nobody, Never, 0;
    /// A TCP session ended in both directions.
    TcpDone = 4, "tcp_done", Nobody, Never, 0;
    /// An upgraded connection ended in both directions.
    UpgradeDone = 5, "upgrade_done", Nobody, Never, 0;
    /// The head of a request was not complete within the header timeout.
    HeaderTimeout = 6, "header_timeout", Client, Never, 408;
    /// The request was malformed or ambiguous.
    BadRequest = 7, "bad_request", Client, Never, 400;
    /// The head of the request was above its limits.
    HeadTooLarge = 8, "head_too_large", Client, Never, 431;
    /// The request spoke another version of HTTP.
    VersionUnsupported = 9, "version_unsupported", Client, Never, 505;
    /// The body of the request was malformed.
    BadRequestBody = 10, "bad_request_body", Client, Never, 400;
    /// The client reset the connection.
    ClientReset = 11, "client_reset", Client, Never, 0;
    /// The client closed before its request or the answer was complete.
    ClientAborted = 12, "client_aborted", Client, Never, 0;
    /// The client neither sent its body nor took the answer for the stream idle timeout.
    ClientStalled = 13, "client_stalled", Client, Never, 408;
    /// The request took longer than the route's request timeout.
    RequestTimeout = 14, "request_timeout", Upstream, Never, 504;
    /// No listener of the socket serves the host.
    NoListener = 15, "no_listener", Configuration, Never, 404;
    /// No route of the listener matches the request.
    NoRoute = 16, "no_route", Configuration, Never, 404;
    /// The chosen backend does not exist or may not be referred to.
    BackendInvalid = 17, "backend_invalid", Configuration, Never, 500;
    /// The backend has no endpoint that may be used.
    NoEndpoint = 18, "no_endpoint", Upstream, Never, 503;
    /// No endpoint accepted the connection, for another cause than those below.
    ConnectFailed = 19, "connect_failed", Upstream, Any, 502;
    /// The endpoint refused the connection.
    ConnectRefused = 20, "connect_refused", Upstream, Any, 502;
    /// The endpoint did not accept within the connect timeout.
    ConnectTimeout = 21, "connect_timeout", Upstream, Any, 504;
    /// The endpoint reset the connection.
    UpstreamReset = 22, "upstream_reset", Upstream, Idempotent, 502;
    /// The endpoint closed before its answer was complete.
    UpstreamClosedEarly = 23, "upstream_closed_early", Upstream, Idempotent, 502;
    /// The endpoint did not answer within the backend request timeout.
    UpstreamTimeout = 24, "upstream_timeout", Upstream, Never, 504;
    /// The endpoint's answer was malformed or ambiguous.
    BadResponse = 25, "bad_response", Upstream, Never, 502;
    /// The body of the endpoint's answer was malformed.
    BadResponseBody = 26, "bad_response_body", Upstream, Never, 502;
    /// No byte moved in either direction of an exchange for the stream idle timeout.
    StreamIdleTimeout = 27, "stream_idle_timeout", Upstream, Never, 504;
    /// One direction had ended and the other was silent for the half-closed timeout.
    HalfClosedTimeout = 28, "half_closed_timeout", Nobody, Never, 0;
    /// No byte moved through a TCP session or upgraded connection for the tunnel idle timeout.
    TunnelIdleTimeout = 29, "tunnel_idle_timeout", Nobody, Never, 0;
    /// No descriptor was left for the connection to the endpoint.
    DescriptorsExhausted = 30, "descriptors_exhausted", Proxy, Never, 503;
    /// The worker's memory budget was used up.
    MemoryPressure = 31, "memory_pressure", Proxy, Never, 503;
    /// The listener was removed and its drain time is over.
    ListenerRemoved = 32, "listener_removed", Configuration, Never, 0;
    /// The worker stopped before the connection ended by itself.
    WorkerStopping = 33, "worker_stopping", Proxy, Never, 503;
    /// A system call failed in a way that nothing above explains.
    Internal = 34, "internal", Proxy, Never, 500;
    /// The request asks for what is not implemented.
    NotImplemented = 35, "not_implemented", Client, Never, 501;
    /// The answer was sent whole; the connection may go on.
    Completed = 36, "completed", Nobody, Never, 0;
}

impl CloseReason {
    /// What is known about the reason. Cost: one table look-up.
    pub fn info(self) -> &'static Info {
        &Self::ALL[self as usize]
    }

    /// The word in logs, which is also the value of the metric label `reason`: a log line leads to its counter.
    pub fn word(self) -> &'static str {
        self.info().word
    }

    /// The reason with this counter cell, if any.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).map(|info| info.reason)
    }

    /// The reason that a refused request head ends its connection with.
    pub fn of_request_fault(fault: HeadError) -> Self {
        match fault.status() {
            414 | 431 => Self::HeadTooLarge,
            501 => Self::NotImplemented,
            505 => Self::VersionUnsupported,
            _ => Self::BadRequest,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_table_is_ordered_by_number() {
        for (index, info) in CloseReason::ALL.iter().enumerate() {
            assert_eq!(info.reason as usize, index, "{}", info.word);
            assert_eq!(info.reason.info(), info);
            assert_eq!(CloseReason::from_number(index as u8), Some(info.reason));
        }
        assert_eq!(CloseReason::from_number(CloseReason::ALL.len() as u8), None);
    }

    #[test]
    fn words_are_unique_and_fit_a_metric_label() {
        let words: HashSet<_> = CloseReason::ALL.iter().map(|info| info.word).collect();
        assert_eq!(words.len(), CloseReason::ALL.len());
        for info in CloseReason::ALL {
            assert!(info.word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{}", info.word);
            assert!(info.help.trim().ends_with('.'), "{}", info.word);
        }
    }

    #[test]
    fn a_reason_that_allows_a_retry_lies_upstream_and_has_an_answer() {
        for info in CloseReason::ALL.iter().filter(|info| info.retry != Retry::Never) {
            assert_eq!(info.side, Side::Upstream, "{}", info.word);
            assert!(info.status >= 502, "{}", info.word);
        }
    }

    #[test]
    fn the_word_that_proto_gives_for_a_fault_is_the_word_of_its_reason() {
        let faults = [
            HeadError::BareLf,
            HeadError::HeadTooLarge,
            HeadError::RequestLineTooLong,
            HeadError::Http2Preface,
            HeadError::Connect,
            HeadError::TransferCoding,
        ];
        for fault in faults {
            assert_eq!(CloseReason::of_request_fault(fault).word(), fault.close_word());
        }
    }
}
