//! System calls and shared memory: the only place with `unsafe`. No decision lives here. Serves `host` and `worker`.
pub mod channel;
pub mod memory;
pub mod listen;
pub mod lock;
pub mod notify;
pub mod proc;
