//! What a finished request or session leaves in the access log's ring.

use std::net::SocketAddr;

use session::close_reason::CloseReason;
use table::{ActionIdx, ListenerIdx};

use super::core::{Core, LoadedTable};
use super::os::Os;
use crate::shared::AccessRecord;

/// Names copied from a table, so that a long session holds no old generation.
pub struct Names {
    generation: u64,
    listener: Box<[u8]>,
    action: Box<[u8]>,
}

impl Names {
    pub fn new(table: &LoadedTable, listener: Option<ListenerIdx>, action: Option<ActionIdx>) -> Self {
        Self {
            generation: table.generation(),
            listener: listener.map_or(&b""[..], |l| table.str(table.listener(l).name)).into(),
            action: action.map_or(&b""[..], |a| table.str(table.action(a).name)).into(),
        }
    }
}

/// What a request says of itself, copied since its head is gone when it ends. Only kept when the log is on.
#[derive(Default)]
pub struct LogTexts {
    pub method: Vec<u8>,
    pub host: Vec<u8>,
    pub path: Vec<u8>,
    pub user_agent: Vec<u8>,
}

pub struct Entry<'a> {
    /// `table::layout::ACCESS_*`.
    pub protocol: u8,
    pub method: &'a [u8],
    pub host: &'a [u8],
    pub path: &'a [u8],
    pub user_agent: &'a [u8],
    pub status: u16,
    pub reason: CloseReason,
    pub retries: u8,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub started_us: u64,
    /// From the start to the first byte of the endpoint's answer; 0: none came.
    pub upstream_us: u64,
    pub peer: SocketAddr,
    pub endpoint: Option<SocketAddr>,
}

/// Writes one record; a full ring drops it and counts.
pub fn write<O: Os>(core: &mut Core<O>, names: &Names, entry: &Entry<'_>) {
    let record = AccessRecord {
        time_us: core.os.unix_ms() * 1000,
        duration_us: core.now_us.saturating_sub(entry.started_us),
        upstream_us: entry.upstream_us,
        generation: names.generation,
        bytes_in: entry.bytes_in,
        bytes_out: entry.bytes_out,
        client: entry.peer,
        upstream: entry.endpoint,
        status: entry.status,
        protocol: entry.protocol,
        close_reason: entry.reason as u8,
        retries: entry.retries,
        method: entry.method,
        host: entry.host,
        path: entry.path,
        listener: &names.listener,
        action: &names.action,
        user_agent: entry.user_agent,
    };
    if !core.shared.log.push(&record) {
        core.shared.control.add_log_dropped(1);
        core.shared.counters.engine(table::counters::engine::LOG_DROPPED, 1);
    }
}
