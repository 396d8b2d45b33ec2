//! The napi layer: turns JavaScript values into calls of the engine and back. No decision and no unsafe of ours lives here.
//! Loaded by the primary, by workers, tests and benches; its threads refuse to start in a worker thread of Node.
#![deny(unsafe_code)]
// napi registers nothing in test builds, which linters make of every crate; then nobody calls what is exported.
#![cfg_attr(test, allow(dead_code))]

mod error;
mod event;
mod host;
mod tables;
mod worker;
