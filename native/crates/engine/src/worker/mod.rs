//! A worker's data plane: one event loop on a thread of its own.
//!
//! `turn` is the whole of it: wait, note what is ready, serve everybody who waits once, run timers. `control` takes the
//! primary's messages, `accept` the listening sockets, `http` and `tcp` the connections. Nothing here ever blocks.

mod accept;
mod budget;
mod bytes;
mod control;
mod core;
mod http;
mod link;
mod loader;
mod log;
mod os;
mod pipes;
mod pump;
mod relief;
mod slab;
mod tcp;
mod turn;
mod wheel;

#[cfg(test)]
mod live;
#[cfg(test)]
mod simulation;

pub use control::{End, run};
