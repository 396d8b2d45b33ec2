//! What an event loop must remember so that nobody who is ready is forgotten and nobody who is busy starves the others.
//! Not here: sockets, epoll, buffers, the queue itself; the engine's simulation drives all of it on a fake kernel.
//! Serves the engine's pumps.
//!
//! ```text
//!              edge from epoll                     run queue (FIFO)
//!   blocked ───────────────────▶ ready ──▶ runs ──▶ budget spent ──▶ tail of the queue, still ready
//!      ▲                                    │
//!      └── EAGAIN, or a proven short read ──┘
//! ```

/// Bytes that one pump may copy in its turn.
pub const BUDGET_BYTES: usize = 256 * 1024;
/// Bytes that one pump may splice in its turn, about 1.3 ms, while nobody else wants anything: a stream that is served until it is dry stays in the caches of
/// its sender. 16 streams on one core, GB a CPU-second: 1.8 with 256 kB, 2.3 with 1 MB, 2.7 with 2 MB, 3.3 with 4 MB.
pub const SPLICE_BUDGET_BYTES: usize = 4 * 1024 * 1024;
/// Operations that one pump may make in its turn, so that tiny segments do not hold the loop either.
pub const BUDGET_OPERATIONS: u32 = 16;
/// The same for fills of a pipe.
pub const SPLICE_BUDGET_OPERATIONS: u32 = 128;

/// What an edge-triggered poller reported about one socket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Edge {
    pub readable: bool,
    pub writable: bool,
    /// EPOLLRDHUP: the peer's FIN lies behind the data.
    pub read_hangup: bool,
    /// EPOLLHUP or EPOLLERR.
    pub broken: bool,
}

/// What one socket is known to be ready for: what edges reported and no EAGAIN has taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Readiness {
    pub readable: bool,
    pub writable: bool,
    /// The peer's FIN, a reset or an error is on its way: a short read proves nothing any more.
    pub hangup: bool,
    /// Reset, or closed in both directions.
    pub broken: bool,
}

impl Readiness {
    /// A fresh socket may be tried in both directions before the poller says anything.
    pub const fn fresh() -> Self {
        Self { readable: true, writable: true, hangup: false, broken: false }
    }

    /// A socket whose connect is under way: its first edge says that it is over.
    pub const fn connecting() -> Self {
        Self { readable: false, writable: false, hangup: false, broken: false }
    }

    /// Adds what an edge reported. An edge never takes readiness back.
    pub fn note(&mut self, edge: Edge) {
        self.readable |= edge.readable || edge.read_hangup || edge.broken;
        self.writable |= edge.writable || edge.broken;
        self.hangup |= edge.read_hangup || edge.broken;
        self.broken |= edge.broken;
    }

    /// Learns from a read that gave `got` of `wanted` bytes. A short read proves the socket empty, unless a FIN or an error is on its way:
    /// its edge may have been merged with that of the data, so only the next read shows it. 0 bytes is that FIN.
    pub fn read(&mut self, got: usize, wanted: usize) {
        if got > 0 && got < wanted && !self.hangup {
            self.readable = false;
        }
    }

    /// Learns from a write that took `taken` of `offered` bytes: a short write proves the send buffer full, and the kernel has noted that
    /// somebody waits for room.
    pub fn wrote(&mut self, taken: usize, offered: usize) {
        if taken < offered {
            self.writable = false;
        }
    }

    /// Learns that a read gave EAGAIN.
    pub fn read_blocked(&mut self) {
        self.readable = false;
    }

    /// Learns that a write gave EAGAIN.
    pub fn write_blocked(&mut self) {
        self.writable = false;
    }
}

/// One pump's share of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    bytes: usize,
    operations: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self { bytes: BUDGET_BYTES, operations: BUDGET_OPERATIONS }
    }
}

impl Budget {
    /// The share of a pump that splices.
    pub const fn splicing() -> Self {
        Self { bytes: SPLICE_BUDGET_BYTES, operations: SPLICE_BUDGET_OPERATIONS }
    }

    /// Books one operation that moved `bytes`.
    pub fn book(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(bytes);
        self.operations = self.operations.saturating_sub(1);
    }

    /// Whether the turn is over. A pump that stops for this is ready still and goes to the tail of the queue.
    pub fn is_spent(&self) -> bool {
        self.bytes == 0 || self.operations == 0
    }
}
