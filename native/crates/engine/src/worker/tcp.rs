//! TCP sessions: a client's socket, an endpoint's socket, a pump in each direction. Upgraded HTTP connections end up
//! here too.
//!
//! ```text
//!   accept ─▶ Connecting ──connected──▶ Open ──FIN one way──▶ half closed ──FIN the other way──▶ closed
//!                │  ▲                    │                        │
//!         failed │  │ next endpoint      └── reset, idle ─────────┴─▶ reset or closed
//!                ▼  │
//!              (rest it)                 no endpoint left ─▶ reset
//! ```

use std::net::SocketAddr;
use std::sync::Arc;

use rustix::io::Errno;
use session::close_reason::CloseReason;
use table::{ActionIdx, BackendChoice, ListenerIdx, Timeouts, counters, layout};

use super::budget::Pressure;
use super::core::{Core, Kind, LoadedTable, Token, limit_at};
use super::link::Link;
use super::log::{Entry, LogTexts, Names};
use super::os::Os;
use super::pump::{Flow, Stop};
use super::relief::{Holder, WORTH_BYTES};
use super::slab::{Key, Slab};
use crate::shared::Endpoint;

/// A turn that moved less than this served a small exchange, not bulk.
const SMALL: u64 = 16 * 1024;
/// Endpoints tried before a client is given up.
const MOST_TRIES: usize = 3;

/// What is needed only until an endpoint has accepted.
struct Connecting {
    table: Arc<LoadedTable>,
    action: ActionIdx,
    /// Endpoint set of the backend that was drawn: a failed connect takes another endpoint, never another backend, whose weight is the
    /// user's word.
    set: Option<u32>,
    tried: Vec<u32>,
    started_us: u64,
}

pub struct Session<O: Os> {
    key: Key,
    pub client: Link<O::Sock>,
    server: Option<Link<O::Sock>>,
    connecting: Option<Box<Connecting>>,
    /// Client to endpoint, endpoint to client.
    up: Flow<O::Pipe>,
    down: Flow<O::Pipe>,
    timeouts: Timeouts,
    active_ms: u64,
    armed: u64,
    /// Counting and logging.
    listener_slot: u32,
    action_slot: Option<u32>,
    endpoint: Option<Endpoint>,
    peer: SocketAddr,
    started_us: u64,
    connect_us: u32,
    bytes_in: u64,
    bytes_out: u64,
    names: Option<Box<Names>>,
    /// Of the request that was upgraded.
    texts: Option<Box<LogTexts>>,
    retries: u8,
    upgraded: bool,
}

/// An HTTP exchange that has switched protocols, with the bytes that were read beyond the heads.
pub struct Upgraded<S> {
    pub client: Link<S>,
    pub server: Link<S>,
    pub timeouts: Timeouts,
    pub listener_slot: u32,
    pub action_slot: u32,
    pub endpoint: Endpoint,
    pub peer: SocketAddr,
    pub started_us: u64,
    /// Behind the heads, from and to the client, counted already.
    pub bytes: (u64, u64),
    pub names: Option<Box<Names>>,
    pub texts: Option<Box<LogTexts>>,
}

pub struct Sessions<O: Os> {
    slab: Slab<Session<O>>,
}

impl<O: Os> Default for Sessions<O> {
    fn default() -> Self {
        Self { slab: Slab::default() }
    }
}

impl<O: Os> Sessions<O> {
    pub fn len(&self) -> usize {
        self.slab.len()
    }

    pub fn keys(&self) -> Vec<Key> {
        self.slab.keys()
    }

    pub fn link(&mut self, token: Token) -> Option<&mut Link<O::Sock>> {
        let session = self.slab.get_mut(token.key)?;
        if token.kind == Kind::Client { Some(&mut session.client) } else { session.server.as_mut() }
    }

    /// Takes an accepted connection over and starts towards an endpoint.
    pub fn accept(
        &mut self,
        core: &mut Core<O>,
        sock: O::Sock,
        peer: SocketAddr,
        table: &Arc<LoadedTable>,
        listener: ListenerIdx,
    ) {
        let l = table.listener(listener);
        core.shared.counters.add(l.slot, counters::listener::ACCEPTED, 1);
        core.shared.gauges.inc(l.slot);
        let action = l.tcp_action;
        let names = table.settings().access_log.then(|| Box::new(Names::new(table, Some(listener), action)));
        let key = self.slab.insert(|key| Session {
            key,
            client: Link::new(sock),
            server: None,
            connecting: action.map(|action| {
                Box::new(Connecting {
                    table: table.clone(),
                    action,
                    set: None,
                    tried: Vec::new(),
                    started_us: core.now_us,
                })
            }),
            up: Flow::default(),
            down: Flow::default(),
            timeouts: l.timeouts,
            active_ms: core.now_ms,
            armed: 0,
            listener_slot: l.slot,
            action_slot: action.map(|a| table.action(a).slot),
            endpoint: None,
            peer,
            started_us: core.now_us,
            connect_us: 0,
            bytes_in: 0,
            bytes_out: 0,
            names,
            texts: None,
            retries: 0,
            upgraded: false,
        });
        let Some(session) = self.slab.get_mut(key) else { return };
        if let Some(slot) = session.action_slot {
            core.shared.gauges.inc(slot);
            core.shared.counters.add(slot, counters::action::REQUESTS, 1);
        }
        let full = core.pressure() == Pressure::Full;
        let started = if full { Err(CloseReason::MemoryPressure) } else { session.connect(core) };
        if let Err(reason) = started {
            self.close(core, key, reason, true);
        }
    }

    /// Takes an upgraded connection over. Both sockets are watched already, under other tokens.
    pub fn adopt(&mut self, core: &mut Core<O>, mut upgraded: Upgraded<O::Sock>) {
        let (now_us, now_ms) = (core.now_us, core.now_ms);
        upgraded.client.queued = false;
        upgraded.server.queued = false;
        let endpoint = upgraded.endpoint;
        let key = self.slab.insert(|key| Session {
            key,
            client: upgraded.client,
            server: Some(upgraded.server),
            connecting: None,
            up: Flow::default(),
            down: Flow::default(),
            timeouts: upgraded.timeouts,
            active_ms: now_ms,
            armed: 0,
            listener_slot: upgraded.listener_slot,
            action_slot: Some(upgraded.action_slot),
            endpoint: Some(endpoint),
            peer: upgraded.peer,
            started_us: upgraded.started_us.min(now_us),
            connect_us: 0,
            bytes_in: upgraded.bytes.0,
            bytes_out: upgraded.bytes.1,
            names: upgraded.names,
            texts: upgraded.texts,
            retries: 0,
            upgraded: true,
        });
        let Some(session) = self.slab.get_mut(key) else { return };
        for slot in [session.listener_slot, upgraded.action_slot, endpoint.slot] {
            core.shared.gauges.inc(slot);
        }
        let watched = session.watch(core);
        session.arm(core);
        match watched {
            Ok(()) => self.drive(core, Token { kind: Kind::Client, key }),
            Err(_) => self.close(core, key, CloseReason::Internal, true),
        }
    }

    /// Adds the sessions that hold many bytes and have not got on since `before_ms`.
    pub fn stalled(&self, before_ms: u64, out: &mut Vec<Holder>) {
        for key in self.slab.keys() {
            let Some(session) = self.slab.get(key) else { continue };
            let held = session.client.out.len() + session.server.as_ref().map_or(0, |server| server.out.len());
            if session.active_ms <= before_ms && held + session.up.held() + session.down.held() >= WORTH_BYTES {
                out.push((session.active_ms, session.token(Kind::Client)));
            }
        }
    }

    /// Goes on with a session after an event or in its turn.
    pub fn drive(&mut self, core: &mut Core<O>, token: Token) {
        let Some(session) = self.slab.get_mut(token.key) else { return };
        match session.advance(core) {
            Ok(()) => {}
            Err((reason, reset)) => self.close(core, token.key, reason, reset),
        }
    }

    /// A timer has come up.
    pub fn expire(&mut self, core: &mut Core<O>, key: Key, due: u64) {
        let Some(session) = self.slab.get_mut(key) else { return };
        if session.armed != due {
            return;
        }
        session.armed = 0;
        let (at, reason) = session.deadline();
        if core.now_ms < at {
            session.arm(core);
        } else if reason == CloseReason::ConnectTimeout {
            if let Err(reason) = session.try_next(core, reason) {
                self.close(core, key, reason, true);
            }
        } else {
            self.close(core, key, reason, true);
        }
    }

    pub fn close(&mut self, core: &mut Core<O>, key: Key, reason: CloseReason, reset: bool) {
        let Some(mut session) = self.slab.remove(key) else { return };
        session.up.release(&mut core.pipes);
        session.down.release(&mut core.pipes);
        if reset {
            core.os.reset_on_close(&session.client.sock);
            if let Some(server) = &session.server {
                core.os.reset_on_close(&server.sock);
            }
        }
        core.reason(reason);
        core.shared.counters.add(session.listener_slot, counters::listener::CLOSED, 1);
        for slot in
            [Some(session.listener_slot), session.action_slot, session.endpoint.map(|e| e.slot)].into_iter().flatten()
        {
            core.shared.gauges.dec(slot);
        }
        if let Some(names) = &session.names {
            let texts = session.texts.take().unwrap_or_default();
            let entry = Entry {
                protocol: if session.upgraded { layout::ACCESS_UPGRADE } else { layout::ACCESS_TCP },
                method: &texts.method,
                host: &texts.host,
                path: &texts.path,
                user_agent: &texts.user_agent,
                status: if session.upgraded { 101 } else { 0 },
                reason,
                retries: session.retries,
                bytes_in: session.bytes_in,
                bytes_out: session.bytes_out,
                started_us: session.started_us,
                upstream_us: u64::from(session.connect_us),
                peer: session.peer,
                endpoint: session.endpoint.map(|e| e.addr),
            };
            super::log::write(core, names, &entry);
        }
    }
}

impl<O: Os> Session<O> {
    fn token(&self, kind: Kind) -> Token {
        Token { kind, key: self.key }
    }

    /// Starts towards the next endpoint that has not been tried.
    fn connect(&mut self, core: &mut Core<O>) -> Result<(), CloseReason> {
        loop {
            let Some(state) = self.connecting.as_mut() else { return Err(CloseReason::NoRoute) };
            let set = match state.set {
                Some(set) => set,
                None => match core.choose_backend(&state.table, state.action) {
                    BackendChoice::Cluster { set } => *state.set.insert(set),
                    BackendChoice::Invalid { .. } | BackendChoice::None => return Err(CloseReason::BackendInvalid),
                },
            };
            let endpoint = core.choose_endpoint(set, &state.tried).ok_or(CloseReason::NoEndpoint)?;
            state.tried.push(endpoint.slot);
            state.started_us = core.now_us;
            match core.os.connect(endpoint.addr) {
                Ok((sock, connected)) => {
                    self.server = Some(Link::connecting(sock, connected));
                    core.shared.gauges.inc(endpoint.slot);
                    self.endpoint = Some(endpoint);
                    self.watch(core).map_err(|_| CloseReason::Internal)?;
                    self.arm(core);
                    return if connected { self.connected(core) } else { Ok(()) };
                }
                Err(error) => {
                    if let Some(reason) = give_up(core, endpoint, error, state.tried.len()) {
                        return Err(reason);
                    }
                }
            }
        }
    }

    fn watch(&mut self, core: &mut Core<O>) -> Result<(), Errno> {
        let tokens = [self.token(Kind::Client), self.token(Kind::Server)];
        for (link, token) in [Some(&mut self.client), self.server.as_mut()].into_iter().zip(tokens) {
            let Some(link) = link else { continue };
            if !link.watched {
                core.os.watch(&link.sock, token.pack())?;
                link.watched = true;
            } else if self.upgraded {
                core.os.watch_as(&link.sock, token.pack())?;
            }
        }
        Ok(())
    }

    fn connected(&mut self, core: &mut Core<O>) -> Result<(), CloseReason> {
        if let (Some(state), Some(endpoint)) = (self.connecting.take(), self.endpoint) {
            self.connect_us = (core.now_us - state.started_us) as u32;
            core.shared.counters.add(endpoint.slot, counters::endpoint::CONNECTS, 1);
            core.shared.counters.add(endpoint.slot, counters::endpoint::REQUESTS, 1);
            core.shared.counters.add(endpoint.slot, counters::endpoint::CONNECT_US, u64::from(self.connect_us));
        }
        self.active_ms = core.now_ms;
        // The limit of a silent session may be shorter than what was left of the connect timeout.
        self.arm(core);
        Ok(())
    }

    /// The connection attempt failed: rest that endpoint and take another.
    fn try_next(&mut self, core: &mut Core<O>, reason: CloseReason) -> Result<(), CloseReason> {
        let Some(endpoint) = self.endpoint.take() else { return Err(reason) };
        self.server = None;
        core.shared.gauges.dec(endpoint.slot);
        core.shared.counters.add(endpoint.slot, counters::endpoint::CONNECT_FAILURES, 1);
        core.rest(endpoint.slot);
        self.retries += 1;
        if let Some(slot) = self.action_slot {
            core.shared.counters.add(slot, counters::action::RETRIES, 1);
        }
        if self.connecting.as_ref().is_none_or(|state| state.tried.len() >= MOST_TRIES) {
            return Err(reason);
        }
        // Every endpoint has been tried: the cause of the last failure says more than "no endpoint".
        self.connect(core).map_err(|next| if next == CloseReason::NoEndpoint { reason } else { next })
    }

    /// Returns when something must have happened, and what it means if it has not.
    fn deadline(&self) -> (u64, CloseReason) {
        if let Some(state) = &self.connecting {
            (limit_at(state.started_us / 1000, self.timeouts.connect_ms), CloseReason::ConnectTimeout)
        } else if self.up.target_ended || self.down.target_ended {
            (limit_at(self.active_ms, self.timeouts.half_closed_ms), CloseReason::HalfClosedTimeout)
        } else {
            (limit_at(self.active_ms, self.timeouts.tunnel_idle_ms), CloseReason::TunnelIdleTimeout)
        }
    }

    fn arm(&mut self, core: &mut Core<O>) {
        let token = self.token(Kind::Client);
        core.arm(token, self.deadline().0, &mut self.armed);
    }

    fn advance(&mut self, core: &mut Core<O>) -> Result<(), (CloseReason, bool)> {
        if self.connecting.is_some() {
            let Some(server) = self.server.as_mut().filter(|s| s.ready.writable || s.ready.hangup) else {
                return Ok(());
            };
            match core.os.take_error(&server.sock) {
                Ok(()) => self.connected(core).map_err(|r| (r, true))?,
                Err(error) => return self.try_next(core, connect_reason(error)).map_err(|r| (r, true)),
            }
        }
        let Some(server) = self.server.as_mut() else { return Ok(()) };
        let mut again = false;
        let mut moved = 0;

        let (budget, most) = (core.splice_budget(), core.high_water());
        let sent = self.up.pump(
            &mut core.os,
            &mut core.pipes,
            &mut core.rx[..most],
            (&mut self.client, server),
            u64::MAX,
            budget,
        );
        self.bytes_in += sent.taken;
        core.shared.counters.add(self.listener_slot, counters::listener::BYTES_IN, sent.taken);
        let answered = self.down.pump(
            &mut core.os,
            &mut core.pipes,
            &mut core.rx[..most],
            (server, &mut self.client),
            u64::MAX,
            budget,
        );
        self.bytes_out += answered.taken;
        core.shared.counters.add(self.listener_slot, counters::listener::BYTES_OUT, answered.taken);
        moved += sent.taken + answered.taken;
        core.small += u32::from(moved > 0 && moved < SMALL);
        if moved > 0 {
            self.active_ms = core.now_ms;
            for (slot, inward, outward) in [
                (self.action_slot, counters::action::BYTES_IN, counters::action::BYTES_OUT),
                (self.endpoint.map(|e| e.slot), counters::endpoint::BYTES_OUT, counters::endpoint::BYTES_IN),
            ] {
                if let Some(slot) = slot {
                    core.shared.counters.add(slot, inward, sent.taken);
                    core.shared.counters.add(slot, outward, answered.taken);
                }
            }
        }

        match sent.stop {
            Stop::Budget => again = true,
            Stop::Ended if !self.up.target_ended => {
                core.os.shutdown_write(&server.sock);
                self.up.target_ended = true;
                self.armed = 0;
            }
            Stop::SourceFailed(_) => return Err((CloseReason::ClientReset, true)),
            // The endpoint takes nothing more, but what it sent before must still reach the client.
            Stop::TargetFailed(_) if answered.stop == Stop::Budget => again = true,
            Stop::TargetFailed(_) => return Err((CloseReason::UpstreamReset, true)),
            Stop::Ended | Stop::Blocked | Stop::Limit => {}
        }
        match answered.stop {
            Stop::Budget => again = true,
            Stop::Ended if !self.down.target_ended => {
                core.os.shutdown_write(&self.client.sock);
                self.down.target_ended = true;
                self.armed = 0;
            }
            Stop::SourceFailed(_) => return Err((CloseReason::UpstreamReset, true)),
            Stop::TargetFailed(_) => return Err((CloseReason::ClientReset, true)),
            Stop::Ended | Stop::Blocked | Stop::Limit => {}
        }
        // A client that has reset is gone, though its bytes may be stuck on their way to the endpoint. (An endpoint's last bytes, on the
        // contrary, may still reach a slow client.) Without an error it is the hangup of two FINs.
        if self.client.ready.broken && core.os.take_error(&self.client.sock).is_err() {
            return Err((CloseReason::ClientReset, true));
        }
        if self.up.target_ended && self.down.target_ended {
            return Err((if self.upgraded { CloseReason::UpgradeDone } else { CloseReason::TcpDone }, false));
        }
        if again && !self.client.queued {
            self.client.queued = true;
            core.queue.push_back(self.token(Kind::Client));
        }
        if self.armed == 0 {
            self.arm(core);
        }
        Ok(())
    }
}

/// Counts a failed connect and rests the endpoint. `Some`: no further endpoint is tried.
fn give_up<O: Os>(core: &Core<O>, endpoint: Endpoint, error: Errno, tries: usize) -> Option<CloseReason> {
    core.shared.counters.add(endpoint.slot, counters::endpoint::CONNECT_FAILURES, 1);
    core.rest(endpoint.slot);
    (tries >= MOST_TRIES).then(|| connect_reason(error))
}

pub fn connect_reason(error: Errno) -> CloseReason {
    match error {
        Errno::CONNREFUSED => CloseReason::ConnectRefused,
        Errno::TIMEDOUT => CloseReason::ConnectTimeout,
        Errno::MFILE | Errno::NFILE => CloseReason::DescriptorsExhausted,
        _ => CloseReason::ConnectFailed,
    }
}
