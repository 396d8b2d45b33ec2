//! Pipes for splice(2): bytes move from socket to socket without entering user space.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::{Errno, retry_on_intr};
use rustix::pipe::{self, PipeFlags, SpliceFlags};

/// Size asked for; an ordinary user past `pipe-user-pages-soft` gets less.
pub const PIPE_BYTES: usize = 256 * 1024;

#[derive(Debug)]
pub struct Pipe {
    read: OwnedFd,
    write: OwnedFd,
}

impl Pipe {
    /// Returns an empty pipe of [`PIPE_BYTES`].
    ///
    /// # Errors  EMFILE and the like; EPERM when the kernel would give a small one, which costs more than plain copying.
    pub fn new() -> Result<Self, Errno> {
        let (read, write) = pipe::pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC)?;
        if pipe::fcntl_setpipe_size(&write, PIPE_BYTES)? < PIPE_BYTES {
            return Err(Errno::PERM);
        }
        Ok(Self { read, write })
    }

    /// Moves up to `len` bytes from the socket into the pipe. 0: end of stream.
    pub fn fill(&self, socket: impl AsFd, len: usize) -> Result<usize, Errno> {
        retry_on_intr(|| {
            pipe::splice(socket.as_fd(), None, &self.write, None, len, SpliceFlags::MOVE | SpliceFlags::NONBLOCK)
        })
    }

    /// Moves up to `len` bytes from the pipe into the socket. No SPLICE_F_MORE: a tail held back for bytes that then do
    /// not come waits 200 ms.
    pub fn drain(&self, socket: impl AsFd, len: usize) -> Result<usize, Errno> {
        retry_on_intr(|| {
            pipe::splice(&self.read, None, socket.as_fd(), None, len, SpliceFlags::MOVE | SpliceFlags::NONBLOCK)
        })
    }
}
