//! The primary's side of the data plane: memory, listening sockets, channels to workers, access log.
//! Which worker gets what, and when, is decided in TypeScript (primary/). Serves the napi layer.
pub mod arena;
pub mod group;
pub mod links;
pub mod memory;
