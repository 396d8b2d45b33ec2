//! HTTP/1 (RFC 9112): heads in, heads out, body framing; ambiguous framing is refused, never repaired.
//! Not here: routing, retries, timeouts. Text of the errors is meant for a log line and a short answer body.
//! Serves the engine's downstream and upstream sides alike.

mod authority;
mod chunked;
mod error;
mod fields;
mod forward;
mod glimpse;
mod names;
mod request;
mod respond;
mod response;
mod scan;
mod simple;
mod span;
mod target;

pub use chunked::{CHUNK_END, ChunkError, ChunkStep, Chunked, LAST_CHUNK, Scan, write_chunk_head};
pub use error::HeadError;
pub use fields::HeaderField;
pub use forward::{ForwardOptions, write_request_head};
pub use glimpse::{Glimpse, glimpse};
pub use names::KnownName;
pub use request::{BodyLength, MethodKind, RequestHead, parse_request, parse_request_from};
pub use respond::{ResponseOptions, write_response_head};
pub use response::{ResponseBody, ResponseHead, parse_response, parse_response_from};
pub use scan::HeadScan;
pub use simple::{SimpleResponse, reason_phrase, simple_response};
pub use span::Span;

/// How large a head may be; both limits count against one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes from the first byte to the empty line, both included. A head of exactly this size is accepted.
    pub max_head_bytes: usize,
    /// Header fields in one head.
    pub max_headers: usize,
}

impl Default for Limits {
    /// 64 KiB and 128 fields: above what browsers with many cookies send, below what hurts.
    fn default() -> Self {
        Self { max_head_bytes: 64 * 1024, max_headers: 128 }
    }
}

/// Outcome of a parse that met no fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parsed {
    /// The head is complete; its `len()` says where the body begins.
    Complete,
    /// Every byte so far is acceptable; call again with more.
    Incomplete,
}
