//! HTTP/1.1: clients' connections, endpoints' connections, and the exchanges between them.
//!
//! ```text
//!  client's connection (Down)                         endpoint's connection (Up)
//!    Head ──head read──▶ Exchange ──answer sent──▶ Head       connecting ─▶ busy ─▶ idle in the pool ─▶ busy …
//!      │                    │                       ▲              │          │            │
//!      │ faulty             │ failed before a byte  │ kept alive   │ failed   │ failed     │ FIN, too old
//!      ▼                    ▼ of the answer         │              ▼          ▼            ▼
//!    Closing ◀── own answer (4xx, 5xx) ─────────────┘          next endpoint or retry    closed
//!      │ everything sent
//!      ▼
//!    Linger (our FIN is out, input is thrown away until the client's FIN) ─▶ closed
//! ```
//! `down` reads requests, `refuse` answers those that are none, `dispatch` finds an endpoint for the others, `up` reads answers,
//! `finish` ends exchanges.

mod answer;
mod close;
mod dispatch;
mod down;
mod exchange;
mod finish;
mod pool;
mod refuse;
mod up;

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::Arc;

use proto::h1::{RequestHead, ResponseHead};
use session::close_reason::CloseReason;

use super::core::{Core, Kind, LoadedTable, Token};
use super::link::Link;
use super::os::Os;
use super::relief::{Holder, WORTH_BYTES};
use super::slab::{Key, Slab};
use super::tcp::Sessions;
use crate::sys::memory::release_memory;
use down::{Down, Phase};
use exchange::Exchange;
use pool::Pool;
use up::Up;

/// Exchanges that are kept for reuse in any case; more while so many are in flight.
const SPARE: usize = 64;
/// So many exchanges more than are needed are worth a walk through the allocator.
const RUSH: usize = 256;
/// Grace that a draining worker gives a client that is between two requests.
const DRAIN_GRACE_MS: u64 = 1_000;
/// A removed socket may still hand over what was queued on it for this long after the table changed.
const RETIRED_MS: u64 = 10_000;

pub struct Http<O: Os> {
    downs: Slab<Down<O>>,
    ups: Slab<Up<O>>,
    pool: Pool,
    /// Exchanges to be reused, with their buffers.
    spare: Vec<Box<Exchange<O>>>,
    /// Storage of the head being looked at.
    request: RequestHead,
    response: ResponseHead,
    /// The last table that had a socket, for connections that outlive it.
    retired: HashMap<u32, (Arc<LoadedTable>, u64)>,
    /// Clients' connections that epoll does not know yet, since they were answered before there was a need.
    unwatched: Vec<Key>,
}

impl<O: Os> Default for Http<O> {
    fn default() -> Self {
        Self {
            downs: Slab::default(),
            ups: Slab::default(),
            pool: Pool::default(),
            spare: Vec::new(),
            request: RequestHead::new(),
            response: ResponseHead::new(),
            retired: HashMap::new(),
            unwatched: Vec::new(),
        }
    }
}

impl<O: Os> Http<O> {
    /// Clients' connections.
    pub fn len(&self) -> usize {
        self.downs.len()
    }

    pub fn idle_upstream(&self) -> usize {
        self.pool.len()
    }

    pub fn upstream(&self) -> usize {
        self.ups.len()
    }

    pub fn link(&mut self, token: Token) -> Option<&mut Link<O::Sock>> {
        if token.kind == Kind::Down {
            self.downs.get_mut(token.key).map(|d| &mut d.link)
        } else {
            self.ups.get_mut(token.key).map(|u| &mut u.link)
        }
    }

    /// Takes an accepted connection over; its first request has often arrived already.
    pub fn accept(&mut self, core: &mut Core<O>, sock: O::Sock, peer: SocketAddr, socket_id: u32) {
        let key = self.downs.insert(|key| Down::new(key, sock, peer, socket_id, core));
        self.unwatched.push(key);
        if let Some(down) = self.downs.get_mut(key) {
            down.arm(core);
        }
        core.queue.push_back(Token { kind: Kind::Down, key });
        if let Some(down) = self.downs.get_mut(key) {
            down.link.queued = true;
        }
    }

    /// Goes on with a connection after an event or in its turn.
    pub fn drive(&mut self, core: &mut Core<O>, sessions: &mut Sessions<O>, token: Token) {
        match token.kind {
            Kind::Down => self.drive_down(core, sessions, token.key),
            _ => self.drive_up(core, sessions, token.key),
        }
    }

    /// Registers the connections that were accepted a while ago and are still here: from now on their end is noticed.
    pub fn watch_late(&mut self, core: &mut Core<O>) {
        for key in std::mem::take(&mut self.unwatched) {
            let fresh = match self.downs.get_mut(key) {
                Some(down) if !down.link.watched => {
                    if core.now_ms < down.active_ms + 50 {
                        self.unwatched.push(key);
                        continue;
                    }
                    down.watch(core)
                }
                _ => continue,
            };
            if fresh.is_err() {
                self.close_down(core, key, CloseReason::Internal, true);
            }
        }
    }

    /// Keeps the table that is being replaced for connections of sockets that the new one no longer has.
    pub fn table_changed(&mut self, old: &Arc<LoadedTable>, new: &LoadedTable, now_ms: u64) {
        for id in 0..old.socket_limit() {
            if old.socket(id).is_some() && new.socket(id).is_none() {
                self.retired.entry(id).or_insert_with(|| (old.clone(), now_ms));
            }
        }
        self.retired.retain(|id, _| new.socket(*id).is_none());
    }

    /// The table that serves a socket, and whether it is the present one: a socket that this one no longer has is served by the last one
    /// that had it.
    fn table_of(&self, core: &Core<O>, socket_id: u32) -> (Option<Arc<LoadedTable>>, bool) {
        match core.table.as_ref().filter(|t| t.socket(socket_id).is_some()) {
            Some(table) => (Some(table.clone()), true),
            None => (self.retired.get(&socket_id).map(|(table, _)| table.clone()), false),
        }
    }

    /// Ends what a draining worker need not wait for: clients between two requests, after a grace.
    pub fn drain(&mut self, core: &mut Core<O>) {
        self.pool.clear(&mut self.ups);
        for key in self.downs.keys() {
            if let Some(down) = self.downs.get_mut(key) {
                down.arm(core);
            }
        }
    }

    /// Adds the connections that hold many bytes and have not got on since `before_ms`.
    pub fn stalled(&self, before_ms: u64, out: &mut Vec<Holder>) {
        for key in self.downs.keys() {
            let Some(down) = self.downs.get(key) else { continue };
            let (since_ms, held) = match &down.phase {
                Phase::Exchange(exchange) => {
                    let up = exchange.up.and_then(|up| self.ups.get(up));
                    (exchange.progress_ms, exchange.sent.len() + up.map_or(0, |up| up.link.out.len()))
                }
                Phase::Head | Phase::Closing { .. } | Phase::Linger { .. } => (down.active_ms, 0),
            };
            if since_ms <= before_ms && held + down.link.out.len() + down.input.len() >= WORTH_BYTES {
                out.push((since_ms, Token { kind: Kind::Down, key }));
            }
        }
    }

    /// Closes idle upstream connections that are too old. Called about once a second.
    pub fn sweep(&mut self, core: &mut Core<O>) {
        self.pool.sweep(&mut self.ups, core.now_ms);
        if !self.retired.is_empty() {
            self.forget_retired(core.now_ms);
        }
        let kept = (self.upstream() - self.idle_upstream()).max(SPARE);
        let surplus = self.spare.len().saturating_sub(kept * 2);
        self.spare.truncate(kept * 2);
        if surplus > 0 {
            self.spare.shrink_to_fit();
        }
        // The memory of a rush goes back to the host, not to the allocator's lists.
        if (self.ups.shrink() | self.downs.shrink()) || surplus >= RUSH {
            release_memory();
        }
    }

    /// Lets go of old tables whose sockets have no connection left.
    fn forget_retired(&mut self, now_ms: u64) {
        let keys = self.downs.keys();
        let used: HashSet<u32> = keys.into_iter().filter_map(|k| self.downs.get(k)).map(|d| d.socket_id).collect();
        self.retired.retain(|id, (_, since_ms)| used.contains(id) || now_ms < *since_ms + RETIRED_MS);
    }

    /// Closes up to `n` idle upstream connections: their descriptors are wanted elsewhere.
    pub fn shed(&mut self, n: usize) {
        self.pool.shed(&mut self.ups, n);
    }

    /// Ends every connection at once: the drain limit has passed.
    pub fn close_all(&mut self, core: &mut Core<O>) {
        for key in self.downs.keys() {
            self.close_down(core, key, CloseReason::Drained, true);
        }
    }
}
