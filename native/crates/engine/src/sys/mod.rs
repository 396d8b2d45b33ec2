//! System calls and shared memory: the only place with `unsafe`. No decision lives here. Serves `host` and `worker`.
pub mod channel;
pub mod epoll;
pub mod listen;
pub mod lock;
pub mod memory;
pub mod notify;
pub mod pipe;
pub mod proc;
pub mod socket;
