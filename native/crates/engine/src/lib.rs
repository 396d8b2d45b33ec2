//! The engine: event loop, sockets, shared memory and the primary's side of them. Moves bytes; decisions are `session`'s.
//! No JavaScript value appears here (see the napi layer), no `unsafe` outside `sys`. Serves the addon.
#![deny(unsafe_code)]

pub mod host;
pub mod shared;
#[allow(unsafe_code)]
pub mod sys;
pub mod worker;
