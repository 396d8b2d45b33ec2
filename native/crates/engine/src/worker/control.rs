//! The worker's conversation with the primary, and its life from HELLO to STOP.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::process::{Resource, getrlimit};

use super::budget::memory_limit;
use super::core::{Core, Kind, LoadedTable, Token};
use super::loader::Loader;
use super::os::Linux;
use super::slab::Key;
use super::turn::Loop;
use crate::shared::{Shared, protocol};
use crate::sys::channel::{Channel, Message, Recv};
use crate::sys::epoll::Poller;

/// How long a worker whose primary is gone goes on for the connections it has.
const ORPHAN_MS: u64 = 60_000;
/// Descriptors a pipe budget may take at most: a quarter of the limit.
const PIPE_SHARE: usize = 4;

/// Why the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The primary said so.
    Stopped,
    /// The primary is gone and everything has been finished, or its time is over.
    Orphaned,
    /// The loop cannot go on: epoll or the shared memory failed.
    Failed,
}

/// Runs a worker's loop on this thread until it is told to stop. `channel_fd` is the worker's end of the channel.
pub fn run(channel_fd: OwnedFd) -> End {
    let Ok(channel) = Channel::from_fd(channel_fd) else { return End::Failed };
    let _ = channel.send(protocol::READY, 0, 0, &[], &[]);
    match hello(&channel) {
        Ok(Some(shared)) => match Worker::start(channel, shared) {
            Ok(mut worker) => worker.run(),
            Err(_) => End::Failed,
        },
        Ok(None) => End::Stopped,
        Err(_) => End::Failed,
    }
}

/// Waits, as the spare does, until the primary gives this worker a column.
fn hello(channel: &Channel) -> std::io::Result<Option<Shared>> {
    let mut message = Message::default();
    let mut poller = Poller::new()?;
    poller.add_level(channel.as_fd(), 0)?;
    let mut events = Vec::new();
    loop {
        match channel.recv(&mut message)? {
            Recv::Message if message.kind == protocol::HELLO => {
                return Shared::from_hello(message.arg, std::mem::take(&mut message.fds)).map(Some);
            }
            Recv::Message if message.kind == protocol::STOP => return Ok(None),
            Recv::Message => {}
            Recv::Closed => return Ok(None),
            Recv::Empty => {
                events.clear();
                poller.wait(10_000, &mut events)?;
            }
        }
    }
}

struct Worker {
    engine: Loop<Linux>,
    channel: Channel,
    loader: Loader,
    drain_until_ms: Option<u64>,
    orphan: bool,
    drained_told: bool,
}

fn special(kind: Kind) -> u64 {
    Token { kind, key: Key { index: 0, generation: 0 } }.pack()
}

impl Worker {
    fn start(channel: Channel, shared: Shared) -> Result<Self, rustix::io::Errno> {
        let poller = Poller::new()?;
        let loader = Loader::new()?;
        poller.add_level(channel.as_fd(), special(Kind::Channel))?;
        poller.add_level(&loader.wake, special(Kind::Loader))?;
        let limit = getrlimit(Resource::Nofile).current.map_or(1 << 20, |n| n as usize);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let core = Core::new(Linux { poller }, shared, pipe_budget(limit, cores), memory_limit(), cores as u32);
        core.shared.control.set_pid(std::process::id());
        Ok(Self {
            engine: Loop::new(core, limit),
            channel,
            loader,
            drain_until_ms: None,
            orphan: false,
            drained_told: false,
        })
    }

    fn run(&mut self) -> End {
        loop {
            let Ok(news) = self.engine.turn() else { return End::Failed };
            if news.loader {
                self.take_tables();
            }
            if news.channel
                && let Some(end) = self.read_channel()
            {
                return end;
            }
            if let Some(end) = self.check_drain() {
                return end;
            }
        }
    }

    fn read_channel(&mut self) -> Option<End> {
        let mut message = Message::default();
        loop {
            match self.channel.recv(&mut message) {
                Ok(Recv::Message) => {
                    if let Some(end) = self.handle(&mut message) {
                        return Some(end);
                    }
                }
                Ok(Recv::Empty) => return None,
                Ok(Recv::Closed) | Err(_) => {
                    if self.orphan {
                        return None;
                    }
                    self.orphan = true;
                    // The channel stays readable for ever now.
                    let _ = self.engine.core.os.poller.remove(self.channel.as_fd());
                    self.begin_drain(ORPHAN_MS);
                    return None;
                }
            }
        }
    }

    fn handle(&mut self, message: &mut Message) -> Option<End> {
        match message.kind {
            protocol::TABLE => {
                if let Some(fd) = message.fds.pop() {
                    self.loader.start(message.value, fd);
                }
            }
            protocol::LISTEN => {
                let members: Vec<u16> = protocol::decode_members(&message.payload).collect();
                for (number, fd) in members.into_iter().zip(message.fds.drain(..)) {
                    self.engine.listeners.add(&mut self.engine.core, message.arg, number, fd);
                }
                self.tell_listening(message.arg);
            }
            protocol::UNLISTEN => {
                let members: Vec<u16> = protocol::decode_members(&message.payload).collect();
                let Loop { core, http, sessions, listeners, .. } = &mut self.engine;
                listeners.remove(core, (http, sessions), message.arg, &members, message.value == 1);
                self.tell_listening(message.arg);
            }
            protocol::DRAIN => self.begin_drain(message.value),
            protocol::STOP => {
                self.engine.close_all();
                return Some(End::Stopped);
            }
            _ => {}
        }
        None
    }

    fn tell_listening(&self, socket_id: u32) {
        self.tell(protocol::LISTENING, socket_id, self.engine.listeners.count(socket_id) as u64, b"");
    }

    fn tell(&self, kind: u32, arg: u32, value: u64, payload: &[u8]) {
        // A full queue or a dead primary: the heartbeat and the channel's end tell the same story.
        let _ = self.channel.send(kind, arg, value, payload, &[]);
    }

    fn take_tables(&mut self) {
        while let Some((generation, loaded)) = self.loader.take() {
            match loaded {
                Ok(table) => self.swap(generation, table),
                Err(why) => {
                    self.engine.core.shared.counters.engine(table::counters::engine::TABLE_REFUSALS, 1);
                    self.tell(protocol::REFUSED, 0, generation, why.as_bytes());
                }
            }
        }
    }

    fn swap(&mut self, generation: u64, table: Arc<LoadedTable>) {
        let core = &mut self.engine.core;
        // Two tables may overtake each other on their threads: only a newer one counts.
        if core.table.as_ref().is_none_or(|old| old.generation() < generation) {
            if let Some(old) = core.replace_table(table.clone()) {
                self.engine.http.table_changed(&old, &table, core.now_ms);
            }
            core.shared.control.set_generation(generation);
            core.shared.counters.engine(table::counters::engine::TABLE_SWAPS, 1);
        }
        self.tell(protocol::ACK, 0, generation, b"");
    }

    fn begin_drain(&mut self, limit_ms: u64) {
        self.engine.drain();
        let until = self.engine.core.now_ms + limit_ms;
        self.drain_until_ms = Some(self.drain_until_ms.map_or(until, |old| old.min(until)));
    }

    fn check_drain(&mut self) -> Option<End> {
        let until = self.drain_until_ms?;
        if self.engine.core.now_ms >= until {
            self.engine.close_all();
        }
        if self.engine.connections() > 0 {
            return None;
        }
        if self.orphan {
            return Some(End::Orphaned);
        }
        if !self.drained_told {
            self.drained_told = true;
            self.tell(protocol::DRAINED, 0, 0, b"");
        }
        None
    }
}

/// Pipes of this worker: its share of what the kernel grants an ordinary user before new pipes shrink, and no more
/// than a quarter of the descriptors.
fn pipe_budget(descriptor_limit: usize, cores: usize) -> usize {
    let soft_pages =
        std::fs::read_to_string("/proc/sys/fs/pipe-user-pages-soft").ok().and_then(|s| s.trim().parse::<usize>().ok());
    let pipes = match soft_pages {
        Some(0) => 4096,
        Some(pages) => pages * 4096 / crate::sys::pipe::PIPE_BYTES,
        None => 256,
    };
    (pipes / cores).min(descriptor_limit / PIPE_SHARE / 2)
}
