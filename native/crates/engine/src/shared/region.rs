//! Offsets of single words in the shared regions, from the records that the table crate's layout declares.
//! Serves the typed views beside it and the host that creates the regions.

use std::mem::offset_of;

pub use table::layout::{
    CONTROL_BYTES, CONTROL_STRIDE, COUNTERS_BYTES, COUNTERS_SLOTS_OFFSET, CURSORS_BYTES, CURSORS_RESTING_OFFSET,
    ENDPOINT_ARENA_OFFSET, ENDPOINT_BLOCK_ALIGN, ENDPOINT_DIRECTORY_OFFSET, ENGINE_CELLS, ENGINE_CELLS_FIRST,
    GAUGES_BYTES, LOG_KIND_ACCESS, LOG_MAX_PAYLOAD, LOG_RING_BYTES, LOG_RING_DATA_OFFSET, MAX_ENDPOINTS, MAX_SETS,
    MAX_SLOTS, MAX_WORKERS, REASON_CELLS, SLOT_CELLS,
};
use table::layout::{EndpointBlock, EndpointRecord, EndpointsHead, LogEntry, LogRingHead, Record, WorkerControl};

/// Bytes of a log ring with its head page.
pub const LOG_BYTES: usize = LOG_RING_DATA_OFFSET + LOG_RING_BYTES;
/// Bytes of the endpoints region: 255 MiB of arena, enough for five million endpoints; sparse until used.
pub const ENDPOINTS_BYTES: usize = 256 << 20;
/// Bytes of an endpoint block before its endpoints.
pub const BLOCK_HEAD: usize = EndpointBlock::SIZE;
/// Bytes of one endpoint in a block.
pub const ENDPOINT: usize = EndpointRecord::SIZE;
/// Bytes before the payload of a log record.
pub const LOG_ENTRY: usize = LogEntry::SIZE;

pub const BLOCK_SLOT: usize = offset_of!(EndpointBlock, slot);
pub const BLOCK_ENDPOINTS: usize = offset_of!(EndpointBlock, endpoints);
pub const BLOCK_SEQUENCE: usize = offset_of!(EndpointBlock, sequence);

pub const ENDPOINTS_EPOCH: usize = offset_of!(EndpointsHead, epoch);
pub const ENDPOINTS_ARENA_USED: usize = offset_of!(EndpointsHead, arena_used);

pub const CONTROL_HEARTBEAT_MS: usize = offset_of!(WorkerControl, heartbeat_ms);
pub const CONTROL_EPOCH: usize = offset_of!(WorkerControl, epoch);
pub const CONTROL_GENERATION: usize = offset_of!(WorkerControl, generation);
pub const CONTROL_CONNECTIONS: usize = offset_of!(WorkerControl, connections);
pub const CONTROL_PAUSED: usize = offset_of!(WorkerControl, paused);
pub const CONTROL_PID: usize = offset_of!(WorkerControl, pid);
pub const CONTROL_REQUESTS_INFLIGHT: usize = offset_of!(WorkerControl, requests_inflight);
pub const CONTROL_LOG_DROPPED: usize = offset_of!(WorkerControl, log_dropped);
pub const CONTROL_ACCEPTS: usize = offset_of!(WorkerControl, accepts);
pub const CONTROL_PIPE_FALLBACKS: usize = offset_of!(WorkerControl, pipe_fallbacks);
pub const CONTROL_OLDEST_GENERATION: usize = offset_of!(WorkerControl, oldest_generation);

pub const LOG_HEAD: usize = offset_of!(LogRingHead, head);
pub const LOG_DROPPED: usize = offset_of!(LogRingHead, dropped);
pub const LOG_TAIL: usize = offset_of!(LogRingHead, tail);
