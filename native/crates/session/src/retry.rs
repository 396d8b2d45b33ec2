//! Which failed exchanges may be tried again, and which upstream connection a request may take.
//! Not here: which endpoint comes next, how long a failed one rests, clocks.
//! Serves the engine's upstream side. Rules: design.md §7 "upstream pool", RFC 9110 §9.2.2, RFC 9112 §9.3.1.

use proto::h1::MethodKind;

use crate::close_reason::{CloseReason, Retry};

/// Connections that one request may use up, the first included.
pub const MAX_ATTEMPTS: u8 = 4;
/// Most of a request, head and body, that is held for a second attempt, in bytes.
pub const MAX_HELD_BODY: usize = 64 * 1024;
/// How long a pooled connection may have been idle before a request that cannot be repeated avoids it, in milliseconds.
pub const FRESH_IDLE_MS: u64 = 1_000;

/// How far an exchange had come when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    pub method: MethodKind,
    /// Connections used so far, the failed one included.
    pub attempts: u8,
    /// The connection came from the pool.
    pub reused: bool,
    /// A byte of the request was handed to the socket.
    pub sent: bool,
    /// A byte of the response was received (interim responses count).
    pub answered: bool,
    /// Every body byte taken from the client so far is still held.
    pub body_held: bool,
}

/// What to do about a failed exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Answer with the status of the reason.
    GiveUp,
    /// Connect to the same endpoint anew: a pooled connection had gone stale, which says nothing about the endpoint.
    SameEndpoint,
    /// Take another endpoint.
    OtherEndpoint {
        /// Leave the failed one out for a while.
        rest: bool,
    },
}

/// Judges a failed exchange.
///
/// A failed connect and a request of which no byte was sent may be repeated whatever the method, as long as the body is held. Once bytes
/// are out, only an idempotent method with no response byte.
pub fn judge(reason: CloseReason, attempt: &Attempt) -> Verdict {
    if attempt.answered || attempt.attempts >= MAX_ATTEMPTS || !attempt.body_held {
        return Verdict::GiveUp;
    }
    match reason.info().retry {
        Retry::Never => Verdict::GiveUp,
        Retry::Any => Verdict::OtherEndpoint { rest: true },
        Retry::Idempotent if attempt.sent && !attempt.method.is_idempotent() => Verdict::GiveUp,
        Retry::Idempotent if attempt.reused => Verdict::SameEndpoint,
        Retry::Idempotent => Verdict::OtherEndpoint { rest: false },
    }
}

/// Whether a request could be sent a second time, as far as its bytes are concerned: the head counts as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// Whatever is still to come of it can be held.
    Whole,
    /// Chunked, and its end is not here yet.
    Unknown,
    /// It is longer than what is held.
    TooLarge,
}

impl Hold {
    /// Judges a request of which `held` bytes are here and `left` are to come (`None`: unknown).
    pub fn of(held: usize, left: Option<u64>) -> Self {
        match left {
            Some(left) if held as u64 + left <= MAX_HELD_BODY as u64 => Self::Whole,
            None if held <= MAX_HELD_BODY => Self::Unknown,
            Some(_) | None => Self::TooLarge,
        }
    }
}

/// Whether a request must have a new connection: a pooled one may meet the endpoint's FIN on its way, and the request would be lost.
///
/// One that is too large to be held: the connect costs little beside its body, while holding more would cost every upload memory. One
/// that is repeatable only if it turns out to be short. A method that cannot be repeated gains nothing by being held: `may_take_pooled`.
pub fn needs_fresh(method: MethodKind, hold: Hold) -> bool {
    match hold {
        Hold::Whole => false,
        Hold::Unknown => method.is_idempotent(),
        Hold::TooLarge => true,
    }
}

/// Whether a request may take a pooled connection. A method that cannot be repeated takes one only when its socket was just seen
/// without FIN or data, and it was idle for less than a second.
pub fn may_take_pooled(method: MethodKind, idle_ms: u64, seen_quiet: bool) -> bool {
    method.is_idempotent() || (seen_quiet && idle_ms < FRESH_IDLE_MS)
}

/// How an exchange ended on the upstream connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// The whole request was sent.
    pub request_ended: bool,
    /// The whole response was received.
    pub response_ended: bool,
    /// Bytes lie behind the end of the response.
    pub surplus: bool,
    /// The endpoint keeps the connection open.
    pub keep_alive: bool,
}

/// Whether the upstream connection may serve another request: both messages ended exactly.
pub fn may_pool(ending: Ending) -> bool {
    ending.request_ended && ending.response_ended && !ending.surplus && ending.keep_alive
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRESH: Attempt =
        Attempt { method: MethodKind::Get, attempts: 1, reused: false, sent: true, answered: false, body_held: true };
    const METHODS: [MethodKind; 9] = [
        MethodKind::Get,
        MethodKind::Head,
        MethodKind::Post,
        MethodKind::Put,
        MethodKind::Delete,
        MethodKind::Options,
        MethodKind::Trace,
        MethodKind::Patch,
        MethodKind::Other,
    ];

    /// Every attempt there can be, for one reason.
    fn attempts() -> impl Iterator<Item = Attempt> {
        let flags = (0..16u8).map(|bits| (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0, bits & 8 != 0));
        METHODS.into_iter().flat_map(move |method| {
            flags.clone().flat_map(move |(reused, sent, answered, body_held)| {
                (1..=MAX_ATTEMPTS).map(move |attempts| Attempt { method, attempts, reused, sent, answered, body_held })
            })
        })
    }

    #[test]
    fn nothing_is_repeated_once_a_response_byte_came_or_the_body_is_gone_or_the_attempts_are_used_up() {
        for info in CloseReason::ALL {
            for attempt in attempts().filter(|a| a.answered || !a.body_held || a.attempts == MAX_ATTEMPTS) {
                assert_eq!(judge(info.reason, &attempt), Verdict::GiveUp, "{} {attempt:?}", info.word);
            }
        }
    }

    #[test]
    fn a_post_whose_bytes_are_out_is_repeated_only_if_the_connect_failed() {
        for info in CloseReason::ALL {
            for method in [MethodKind::Post, MethodKind::Patch, MethodKind::Other] {
                for reused in [false, true] {
                    let attempt = Attempt { method, reused, ..FRESH };
                    let repeats = judge(info.reason, &attempt) != Verdict::GiveUp;
                    assert_eq!(repeats, info.retry == Retry::Any, "{} {attempt:?}", info.word);
                }
            }
        }
    }

    #[test]
    fn any_method_is_repeated_when_no_byte_was_sent() {
        for method in METHODS {
            let attempt = Attempt { method, sent: false, ..FRESH };
            assert_eq!(judge(CloseReason::UpstreamReset, &attempt), Verdict::OtherEndpoint { rest: false });
            assert_eq!(judge(CloseReason::ConnectRefused, &attempt), Verdict::OtherEndpoint { rest: true });
        }
    }

    #[test]
    fn a_stale_pooled_connection_is_replaced_at_the_same_endpoint() {
        let attempt = Attempt { reused: true, ..FRESH };
        assert_eq!(judge(CloseReason::UpstreamClosedEarly, &attempt), Verdict::SameEndpoint);
        let fresh = Attempt { reused: false, ..attempt };
        assert_eq!(judge(CloseReason::UpstreamClosedEarly, &fresh), Verdict::OtherEndpoint { rest: false });
    }

    #[test]
    fn only_a_failed_connect_rests_its_endpoint() {
        for info in CloseReason::ALL {
            for attempt in attempts() {
                if judge(info.reason, &attempt) == (Verdict::OtherEndpoint { rest: true }) {
                    assert!(info.word.starts_with("connect_"), "{}", info.word);
                }
            }
        }
    }

    #[test]
    fn a_request_that_cannot_be_repeated_takes_only_a_quiet_connection_that_was_idle_for_less_than_a_second() {
        let cases = [
            (MethodKind::Post, 999, true, true),
            (MethodKind::Post, 1_000, true, false),
            (MethodKind::Post, 0, false, false),
            (MethodKind::Other, 0, true, true),
            (MethodKind::Get, 60_000, false, true),
        ];
        for (method, idle_ms, quiet, taken) in cases {
            assert_eq!(may_take_pooled(method, idle_ms, quiet), taken, "{method:?} {idle_ms} {quiet}");
        }
    }

    #[test]
    fn a_request_that_is_or_may_become_too_large_to_be_held_needs_a_new_connection() {
        for method in METHODS {
            assert!(needs_fresh(method, Hold::TooLarge) && !needs_fresh(method, Hold::Whole), "{method:?}");
            // A chunked one of unknown length might become so.
            assert_eq!(needs_fresh(method, Hold::Unknown), method.is_idempotent(), "{method:?}");
        }
    }

    #[test]
    fn head_and_body_together_are_held_up_to_the_limit() {
        for (held, left, hold) in [
            (MAX_HELD_BODY, Some(0), Hold::Whole),
            (300, Some(MAX_HELD_BODY as u64 - 300), Hold::Whole),
            (300, Some(MAX_HELD_BODY as u64 - 299), Hold::TooLarge),
            (0, Some(u64::MAX >> 1), Hold::TooLarge),
            (MAX_HELD_BODY, None, Hold::Unknown),
            (MAX_HELD_BODY + 1, None, Hold::TooLarge),
        ] {
            assert_eq!(Hold::of(held, left), hold, "{held} {left:?}");
        }
    }

    #[test]
    fn a_connection_is_pooled_only_if_both_messages_ended_exactly() {
        for bits in 0..16u8 {
            let [request_ended, response_ended, surplus, keep_alive] = [1, 2, 4, 8].map(|bit| bits & bit != 0);
            let pooled = may_pool(Ending { request_ended, response_ended, surplus, keep_alive });
            assert_eq!(pooled, bits == 0b1011, "{bits:04b}");
        }
    }
}
