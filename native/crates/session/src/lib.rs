//! Decisions over values: routing, retries, fairness, close reasons.
//! Not here: sockets, clocks, bytes of the peers (crate `proto`), the format of the table (crate `table`).
//! Serves the engine; everything is a pure function or a small machine that a test can drive.
#![forbid(unsafe_code)]

pub mod close_reason;
pub mod pump;
pub mod retry;
pub mod route;

pub use close_reason::CloseReason;
pub use route::{HeaderLookup, RequestKey, Routed, route};
