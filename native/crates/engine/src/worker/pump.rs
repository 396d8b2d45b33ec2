//! Moves one direction of a byte stream: small messages by read and write through the loop's buffer, bulk by splice.
//!
//! ```text
//!            few bytes a read                 READS_TO_BULK reads of BULK_READ in a row
//!   Copying ───────────────────▶ Copying ─────────────────────────────────────────────▶ Splicing
//!      ▲                                                                                   │
//!      └──────────────── SMALL_FILLS fills below SMALL_FILL in a row ──────────────────────┘
//! ```
//! A pump stops when a side would block, at the end of the stream, at its limit, or at its budget; whoever is stopped
//! by the budget is ready still and must be queued again.

use rustix::io::Errno;
use session::pump::Budget;

use super::link::Link;
use super::os::Os;
use super::pipes::Pipes;
use crate::sys::pipe::PIPE_BYTES;

/// A read of at least this size is a sign of bulk.
const BULK_READ: usize = 16 * 1024;
const READS_TO_BULK: u8 = 2;
/// A fill below this size costs more by splice than by copying.
const SMALL_FILL: usize = 8 * 1024;
const SMALL_FILLS: u8 = 8;
/// Copied bytes that may wait for the receiver before the sender is no longer read.
const HIGH_WATER: usize = 256 * 1024;

/// One direction's state.
pub struct Flow<P> {
    pipe: Option<P>,
    in_pipe: usize,
    large: u8,
    small: u8,
    splicing: bool,
    /// The source's FIN has been read.
    pub source_ended: bool,
    /// Our FIN has been sent to the target.
    pub target_ended: bool,
}

impl<P> Default for Flow<P> {
    fn default() -> Self {
        Self { pipe: None, in_pipe: 0, large: 0, small: 0, splicing: false, source_ended: false, target_ended: false }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The source has nothing, or the target takes nothing: an event will come.
    Blocked,
    /// Ready still, but others are due.
    Budget,
    /// The source's FIN was read and everything before it is delivered.
    Ended,
    /// `limit` bytes have been taken from the source and delivered.
    Limit,
    SourceFailed(Errno),
    TargetFailed(Errno),
}

pub struct Pumped {
    /// Bytes taken from the source.
    pub taken: u64,
    pub stop: Stop,
}

impl<P> Flow<P> {
    /// Starts in splicing mode: for bodies whose length says that they are bulk.
    pub fn bulk() -> Self {
        Self { splicing: true, ..Self::default() }
    }

    /// Moves bytes until something stops it. `limit`: most bytes to take from the source; `budget`: what a splicing pump
    /// may use up, a copying one has the default.
    pub fn pump<O: Os<Pipe = P>>(
        &mut self,
        os: &mut O,
        pipes: &mut Pipes<P>,
        buffer: &mut [u8],
        (source, target): (&mut Link<O::Sock>, &mut Link<O::Sock>),
        limit: u64,
        budget: Budget,
    ) -> Pumped {
        let mut taken = 0u64;
        let stop = self.run(os, pipes, buffer, source, target, limit, budget, &mut taken);
        if self.in_pipe == 0
            && let Some(pipe) = self.pipe.take()
        {
            pipes.give_back(pipe);
        }
        Pumped { taken, stop }
    }

    /// Bytes in the pipe.
    pub fn held(&self) -> usize {
        self.in_pipe
    }

    /// Gives the pipe up: back to the pool when empty, else closed with what it holds.
    pub fn release(&mut self, pipes: &mut Pipes<P>) {
        if let Some(pipe) = self.pipe.take() {
            if self.in_pipe == 0 { pipes.give_back(pipe) } else { pipes.close(pipe) }
        }
        self.in_pipe = 0;
    }

    #[allow(clippy::too_many_arguments)]
    fn run<O: Os<Pipe = P>>(
        &mut self,
        os: &mut O,
        pipes: &mut Pipes<P>,
        buffer: &mut [u8],
        source: &mut Link<O::Sock>,
        target: &mut Link<O::Sock>,
        limit: u64,
        budget: Budget,
        taken: &mut u64,
    ) -> Stop {
        let mut budget = if self.splicing { budget } else { Budget::default() };
        loop {
            match target.flush(os) {
                Ok(true) => {}
                // Copied bytes wait: go on reading only by copying, and only so far.
                Ok(false) => return Stop::Blocked,
                Err(e) => return Stop::TargetFailed(e),
            }
            if let Some(stop) = self.empty_pipe(os, target) {
                return stop;
            }
            if self.source_ended {
                return Stop::Ended;
            }
            if *taken >= limit {
                return Stop::Limit;
            }
            if !source.ready.readable {
                return Stop::Blocked;
            }
            if budget.is_spent() {
                return Stop::Budget;
            }
            let want = (limit - *taken).min(PIPE_BYTES as u64) as usize;
            let step = if self.splicing { self.fill_pipe(os, pipes, source, want) } else { None };
            match step.unwrap_or_else(|| self.copy(os, buffer, source, target, want)) {
                Ok(0) => self.source_ended = true,
                Ok(n) => {
                    budget.book(n);
                    *taken += n as u64;
                }
                Err(Stop::Blocked) => {}
                Err(stop) => return stop,
            }
        }
    }

    /// Moves what the pipe holds to the target. `Some`: cannot go on.
    fn empty_pipe<O: Os<Pipe = P>>(&mut self, os: &mut O, target: &mut Link<O::Sock>) -> Option<Stop> {
        let pipe = self.pipe.as_ref()?;
        while self.in_pipe > 0 {
            if !target.ready.writable {
                return Some(Stop::Blocked);
            }
            match os.drain(pipe, &target.sock, self.in_pipe) {
                Ok(n) => self.in_pipe -= n,
                Err(Errno::AGAIN) => target.ready.writable = false,
                Err(e) => return Some(Stop::TargetFailed(e)),
            }
        }
        None
    }

    /// Fills the (empty) pipe. `None`: no pipe is to be had, copy instead.
    fn fill_pipe<O: Os<Pipe = P>>(
        &mut self,
        os: &mut O,
        pipes: &mut Pipes<P>,
        source: &mut Link<O::Sock>,
        want: usize,
    ) -> Option<Result<usize, Stop>> {
        if self.pipe.is_none() {
            self.pipe = pipes.take(os);
        }
        let pipe = self.pipe.as_ref()?;
        Some(match os.fill(pipe, &source.sock, want) {
            Ok(n) => {
                self.in_pipe += n;
                self.judge_fill(n, want);
                Ok(n)
            }
            // The pipe was empty, so this can only mean that the socket is.
            Err(Errno::AGAIN) => {
                source.ready.readable = false;
                Err(Stop::Blocked)
            }
            Err(e) => {
                source.ready.readable = false;
                Err(Stop::SourceFailed(e))
            }
        })
    }

    fn judge_fill(&mut self, n: usize, want: usize) {
        self.small = if n < SMALL_FILL && n < want { self.small + 1 } else { 0 };
        if self.small >= SMALL_FILLS {
            self.splicing = false;
            self.small = 0;
            self.large = 0;
        }
    }

    fn copy<O: Os<Pipe = P>>(
        &mut self,
        os: &mut O,
        buffer: &mut [u8],
        source: &mut Link<O::Sock>,
        target: &mut Link<O::Sock>,
        want: usize,
    ) -> Result<usize, Stop> {
        let room = buffer.len().min(HIGH_WATER).min(want);
        let n = match source.recv(os, &mut buffer[..room]) {
            Ok(n) => n,
            Err(Errno::AGAIN) => return Err(Stop::Blocked),
            Err(e) => return Err(Stop::SourceFailed(e)),
        };
        self.large = if n >= BULK_READ { self.large + 1 } else { 0 };
        if self.large >= READS_TO_BULK {
            self.splicing = true;
            self.large = 0;
        }
        match target.send(os, &buffer[..n]) {
            Ok(()) => Ok(n),
            Err(e) => Err(Stop::TargetFailed(e)),
        }
    }
}
