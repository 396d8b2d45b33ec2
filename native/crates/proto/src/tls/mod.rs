//! TLS as far as a balancer must read it before it ends or passes it on: the ClientHello (RFC 8446 §4.1.2, RFC 5246 §7.4.1.2).
//! Not here: the handshake itself, keys, certificates.
//! Serves the engine's TLS sockets, which choose listener and certificate by what the client says first.

mod hello;
mod reader;
mod records;

pub use hello::{ClientHello, Names, Numbers};
pub use records::{HelloRecords, Progress};
use thiserror::Error;

/// Largest ClientHello message; post-quantum shares and tickets need some 2 to 4 KiB.
pub const MAX_HELLO: usize = 64 * 1024;

/// Why the first bytes of a connection are no ClientHello that can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum HelloError {
    #[error("the connection does not begin with a TLS handshake record")]
    NotTls,
    #[error("the first handshake message is no ClientHello")]
    NotClientHello,
    #[error("a record is empty or longer than 2^14 bytes")]
    RecordLength,
    #[error("the ClientHello is larger than 64 KiB")]
    TooLarge,
    #[error("lengths within the ClientHello contradict each other")]
    Malformed,
    #[error("the ClientHello has an extension twice")]
    RepeatedExtension,
    #[error("the server name is no host name")]
    ServerName,
}
