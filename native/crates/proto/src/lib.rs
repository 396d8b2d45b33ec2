//! Peers' bytes without I/O: parsers and writers that take slices and give values.
//! Not here: sockets, buffers, clocks, decisions about a connection (crate `session`).
//! Serves the engine; everything is total: any bytes give an answer or an error, never a panic.
#![forbid(unsafe_code)]

pub mod h1;
pub mod tls;
