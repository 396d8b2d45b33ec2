//! System calls and shared memory: the only place with `unsafe`. No decision lives here. Serves `host` and `worker`.
pub mod channel;
pub mod memory;
