//! What every connection of a worker shares: clock, queue, timers, table, shared memory, scratch buffers.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use session::close_reason::CloseReason;
use session::pump::Budget;
use table::{ActionIdx, BackendChoice, Settings, Table};

use super::budget::{ByteBudget, Pressure};
use super::os::Os;
use super::pipes::Pipes;
use super::slab::Key;
use super::wheel::Wheel;
use crate::shared::{Endpoint, Shared};
use crate::sys::memory::SealedMemory;

pub type LoadedTable = Table<SealedMemory>;

/// What a token, a queue place or a timer entry names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    Listener = 1,
    /// The client's side of an HTTP connection.
    Down = 2,
    /// The endpoint's side of an HTTP connection.
    Up = 3,
    /// The client's side of a TCP session or upgraded connection.
    Client = 4,
    /// Its other side.
    Server = 5,
    /// The channel to the primary.
    Channel = 6,
    /// A table is ready.
    Loader = 7,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    pub key: Key,
}

impl Token {
    /// kind (8 bits), generation (24), index (32).
    pub fn pack(self) -> u64 {
        (self.kind as u64) << 56 | u64::from(self.key.generation) << 32 | u64::from(self.key.index)
    }

    pub fn unpack(packed: u64) -> Option<Self> {
        let kind = match (packed >> 56) as u8 {
            1 => Kind::Listener,
            2 => Kind::Down,
            3 => Kind::Up,
            4 => Kind::Client,
            5 => Kind::Server,
            6 => Kind::Channel,
            7 => Kind::Loader,
            _ => return None,
        };
        Some(Self { kind, key: Key { generation: (packed >> 32) as u32 & 0x00ff_ffff, index: packed as u32 } })
    }
}

/// One receive buffer for the whole loop.
pub const RECEIVE_BYTES: usize = 256 * 1024;
/// How long an endpoint that refused a connection is left out.
const REST_MS: u64 = 3_000;
/// Draws from the sequence before the search goes through the endpoints in order.
const DRAWS: u32 = 32;

pub struct Core<O: Os> {
    pub os: O,
    pub shared: Shared,
    pub table: Option<Arc<LoadedTable>>,
    /// Replaced tables that requests may still hold.
    old_tables: Vec<Weak<LoadedTable>>,
    pub now_us: u64,
    pub now_ms: u64,
    pub queue: VecDeque<Token>,
    pub wheel: Wheel<Token>,
    pub pipes: Pipes<O::Pipe>,
    pub budget: ByteBudget,
    pub rx: Box<[u8]>,
    /// A second one: request bodies are read while an answer's bytes are still being looked at.
    pub body: Box<[u8]>,
    pub tx: Vec<u8>,
    /// Small exchanges served in this turn; none in the turn before: bulk may have more at a time.
    pub small: u32,
    calm: bool,
    /// Usable processors: the number of workers where the configuration names none.
    pub cores: u32,
    /// The primary asked this worker to finish: no keep-alive beyond the next answer.
    pub draining: bool,
}

/// When a limit that began to run at `from_ms` is over; 0 switches a limit off.
pub fn limit_at(from_ms: u64, limit_ms: u32) -> u64 {
    if limit_ms == 0 { u64::MAX } else { from_ms + u64::from(limit_ms) }
}

impl<O: Os> Core<O> {
    /// `memory`: bytes of the host or its cgroup, of which all workers together take a quarter.
    pub fn new(mut os: O, shared: Shared, most_pipes: usize, memory: usize, cores: u32) -> Self {
        let budget = ByteBudget::new(memory, cores as usize);
        let now_us = os.now_us();
        Self {
            os,
            shared,
            table: None,
            old_tables: Vec::new(),
            now_us,
            now_ms: now_us / 1000,
            queue: VecDeque::new(),
            wheel: Wheel::new(now_us / 1000),
            pipes: Pipes::new(most_pipes.min(budget.most_pipes())),
            budget,
            rx: vec![0; RECEIVE_BYTES].into_boxed_slice(),
            body: vec![0; RECEIVE_BYTES].into_boxed_slice(),
            tx: Vec::with_capacity(64 * 1024),
            small: 0,
            calm: false,
            cores,
            draining: false,
        }
    }

    pub fn read_clock(&mut self) {
        self.now_us = self.os.now_us();
        self.now_ms = self.now_us / 1000;
        self.pipes.set_now(self.now_ms);
    }

    /// Takes a newer table; returns the one it replaces, which lives on while a request holds it.
    pub fn replace_table(&mut self, table: Arc<LoadedTable>) -> Option<Arc<LoadedTable>> {
        self.budget.divide(self.workers(table.settings()));
        let old = self.table.replace(table)?;
        self.old_tables.push(Arc::downgrade(&old));
        Some(old)
    }

    /// Workers of this host: as many as processors where the configuration names no number.
    pub fn workers(&self, settings: Settings) -> usize {
        (if settings.workers > 0 { settings.workers } else { self.cores }) as usize
    }

    /// How much of the worker's byte budget is used up.
    pub fn pressure(&self) -> Pressure {
        self.budget.pressure(&self.pipes)
    }

    /// Unsent bytes of one direction above which its sender is not read; also the most that is read at once.
    pub fn high_water(&self) -> usize {
        self.budget.high_water(&self.pipes)
    }

    /// The oldest generation that a request of this worker still holds; the present one when none does.
    pub fn oldest_generation(&mut self) -> u64 {
        self.old_tables.retain(|table| table.strong_count() > 0);
        let held = self.old_tables.iter().filter_map(Weak::upgrade).map(|table| table.generation());
        held.chain(self.table.as_ref().map(|table| table.generation())).min().unwrap_or(0)
    }

    /// A turn begins.
    pub fn begin_turn(&mut self) {
        self.calm = self.small == 0;
        self.small = 0;
    }

    /// What a splicing pump may use up in this turn: little while small exchanges wait for theirs.
    pub fn splice_budget(&self) -> Budget {
        if self.calm { Budget::splicing() } else { Budget::default() }
    }

    /// Makes sure that a timer comes up no later than `at_ms`; `armed` is the owner's note of the entry it has.
    pub fn arm(&mut self, token: Token, at_ms: u64, armed: &mut u64) {
        if *armed == 0 || at_ms < *armed {
            *armed = self.wheel.add(at_ms, token);
        }
    }

    pub fn reason(&mut self, reason: CloseReason) {
        self.shared.counters.reason(reason as usize);
    }

    /// Draws the next backend of an action: one global position for all workers.
    pub fn choose_backend(&self, table: &LoadedTable, action: ActionIdx) -> BackendChoice {
        table.choose_backend(action, self.shared.cursors.next(table.action(action).slot))
    }

    /// Draws the next endpoint of a set, leaving out `tried` ones and, while there are others, resting ones.
    pub fn choose_endpoint(&self, set: u32, tried: &[u32]) -> Option<Endpoint> {
        let set = self.shared.endpoints.set(set)?;
        let usable =
            |e: &Endpoint| !tried.contains(&e.slot) && self.shared.cursors.resting_until(e.slot) <= self.now_ms;
        for _ in 0..DRAWS.min(set.sequence_len()) {
            let endpoint = set.pick(self.shared.cursors.next(set.slot()))?;
            if usable(&endpoint) {
                return Some(endpoint);
            }
        }
        // All drawn ones were out: go through the usable ones in order, first those that do not rest.
        let all = || (0..set.sequence_len()).filter_map(|ticket| set.pick(ticket));
        all().find(usable).or_else(|| all().find(|e| !tried.contains(&e.slot)))
    }

    /// Leaves an endpoint out for a while, on every worker.
    pub fn rest(&self, endpoint_slot: u32) {
        self.shared.cursors.rest(endpoint_slot, self.now_ms + REST_MS);
        self.shared.counters.engine(table::counters::engine::ENDPOINT_RESTS, 1);
    }
}
