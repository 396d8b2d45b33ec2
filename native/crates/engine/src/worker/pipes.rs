//! The worker's pipes: made on demand within a budget, lent while a direction holds bytes, reused when empty.

use super::os::Os;

pub struct Pipes<P> {
    idle: Vec<P>,
    open: usize,
    /// Most pipes of this worker: its share of what the kernel grants an ordinary user.
    most: usize,
    /// Times that no pipe was to be had and bytes were copied instead.
    pub refused: u64,
    /// A pipe was refused by the kernel: do not ask again before this time (milliseconds).
    quiet_until: u64,
    now_ms: u64,
}

/// Kept for reuse; more are closed when they come back.
const KEEP: usize = 64;

impl<P> Pipes<P> {
    pub fn new(most: usize) -> Self {
        Self { idle: Vec::new(), open: 0, most, refused: 0, quiet_until: 0, now_ms: 0 }
    }

    pub fn set_now(&mut self, now_ms: u64) {
        self.now_ms = now_ms;
    }

    /// Descriptors that the budget can come to need.
    pub fn descriptors(&self) -> usize {
        self.most * 2
    }

    /// Pipes that hold bytes of a stream.
    pub fn lent(&self) -> usize {
        self.open - self.idle.len()
    }

    pub fn take<O: Os<Pipe = P>>(&mut self, os: &mut O) -> Option<P> {
        if let Some(pipe) = self.idle.pop() {
            return Some(pipe);
        }
        if self.open < self.most && self.now_ms >= self.quiet_until {
            match os.pipe() {
                Ok(pipe) => {
                    self.open += 1;
                    return Some(pipe);
                }
                Err(_) => self.quiet_until = self.now_ms + 1000,
            }
        }
        self.refused += 1;
        None
    }

    /// Takes an empty pipe back.
    pub fn give_back(&mut self, pipe: P) {
        if self.idle.len() < KEEP { self.idle.push(pipe) } else { self.close(pipe) }
    }

    /// Closes a pipe that still holds bytes of an ended stream.
    pub fn close(&mut self, pipe: P) {
        drop(pipe);
        self.open -= 1;
    }
}
