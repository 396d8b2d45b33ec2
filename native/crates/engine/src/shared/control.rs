//! One worker's control words: how the primary sees that it lives and what it holds.
//! Written by the worker's loop, read by the primary; nobody waits for anybody. Serves both.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::region as at;
use crate::sys::memory::Mapping;

/// One worker's words in the control region.
#[derive(Clone)]
pub struct ControlColumn {
    map: Arc<Mapping>,
    base: usize,
}

/// What one column said when it was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ControlValues {
    /// CLOCK_MONOTONIC ms of the loop's last turn; 0: never.
    pub heartbeat_ms: u64,
    /// Endpoint epoch that the loop has passed.
    pub epoch: u64,
    /// Table generation that new requests see.
    pub generation: u64,
    /// Open downstream connections.
    pub connections: u32,
    /// True while no descriptors are left and nothing is accepted.
    pub paused: bool,
    pub pid: u32,
    /// Requests between head and end of response.
    pub requests_inflight: u32,
    /// Access log records that did not fit into the ring.
    pub log_dropped: u64,
    pub accepts: u64,
    /// Bulk transfers that fell back to read/write because the pipe budget was used up.
    pub pipe_fallbacks: u64,
    /// Oldest table generation that a request still holds.
    pub oldest_generation: u64,
}

impl ControlColumn {
    /// The words of `column`; None at 64 and above, or when the mapping is too short.
    pub fn new(map: Arc<Mapping>, column: u32) -> Option<Self> {
        let base = usize::try_from(column).ok()?.checked_mul(at::CONTROL_STRIDE)?;
        let fits = (column as usize) < at::MAX_WORKERS && base + at::CONTROL_STRIDE <= map.len();
        fits.then_some(Self { map, base })
    }

    /// Says that the loop turns. `ms`: CLOCK_MONOTONIC.
    pub fn set_heartbeat(&self, ms: u64) {
        self.store_u64(at::CONTROL_HEARTBEAT_MS, ms);
    }

    /// Says that no endpoint block older than `epoch` is held any more. Release: reads of old blocks come before.
    pub fn set_epoch(&self, epoch: u64) {
        self.store_u64(at::CONTROL_EPOCH, epoch);
    }

    /// The table generation that new requests see from now on.
    pub fn set_generation(&self, generation: u64) {
        self.store_u64(at::CONTROL_GENERATION, generation);
    }

    /// Open downstream connections.
    pub fn set_connections(&self, connections: u32) {
        self.store_u32(at::CONTROL_CONNECTIONS, connections);
    }

    /// Whether accepting has stopped for want of descriptors.
    pub fn set_paused(&self, paused: bool) {
        self.store_u32(at::CONTROL_PAUSED, u32::from(paused));
    }

    /// The worker's process id.
    pub fn set_pid(&self, pid: u32) {
        self.store_u32(at::CONTROL_PID, pid);
    }

    /// Requests between head and end of response.
    pub fn set_requests_inflight(&self, requests: u32) {
        self.store_u32(at::CONTROL_REQUESTS_INFLIGHT, requests);
    }

    /// Oldest table generation that a request of this worker still holds.
    pub fn set_oldest_generation(&self, generation: u64) {
        self.store_u64(at::CONTROL_OLDEST_GENERATION, generation);
    }

    /// Counts access log records that were lost.
    pub fn add_log_dropped(&self, n: u64) {
        self.add(at::CONTROL_LOG_DROPPED, n);
    }

    /// Counts accepted connections.
    pub fn add_accepts(&self, n: u64) {
        self.add(at::CONTROL_ACCEPTS, n);
    }

    /// Counts bulk transfers done by read/write for want of a pipe.
    pub fn add_pipe_fallbacks(&self, n: u64) {
        self.add(at::CONTROL_PIPE_FALLBACKS, n);
    }

    /// All words at once; each is exact, together they are not one moment.
    pub fn read(&self) -> ControlValues {
        ControlValues {
            heartbeat_ms: self.load_u64(at::CONTROL_HEARTBEAT_MS),
            epoch: self.load_u64(at::CONTROL_EPOCH),
            generation: self.load_u64(at::CONTROL_GENERATION),
            connections: self.load_u32(at::CONTROL_CONNECTIONS),
            paused: self.load_u32(at::CONTROL_PAUSED) != 0,
            pid: self.load_u32(at::CONTROL_PID),
            requests_inflight: self.load_u32(at::CONTROL_REQUESTS_INFLIGHT),
            log_dropped: self.load_u64(at::CONTROL_LOG_DROPPED),
            accepts: self.load_u64(at::CONTROL_ACCEPTS),
            pipe_fallbacks: self.load_u64(at::CONTROL_PIPE_FALLBACKS),
            oldest_generation: self.load_u64(at::CONTROL_OLDEST_GENERATION),
        }
    }

    /// The endpoint epoch that the worker has passed. Acquire: what it read before is over.
    pub fn epoch(&self) -> u64 {
        self.load_u64(at::CONTROL_EPOCH)
    }

    /// Zeroes the column. Only once its worker is known to be dead.
    pub fn zero(&self) {
        self.map.zero(self.base, at::CONTROL_STRIDE);
    }

    fn add(&self, offset: usize, n: u64) {
        // One writer: load and store, no locked instruction.
        if let Some(word) = self.u64(offset) {
            word.store(word.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
        }
    }

    fn store_u64(&self, offset: usize, value: u64) {
        if let Some(word) = self.u64(offset) {
            word.store(value, Ordering::Release);
        }
    }

    fn store_u32(&self, offset: usize, value: u32) {
        if let Some(word) = self.u32(offset) {
            word.store(value, Ordering::Relaxed);
        }
    }

    fn load_u64(&self, offset: usize) -> u64 {
        self.u64(offset).map_or(0, |word| word.load(Ordering::Acquire))
    }

    fn load_u32(&self, offset: usize) -> u32 {
        self.u32(offset).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    fn u64(&self, offset: usize) -> Option<&AtomicU64> {
        self.map.u64_at(self.base + offset)
    }

    fn u32(&self, offset: usize) -> Option<&AtomicU32> {
        self.map.u32_at(self.base + offset)
    }
}
