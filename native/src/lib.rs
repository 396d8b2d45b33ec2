//! The napi layer: turns JavaScript values into calls of the engine and back. No decision and no unsafe of ours lives here.
//! Loaded by the primary, by workers, tests and benches; never in a worker thread of Node (src/native/addon.ts refuses).
#![deny(unsafe_code)]

mod error;
mod event;
mod host;
mod tables;
mod worker;
