//! Sizes and offsets of the shared regions, in bytes.
//! Serves the typed views beside it and the host that creates the regions.

/// Worker columns; a replacement takes its predecessor's.
pub const MAX_WORKERS: usize = 64;
/// Slot ids that counters, gauges and cursors are addressed by.
pub const MAX_SLOTS: usize = 1 << 20;
/// Counter cells of one slot.
pub const SLOT_CELLS: usize = 16;
/// Endpoint sets in the directory.
pub const MAX_SETS: usize = 1 << 18;

/// Stride of one worker's control words.
pub const CONTROL_STRIDE: usize = 4096;
/// Length of the control region.
pub const CONTROL_LEN: usize = MAX_WORKERS * CONTROL_STRIDE;
pub const CONTROL_HEARTBEAT_MS: usize = 0;
pub const CONTROL_EPOCH: usize = 8;
pub const CONTROL_GENERATION: usize = 16;
pub const CONTROL_CONNECTIONS: usize = 24;
pub const CONTROL_PAUSED: usize = 28;
pub const CONTROL_PID: usize = 32;
pub const CONTROL_REQUESTS_INFLIGHT: usize = 36;
pub const CONTROL_LOG_DROPPED: usize = 40;
pub const CONTROL_ACCEPTS: usize = 48;
pub const CONTROL_PIPE_FALLBACKS: usize = 56;

/// Close reasons at the head of a counters region.
pub const REASON_CELLS: usize = 256;
/// Head of a counters region: reasons, then engine-wide counters.
pub const COUNTERS_HEAD: usize = 4096;
/// Length of one column's counters.
pub const COUNTERS_LEN: usize = COUNTERS_HEAD + MAX_SLOTS * SLOT_CELLS * 8;
/// Length of one column's gauges.
pub const GAUGES_LEN: usize = MAX_SLOTS * 4;
/// Where the "resting until" words start in the cursors region.
pub const RESTING: usize = MAX_SLOTS * 4;
/// Length of the cursors region.
pub const CURSORS_LEN: usize = RESTING + MAX_SLOTS * 8;

/// Head of the endpoints region.
pub const ENDPOINTS_HEAD: usize = 4096;
pub const ENDPOINTS_EPOCH: usize = 0;
/// Directory of the endpoints region: u32 block offset / 64 by set id; 0 = no such set.
pub const ENDPOINTS_DIRECTORY: usize = ENDPOINTS_HEAD;
/// First byte of the arena.
pub const ENDPOINTS_ARENA: usize = ENDPOINTS_DIRECTORY + MAX_SETS * 4;
/// Length of the endpoints region.
pub const ENDPOINTS_LEN: usize = 256 << 20;
/// Blocks start at multiples of this.
pub const BLOCK_ALIGN: usize = 64;
pub const BLOCK_HEAD: usize = 16;
pub const BLOCK_SLOT: usize = 0;
pub const BLOCK_ENDPOINTS: usize = 4;
pub const BLOCK_SEQUENCE: usize = 8;
pub const ENDPOINT_SIZE: usize = 24;
/// Most endpoints of one set (a sequence entry is a u16).
pub const MAX_ENDPOINTS: u32 = 65_535;

/// Head page of a log ring.
pub const LOG_HEAD: usize = 4096;
pub const LOG_HEAD_POS: usize = 0;
pub const LOG_DROPPED: usize = 8;
/// On a cache line of its own: the reader writes it, the loop writes the other two.
pub const LOG_TAIL_POS: usize = 64;
/// Data bytes of a log ring; a power of two.
pub const LOG_DATA: usize = 1 << 20;
/// Longest payload of one record.
pub const LOG_MAX_PAYLOAD: usize = 8192;
/// Length of a log ring.
pub const LOG_LEN: usize = LOG_HEAD + LOG_DATA;
