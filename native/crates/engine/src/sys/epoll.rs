//! One epoll instance: edge-triggered connections, level-triggered listening sockets.
//! No policy lives here; tokens are opaque. Serves the worker's loop and the primary's host thread.

use std::os::fd::{AsFd, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::fs::Timespec;
use rustix::io::Errno;

/// What the kernel said about one descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub token: u64,
    pub readable: bool,
    pub writable: bool,
    /// The peer has sent its FIN (EPOLLRDHUP).
    pub read_hangup: bool,
    /// EPOLLERR or EPOLLHUP: both directions are finished, data may still be queued.
    pub broken: bool,
}

/// An epoll descriptor (close-on-exec).
pub struct Poller {
    fd: OwnedFd,
    ready: Vec<epoll::Event>,
}

/// Most events taken from the kernel by one wait.
const EVENTS_PER_WAIT: usize = 512;

impl Poller {
    /// Returns a new, empty poller.
    ///
    /// # Errors  What `epoll_create1` says, for instance EMFILE.
    pub fn new() -> Result<Self, Errno> {
        Ok(Self { fd: epoll::create(CreateFlags::CLOEXEC)?, ready: Vec::with_capacity(EVENTS_PER_WAIT) })
    }

    /// Watches a connection for everything, edge-triggered, with the one `epoll_ctl` it ever needs.
    pub fn add_edge(&self, fd: impl AsFd, token: u64) -> Result<(), Errno> {
        epoll::add(&self.fd, fd, EventData::new_u64(token), edge())
    }

    /// Gives a watched connection another token; the kernel reports its present readiness again.
    pub fn change_edge(&self, fd: impl AsFd, token: u64) -> Result<(), Errno> {
        epoll::modify(&self.fd, fd, EventData::new_u64(token), edge())
    }

    /// Watches a listening socket, eventfd or channel for input, level-triggered.
    pub fn add_level(&self, fd: impl AsFd, token: u64) -> Result<(), Errno> {
        epoll::add(&self.fd, fd, EventData::new_u64(token), EventFlags::IN)
    }

    /// Stops watching. Needed before a descriptor is closed that another process shares: the registration belongs
    /// to the open file, not to the number, and would live on.
    pub fn remove(&self, fd: impl AsFd) -> Result<(), Errno> {
        epoll::delete(&self.fd, fd)
    }

    /// Waits at most `timeout_ms` (0: do not wait) and appends what is ready to `out`. A signal counts as nothing ready.
    pub fn wait(&mut self, timeout_ms: u64, out: &mut Vec<Event>) -> Result<(), Errno> {
        let timeout =
            Timespec { tv_sec: (timeout_ms / 1000) as i64, tv_nsec: ((timeout_ms % 1000) * 1_000_000) as i64 };
        self.ready.clear();
        match epoll::wait(&self.fd, rustix::buffer::spare_capacity(&mut self.ready), Some(&timeout)) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(()),
            Err(e) => return Err(e),
        }
        out.extend(self.ready.iter().map(|e| {
            let flags = e.flags;
            Event {
                token: e.data.u64(),
                readable: flags.contains(EventFlags::IN),
                writable: flags.contains(EventFlags::OUT),
                read_hangup: flags.contains(EventFlags::RDHUP),
                broken: flags.intersects(EventFlags::ERR.union(EventFlags::HUP)),
            }
        }));
        Ok(())
    }
}

fn edge() -> EventFlags {
    EventFlags::IN.union(EventFlags::OUT).union(EventFlags::RDHUP).union(EventFlags::ET)
}
