//! The compiled configuration as one flat buffer: its layout, one strict parse, and accessors that cannot fail afterwards.
//! No I/O, no syscall, no decision about a request lives here (see `session`); nothing in this crate allocates after `parse`.
//! Serves `session` (routing), `engine` (listeners, actions, shared memory layouts) and `xtask` (the TypeScript side).
#![forbid(unsafe_code)]

pub mod access_record;
mod backends;
pub mod counters;
mod dump;
mod error;
mod hash;
mod host_trie;
pub mod layout;
mod network;
mod path_index;
mod reader;
mod table;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod validate;
mod validate_index;

pub use access_record::AccessRecord;
pub use backends::BackendChoice;
pub use error::TableError;
pub use host_trie::HostMatches;
pub use layout::{LAYOUT_HASH, MAX_SETS, MAX_SLOTS, MAX_WORKERS, SLOT_CELLS};
pub use path_index::{Match, Matches, PathRun, PathRuns};
pub use table::{
    Action, ActionIdx, Listener, ListenerIdx, Protocol, Range, Settings, Socket, StrRef, Table, Timeouts,
    VirtualHostIdx,
};
