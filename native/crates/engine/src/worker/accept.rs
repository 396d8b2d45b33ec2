//! Listening sockets of this worker: level-triggered, a few accepts a turn, and none while descriptors are short.

use rustix::io::Errno;
use table::{Protocol, counters};

use super::core::{Core, Kind, Token};
use super::http::Http;
use super::os::Os;
use super::slab::{Key, Slab};
use super::tcp::Sessions;

/// Most connections taken from one socket in one turn.
const MOST_ACCEPTS: u32 = 32;
/// Descriptors kept for everything but connections: Node's own, the channel, tables, logs.
pub const RESERVED: usize = 64;
/// A pause that had another cause than the count (ENFILE, ENOMEM) ends after this time.
const RETRY_MS: u64 = 100;
/// A pause at the limit ends at once when so much of the room for connections is free again, but no more than `MOST_ACCEPTS` places: to
/// register the members for each connection that leaves would cost more than the connection.
const FREE_SHARE: usize = 16;
/// A pause at the limit with less room than that ends after this time: whoever is queued need not wait for a crowd to leave.
const PATIENCE_MS: u64 = 50;

struct Member<L> {
    socket_id: u32,
    number: u16,
    listener: L,
    watched: bool,
    /// Accepts this turn: doubles while connections keep coming, so that a lone one costs no failing call.
    burst: u32,
}

pub struct Listeners<O: Os> {
    members: Slab<Member<O::Listener>>,
    /// Descriptors that this process may have.
    limit: usize,
    paused: bool,
    /// No look before this time.
    retry_at_ms: u64,
    /// Little room is not enough before this time.
    patient_until_ms: u64,
}

impl<O: Os> Listeners<O> {
    pub fn new(limit: usize) -> Self {
        Self { members: Slab::default(), limit, paused: false, retry_at_ms: 0, patient_until_ms: 0 }
    }

    /// Members of one socket that are served here.
    pub fn count(&self, socket_id: u32) -> usize {
        self.members
            .keys()
            .into_iter()
            .filter(|k| self.members.get(*k).is_some_and(|m| m.socket_id == socket_id))
            .count()
    }

    /// Serves a member of a socket's group from now on.
    pub fn add(&mut self, core: &mut Core<O>, socket_id: u32, number: u16, listener: O::Listener) {
        // The same member may come again, for instance own instead of lent: the new one takes its place.
        self.remove_where(core, |m| m.socket_id == socket_id && m.number == number);
        let key = self.members.insert(|_| Member { socket_id, number, listener, watched: false, burst: 1 });
        if !self.paused {
            self.watch(core, key);
        }
    }

    fn watch(&mut self, core: &mut Core<O>, key: Key) {
        if let Some(member) = self.members.get_mut(key)
            && !member.watched
        {
            member.watched =
                core.os.watch_listener(&member.listener, Token { kind: Kind::Listener, key }.pack()).is_ok();
        }
    }

    fn unwatch(core: &mut Core<O>, member: &mut Member<O::Listener>) {
        if member.watched {
            // The description is shared with the primary: without this its readiness would go on coming here.
            let _ = core.os.unwatch_listener(&member.listener);
            member.watched = false;
        }
    }

    fn remove_where(&mut self, core: &mut Core<O>, which: impl Fn(&Member<O::Listener>) -> bool) {
        for key in self.members.keys() {
            if self.members.get(key).is_some_and(&which)
                && let Some(mut member) = self.members.remove(key)
            {
                Self::unwatch(core, &mut member);
            }
        }
    }

    /// Serves the named members (none named: all) of a socket no longer. `drain`: what is queued is accepted first.
    pub fn remove(
        &mut self,
        core: &mut Core<O>,
        (http, sessions): (&mut Http<O>, &mut Sessions<O>),
        socket_id: u32,
        numbers: &[u16],
        drain: bool,
    ) {
        let named =
            |m: &Member<O::Listener>| m.socket_id == socket_id && (numbers.is_empty() || numbers.contains(&m.number));
        if drain && !self.paused {
            for key in self.members.keys() {
                if self.members.get(key).is_some_and(named) {
                    while self.accept_some(core, http, sessions, key, MOST_ACCEPTS) {}
                }
            }
        }
        self.remove_where(core, named);
    }

    pub fn remove_all(&mut self, core: &mut Core<O>) {
        self.remove_where(core, |_| true);
    }

    /// A listening socket has connections.
    pub fn accept(&mut self, core: &mut Core<O>, http: &mut Http<O>, sessions: &mut Sessions<O>, key: Key) {
        let Some(member) = self.members.get_mut(key) else { return };
        let burst = member.burst;
        let more = self.accept_some(core, http, sessions, key, burst);
        if let Some(member) = self.members.get_mut(key) {
            member.burst = if more { (burst * 2).min(MOST_ACCEPTS) } else { 1 };
        }
    }

    /// Accepts up to `most` connections. `true`: there may be more.
    fn accept_some(
        &mut self,
        core: &mut Core<O>,
        http: &mut Http<O>,
        sessions: &mut Sessions<O>,
        key: Key,
        most: u32,
    ) -> bool {
        for _ in 0..most {
            if self.is_full(core, http, sessions) {
                self.pause(core);
                return false;
            }
            let Some(member) = self.members.get(key) else { return false };
            let socket_id = member.socket_id;
            match core.os.accept(&member.listener) {
                Ok((sock, peer)) => {
                    core.shared.control.add_accepts(1);
                    core.shared.counters.engine(counters::engine::ACCEPTS, 1);
                    let socket = core.table.as_ref().and_then(|t| t.socket(socket_id));
                    match (socket.map(|s| (s.protocol, s.tcp_listener)), core.table.clone()) {
                        (Some((Protocol::Tcp, Some(listener))), Some(table)) => {
                            sessions.accept(core, sock, peer, &table, listener)
                        }
                        _ => http.accept(core, sock, peer, socket_id),
                    }
                }
                Err(Errno::AGAIN) => return false,
                // This connection died in the queue: the next one is as good as ever.
                Err(Errno::CONNABORTED | Errno::PROTO | Errno::INTR) => {}
                Err(_) => {
                    core.shared.counters.engine(counters::engine::ACCEPT_ERRORS, 1);
                    self.retry_at_ms = core.now_ms + RETRY_MS;
                    self.pause(core);
                    return false;
                }
            }
        }
        true
    }

    /// Descriptors that `connections` and everything else can come to need: each connection its own and one towards an endpoint, and the
    /// pipes of bulk directions have their budget.
    fn committed(&self, core: &Core<O>, connections: usize) -> usize {
        connections * 2 + core.pipes.descriptors() + self.members.len() + RESERVED
    }

    /// Whether one connection more could run out of descriptors, even when idle upstream connections are given up for it.
    fn is_full(&self, core: &Core<O>, http: &mut Http<O>, sessions: &Sessions<O>) -> bool {
        let committed = self.committed(core, http.len() + sessions.len() + 1);
        if committed > self.limit {
            return true;
        }
        http.shed((committed + http.idle_upstream()).saturating_sub(self.limit));
        false
    }

    /// Connections that end a pause at once when there is room for them.
    fn batch(&self, core: &Core<O>) -> usize {
        let room = self.limit.saturating_sub(self.committed(core, 0)) / 2;
        (room / FREE_SHARE).clamp(1, MOST_ACCEPTS as usize)
    }

    fn pause(&mut self, core: &mut Core<O>) {
        if self.paused {
            return;
        }
        self.paused = true;
        self.patient_until_ms = core.now_ms + PATIENCE_MS;
        core.shared.control.set_paused(true);
        core.shared.counters.engine(counters::engine::ACCEPT_PAUSES, 1);
        for key in self.members.keys() {
            if let Some(member) = self.members.get_mut(key) {
                Self::unwatch(core, member);
            }
        }
    }

    /// Accepts again as soon as there is room for a batch, or after a while for one: somebody is queued, and the queue gives no further sign.
    pub fn resume(&mut self, core: &mut Core<O>, http: &Http<O>, sessions: &Sessions<O>) {
        if !self.paused || core.now_ms < self.retry_at_ms {
            return;
        }
        let wanted = if core.now_ms < self.patient_until_ms { self.batch(core) } else { 1 };
        if self.committed(core, http.len() + sessions.len() + wanted) > self.limit {
            return;
        }
        self.paused = false;
        core.shared.control.set_paused(false);
        for key in self.members.keys() {
            self.watch(core, key);
        }
    }

    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// When a paused worker should look again, at the latest.
    pub fn retry_in(&self, now_ms: u64) -> Option<u64> {
        let at = [self.retry_at_ms, self.patient_until_ms].into_iter().filter(|at| *at > now_ms).min()?;
        self.paused.then(|| at - now_ms)
    }
}
