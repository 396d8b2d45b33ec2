//! The engine on a simulated kernel: edge-triggered readiness, small buffers, random arrival of bytes, resets.
//!
//! Every run is drawn from a seed, which a failure prints; `SIM_SEED=n cargo test -p engine simulation` replays one. What
//! is asserted is what users notice: every byte arrives, unchanged and in order, and nobody who is ready is forgotten
//! (a run in which nothing moves any more before the last byte is there has lost a wake-up).

pub mod fixture;
mod kernel;
mod memory;
mod peers;
mod random;
mod runs;
