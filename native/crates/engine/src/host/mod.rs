//! The primary's side of the data plane: memory, listening sockets, channels to workers, access log.
//! Which worker gets what, and when, is decided in TypeScript (primary/). Serves the napi layer.
pub mod access_log;
pub mod arena;
pub mod event;
pub mod group;
mod json_line;
pub mod links;
pub mod memory;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use access_log::{AccessLog, LogStats, Target};
use arena::ArenaError;
use event::{HostEvent, What};
use group::{BindError, Group};
use links::{Links, Outgoing, Sink};
use memory::Memory;

use crate::shared::protocol;
use crate::sys::channel::{Channel, MAX_FDS};
use crate::sys::lock::{Acquired, FolderLock};
use crate::sys::memory::create_sealed;
use crate::sys::proc::kill_child;

/// Everything that the primary owns on behalf of its workers. No call blocks on a worker.
pub struct Host {
    // Dropped in this order: the channels first, so that no message is sent for what is gone; the log last but locks,
    // so that what workers said at their end is still written.
    links: Links,
    groups: BTreeMap<u32, Group>,
    table: Option<(u64, Arc<OwnedFd>)>,
    memory: Memory,
    log: Option<AccessLog>,
    locks: Vec<FolderLock>,
}

impl Host {
    /// Creates the shared regions and starts the thread that owns the channels.
    ///
    /// # Errors  Those of memfd_create(2), mmap(2) and pthread_create(3).
    pub fn start(sink: Sink) -> io::Result<Self> {
        Ok(Self {
            links: Links::start(sink)?,
            groups: BTreeMap::new(),
            table: None,
            memory: Memory::create()?,
            log: None,
            locks: Vec::new(),
        })
    }

    /// The regions, for reading.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Makes a channel for a worker number and returns the end that its process is to inherit.
    ///
    /// # Errors  EMFILE.
    pub fn open_channel(&self, worker: u32) -> io::Result<OwnedFd> {
        let (ours, theirs) = Channel::pair()?;
        self.links.open(worker, ours);
        Ok(theirs)
    }

    /// Closes our end of a worker's channel, after all that was sent before.
    pub fn close_channel(&self, worker: u32) {
        self.links.close(worker);
    }

    /// Gives a column to a worker: HELLO with the descriptors of its regions.
    ///
    /// # Errors  InvalidInput when the column is past the limit or in use; else those of memfd_create(2).
    pub fn assign_column(&mut self, worker: u32, column: u32) -> io::Result<()> {
        let fds = self.memory.occupy(column)?;
        if let Some(log) = &self.log {
            self.memory.log_rings().into_iter().for_each(|(column, ring)| log.add_ring(column, ring));
        }
        self.send(worker, Outgoing { kind: protocol::HELLO, arg: column, fds, ..Outgoing::default() });
        Ok(())
    }

    /// Clears gauges and control words of a worker that is known to be dead. Counters stay.
    ///
    /// # Errors  Those of fallocate(2).
    pub fn zero_column(&mut self, column: u32) -> io::Result<()> {
        self.memory.zero(column)
    }

    /// Opens a listening address as `shards` members and returns it with its port. One that is open under this id at
    /// the same address already stays as it is.
    ///
    /// # Errors  With code, message and, for a port in use, its owner.
    pub fn bind(&mut self, socket_id: u32, ip: IpAddr, port: u16, shards: u16) -> Result<SocketAddr, BindError> {
        let addr = SocketAddr::new(ip, port);
        if let Some(group) = self.groups.get(&socket_id) {
            if group.addr == addr {
                return Ok(addr);
            }
            return Err(BindError {
                code: "EEXIST".to_string(),
                message: format!("socket {socket_id} is open at {}, {addr} asked; unbind it first", group.addr),
                owner: None,
            });
        }
        let ours: BTreeSet<u64> = self.groups.values().flat_map(Group::inodes).collect();
        let group = Group::open(addr, shards, &ours)?;
        let addr = group.addr;
        self.groups.insert(socket_id, group);
        Ok(addr)
    }

    /// Closes an address in the primary; it is closed for clients once all workers have let go of their members.
    pub fn unbind(&mut self, socket_id: u32) {
        self.groups.remove(&socket_id);
    }

    /// How many members a socket has; 0 when it is not open.
    pub fn members(&self, socket_id: u32) -> usize {
        self.groups.get(&socket_id).map_or(0, Group::len)
    }

    /// Draws workers evenly for new connections of a socket; see `sys::listen::draw_evenly`.
    ///
    /// # Errors  InvalidInput for an unknown socket or member; else those of setsockopt(2).
    pub fn draw_evenly(&self, socket_id: u32, workers: &[Vec<u16>]) -> io::Result<()> {
        self.group(socket_id)?.draw(workers)
    }

    /// Hands duplicates of members to a worker, in messages of at most 200.
    ///
    /// # Errors  InvalidInput for an unknown socket or member; nothing is sent then.
    pub fn deal(&self, worker: u32, socket_id: u32, members: &[u16], lent: bool) -> io::Result<()> {
        let group = self.group(socket_id)?;
        let fds: Vec<Arc<OwnedFd>> = members
            .iter()
            .map(|&member| {
                let fd = group.member(member).ok_or_else(|| {
                    invalid(format!("{} has {} members, member {member} named", group.addr, group.len()))
                })?;
                Ok(fd.clone())
            })
            .collect::<io::Result<_>>()?;
        for (members, fds) in members.chunks(MAX_FDS).zip(fds.chunks(MAX_FDS)) {
            self.send(
                worker,
                Outgoing {
                    kind: protocol::LISTEN,
                    arg: socket_id,
                    value: u64::from(lent),
                    payload: protocol::encode_members(members),
                    fds: fds.to_vec(),
                },
            );
        }
        Ok(())
    }

    /// Takes members back (none named: all); `drain`: the worker accepts what is queued first.
    pub fn undeal(&self, worker: u32, socket_id: u32, members: &[u16], drain: bool) {
        self.send(
            worker,
            Outgoing {
                kind: protocol::UNLISTEN,
                arg: socket_id,
                value: u64::from(drain),
                payload: protocol::encode_members(members),
                fds: Vec::new(),
            },
        );
    }

    /// Keeps a table, sealed, as the one that `send_table` sends.
    ///
    /// # Errors  Those of memfd_create(2) and write(2): no memory.
    pub fn publish_table(&mut self, bytes: &[u8], generation: u64) -> io::Result<()> {
        let fd = create_sealed(&format!("weirgate-table-{generation}"), bytes)?;
        self.table = Some((generation, Arc::new(fd)));
        Ok(())
    }

    /// Sends the current table to a worker, which answers with `Ack` or `Refused`.
    ///
    /// # Errors  InvalidInput before the first `publish_table`.
    pub fn send_table(&self, worker: u32) -> io::Result<()> {
        let (generation, fd) = self.table.as_ref().ok_or_else(|| invalid("no table was published yet".to_string()))?;
        self.send(
            worker,
            Outgoing { kind: protocol::TABLE, value: *generation, fds: vec![fd.clone()], ..Outgoing::default() },
        );
        Ok(())
    }

    /// Asks a worker to finish within a limit and take nothing new.
    pub fn drain(&self, worker: u32, limit_ms: u64) {
        self.send(worker, Outgoing { kind: protocol::DRAIN, value: limit_ms, ..Outgoing::default() });
    }

    /// Asks a worker to end now.
    pub fn stop(&self, worker: u32) {
        self.send(worker, Outgoing { kind: protocol::STOP, ..Outgoing::default() });
    }

    /// Kills a worker's process for certain; `Fenced` follows once it has ended (at once when it had before).
    ///
    /// # Errors  EPERM and the like; then no event follows.
    pub fn kill_fenced(&self, worker: u32, pid: u32) -> io::Result<()> {
        match kill_child(pid)? {
            Some(pidfd) => self.links.watch(worker, pid, pidfd),
            None => self.links.report(HostEvent { worker, what: What::Fenced { pid } }),
        }
        Ok(())
    }

    /// Publishes an endpoint set to all workers at once; `block` as compile/endpoint-set.ts encodes it.
    ///
    /// # Errors  See [`ArenaError`]; the set before stays.
    pub fn set_endpoint_set(&mut self, id: u32, block: &[u8]) -> Result<(), ArenaError> {
        let passed = self.memory.passed_epoch();
        self.memory.arena.set(id, block, passed).map(|_| ())
    }

    /// Removes an endpoint set: requests for it find no endpoint.
    pub fn drop_endpoint_set(&mut self, id: u32) {
        let passed = self.memory.passed_epoch();
        self.memory.arena.remove(id, passed);
    }

    /// Starts writing the access log of all columns; one that is running is ended first.
    ///
    /// # Errors  Those of open(2); then no log is running.
    pub fn start_access_log(&mut self, target: Target) -> io::Result<()> {
        self.log = None;
        self.log = Some(AccessLog::start(target, self.memory.log_rings())?);
        Ok(())
    }

    /// Opens the log's file anew, for log rotation.
    pub fn reopen_access_log(&self) {
        if let Some(log) = &self.log {
            log.reopen();
        }
    }

    /// Writes what the rings hold and ends the log.
    pub fn stop_access_log(&mut self) {
        self.log = None;
    }

    /// What became of access records so far; zeros without a log.
    pub fn log_stats(&self) -> LogStats {
        self.log.as_ref().map(AccessLog::stats).unwrap_or_default()
    }

    /// Locks a state folder for this process's life; `Err(pid)` when a running process has it.
    ///
    /// # Errors  Those of open(2) and flock(2).
    pub fn lock_state(&mut self, folder: &Path) -> io::Result<Result<(), Option<u32>>> {
        match FolderLock::acquire(folder)? {
            Acquired::Held(lock) => {
                self.locks.push(lock);
                Ok(Ok(()))
            }
            Acquired::Taken(pid) => Ok(Err(pid)),
        }
    }

    fn group(&self, socket_id: u32) -> io::Result<&Group> {
        self.groups.get(&socket_id).ok_or_else(|| invalid(format!("socket {socket_id} is not open")))
    }

    fn send(&self, worker: u32, message: Outgoing) {
        self.links.send(worker, message);
    }
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::Shared;
    use crate::sys::channel::{Message, Recv};

    fn next(channel: &Channel, message: &mut Message) {
        let mut poll = [rustix::event::PollFd::new(channel, rustix::event::PollFlags::IN)];
        let limit = rustix::fs::Timespec { tv_sec: 20, tv_nsec: 0 };
        assert_eq!(rustix::event::poll(&mut poll, Some(&limit)).unwrap(), 1, "nothing came");
        assert_eq!(channel.recv(message).unwrap(), Recv::Message);
    }

    #[test]
    fn a_worker_gets_memory_table_members_and_endpoints_and_the_primary_sees_its_counts() {
        let mut host = Host::start(Box::new(|_| true)).unwrap();
        let worker = Channel::from_fd(host.open_channel(3).unwrap()).unwrap();
        let addr = host.bind(1, "127.0.0.1".parse().unwrap(), 0, 300).unwrap();
        host.assign_column(3, 0).unwrap();
        assert!(host.send_table(3).is_err());
        host.publish_table(b"not judged here", 7).unwrap();
        host.send_table(3).unwrap();
        let members: Vec<u16> = (0..300).collect();
        host.deal(3, 1, &members, true).unwrap();
        host.undeal(3, 1, &[5], false);

        let mut message = Message::default();
        next(&worker, &mut message);
        assert_eq!((message.kind, message.arg), (protocol::HELLO, 0));
        let shared = Shared::from_hello(message.arg, std::mem::take(&mut message.fds)).unwrap();
        shared.counters.add(2, 0, 5);
        assert_eq!(host.memory().slots(0, 2, 1)[0], 5);
        next(&worker, &mut message);
        assert_eq!((message.kind, message.value, message.fds.len()), (protocol::TABLE, 7, 1));
        for expected in [0..200, 200..300] {
            next(&worker, &mut message);
            assert_eq!((message.kind, message.arg, message.value), (protocol::LISTEN, 1, 1));
            assert_eq!(protocol::decode_members(&message.payload).collect::<Vec<_>>(), expected.collect::<Vec<u16>>());
            assert_eq!(message.fds.len(), message.payload.len() / 2);
            let name = rustix::net::getsockname(&message.fds[0]).unwrap();
            assert_eq!(SocketAddr::try_from(name).unwrap(), addr);
        }
        next(&worker, &mut message);
        assert_eq!((message.kind, message.payload.as_slice()), (protocol::UNLISTEN, &[5u8, 0][..]));
        assert!(host.deal(3, 1, &[300], false).is_err() && host.deal(3, 2, &[0], false).is_err());
    }

    #[test]
    fn an_address_stays_open_when_asked_for_again_and_is_free_once_let_go() {
        let mut host = Host::start(Box::new(|_| true)).unwrap();
        let addr = host.bind(1, "127.0.0.1".parse().unwrap(), 0, 2).unwrap();
        assert_eq!(host.bind(1, addr.ip(), addr.port(), 2), Ok(addr));
        assert_eq!(host.bind(1, addr.ip(), addr.port().wrapping_add(1), 2).unwrap_err().code, "EEXIST");
        let mut other = Host::start(Box::new(|_| true)).unwrap();
        let error = other.bind(1, addr.ip(), addr.port(), 2).unwrap_err();
        assert_eq!((error.code.as_str(), error.owner.unwrap().pid), ("EADDRINUSE", std::process::id()));
        host.unbind(1);
        assert_eq!(host.members(1), 0);
        assert_eq!(other.bind(1, addr.ip(), addr.port(), 2), Ok(addr));
    }

    #[test]
    fn a_thousand_listening_sockets_reach_a_worker() {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, rustix::process::Rlimit { current: limit.maximum, ..limit }).unwrap();
        let mut host = Host::start(Box::new(|_| true)).unwrap();
        let worker = Channel::from_fd(host.open_channel(1).unwrap()).unwrap();
        for socket_id in 0..1000 {
            host.bind(socket_id, "127.0.0.1".parse().unwrap(), 0, 1).unwrap();
            host.deal(1, socket_id, &[0], false).unwrap();
        }
        let mut message = Message::default();
        let mut kept = Vec::new();
        for socket_id in 0..1000 {
            next(&worker, &mut message);
            assert_eq!((message.kind, message.arg, message.fds.len()), (protocol::LISTEN, socket_id, 1));
            kept.append(&mut message.fds);
        }
        assert_eq!(kept.len(), 1000);
    }
}
