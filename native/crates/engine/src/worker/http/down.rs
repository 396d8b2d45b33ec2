//! The client's side of an HTTP connection: reads heads and request bodies.

use std::net::SocketAddr;

use proto::h1::{
    BodyLength, Chunked, ForwardOptions, HeadScan, Limits, Parsed, RequestHead, parse_request_from, write_request_head,
};
use rustix::io::Errno;
use session::CloseReason;
use session::route::{HeaderLookup, RequestKey, Routed, route};
use table::{Timeouts, counters};

use super::super::bytes::Bytes;
use super::super::core::{Core, Kind, LoadedTable, Token, limit_at};
use super::super::link::Link;
use super::super::log::{LogTexts, Names};
use super::super::os::Os;
use super::super::slab::Key;
use super::super::tcp::Sessions;
use super::exchange::{Body, Exchange};
use super::{DRAIN_GRACE_MS, Http};

/// Reads of one request body in one turn.
pub(super) const BODY_READS: usize = 16;

pub enum Phase<O: Os> {
    /// Between requests, or within a head.
    Head,
    Exchange(Box<Exchange<O>>),
    /// Our last answer is being sent; whether the client's input must be read away before the close.
    Closing {
        linger: bool,
    },
    /// Our FIN is out.
    Linger {
        until_ms: u64,
        last_ms: u64,
    },
}

pub struct Down<O: Os> {
    pub key: Key,
    pub link: Link<O::Sock>,
    pub peer: SocketAddr,
    pub socket_id: u32,
    /// Received and not yet used.
    pub input: Bytes,
    pub scan: HeadScan,
    pub phase: Phase<O>,
    pub requests: u32,
    pub listener_slot: Option<u32>,
    pub timeouts: Timeouts,
    /// Last progress.
    pub active_ms: u64,
    /// Reason of the close that is under way.
    pub closing: CloseReason,
    pub armed: u64,
}

/// Limits of a connection whose listener is not known yet.
const FIRST_TIMEOUTS: Timeouts = Timeouts {
    idle_ms: 60_000,
    header_ms: 10_000,
    connect_ms: 5_000,
    stream_idle_ms: 60_000,
    tunnel_idle_ms: 3_600_000,
    half_closed_ms: 60_000,
};

struct Lookup<'a> {
    head: &'a RequestHead,
    bytes: &'a [u8],
}

impl HeaderLookup for Lookup<'_> {
    fn find(&self, lower_name: &[u8]) -> Option<&[u8]> {
        self.head.find(self.bytes, lower_name)
    }
}

impl<O: Os> Down<O> {
    pub fn new(key: Key, sock: O::Sock, peer: SocketAddr, socket_id: u32, core: &Core<O>) -> Self {
        Self {
            key,
            link: Link::new(sock),
            peer,
            socket_id,
            input: Bytes::default(),
            scan: HeadScan::new(),
            phase: Phase::Head,
            requests: 0,
            listener_slot: None,
            timeouts: core.table.as_ref().and_then(|t| first_timeouts(t, socket_id)).unwrap_or(FIRST_TIMEOUTS),
            active_ms: core.now_ms,
            closing: CloseReason::ClientClosed,
            armed: 0,
        }
    }

    pub fn token(&self) -> Token {
        Token { kind: Kind::Down, key: self.key }
    }

    pub fn watch(&mut self, core: &mut Core<O>) -> Result<(), Errno> {
        if !self.link.watched {
            core.os.watch(&self.link.sock, self.token().pack())?;
            self.link.watched = true;
        }
        Ok(())
    }

    pub fn queue(&mut self, core: &mut Core<O>) {
        if !self.link.queued {
            self.link.queued = true;
            core.queue.push_back(self.token());
        }
    }

    /// Returns when something must have happened, and what it means if it has not.
    pub fn deadline(&self, draining: bool) -> (u64, CloseReason) {
        let t = &self.timeouts;
        match &self.phase {
            // Between two requests, or before the first byte of the first one.
            Phase::Head if draining && self.input.is_empty() => {
                let limit = if self.requests == 0 { t.header_ms } else { t.idle_ms };
                (limit_at(self.active_ms, limit).min(self.active_ms + DRAIN_GRACE_MS), CloseReason::Drained)
            }
            Phase::Head if !self.input.is_empty() || self.requests == 0 => {
                (limit_at(self.active_ms, t.header_ms), CloseReason::HeaderTimeout)
            }
            Phase::Head => (limit_at(self.active_ms, t.idle_ms), CloseReason::IdleTimeout),
            Phase::Exchange(exchange) => exchange.deadline(t),
            Phase::Closing { .. } => (limit_at(self.active_ms, t.stream_idle_ms), CloseReason::ClientStalled),
            Phase::Linger { until_ms, .. } => (*until_ms, self.closing),
        }
    }

    pub fn arm(&mut self, core: &mut Core<O>) {
        let (at, _) = self.deadline(core.draining);
        let token = self.token();
        core.arm(token, at, &mut self.armed);
    }

    /// Counts the connection with the listener that its latest request belongs to.
    pub fn belong_to(&mut self, core: &mut Core<O>, listener_slot: u32) {
        if self.listener_slot == Some(listener_slot) {
            return;
        }
        if let Some(old) = self.listener_slot.replace(listener_slot) {
            core.shared.gauges.dec(old);
            core.shared.counters.add(old, counters::listener::CLOSED, 1);
        }
        core.shared.gauges.inc(listener_slot);
        core.shared.counters.add(listener_slot, counters::listener::ACCEPTED, 1);
    }

    pub fn exchange(&mut self) -> Option<&mut Exchange<O>> {
        match &mut self.phase {
            Phase::Exchange(exchange) => Some(exchange),
            Phase::Head | Phase::Closing { .. } | Phase::Linger { .. } => None,
        }
    }
}

/// The limits of a socket's first listener: what counts until a request says which one it is.
fn first_timeouts(table: &LoadedTable, socket_id: u32) -> Option<Timeouts> {
    Some(table.listener(table.socket(socket_id)?.first_listener?).timeouts)
}

/// What a look at a head led to.
enum Step {
    /// More bytes are needed.
    Wait,
    /// The phase has changed: go on.
    Go,
    Close(CloseReason, bool),
}

impl<O: Os> Http<O> {
    pub(super) fn drive_down(&mut self, core: &mut Core<O>, sessions: &mut Sessions<O>, key: Key) {
        // Requests that arrived together are served one a turn: pipelining clients do not crowd out others.
        let Some(down) = self.downs.get_mut(key) else { return };
        let waiting = down.link.out.len();
        if down.link.flush(&mut core.os).is_err() {
            return self.close_down(core, key, CloseReason::ClientReset, true);
        }
        let taken = down.link.out.len() < waiting;
        if let Some(exchange) = down.exchange().filter(|_| taken) {
            exchange.progress_ms = core.now_ms;
        }
        match &down.phase {
            // Whoever sends requests without reading answers is not read either.
            Phase::Head if down.link.out.len() >= core.high_water() => self.mind(core, key),
            Phase::Head => match self.read_head(core, key) {
                Step::Wait => self.wait(core, key),
                Step::Go => {
                    if let Some(down) = self.downs.get_mut(key)
                        && down.exchange().is_some()
                    {
                        self.start(core, key);
                        self.mind(core, key);
                    } else {
                        self.finish_closing(core, key);
                    }
                }
                Step::Close(reason, reset) => self.close_down(core, key, reason, reset),
            },
            Phase::Exchange(exchange) => {
                let up = exchange.up;
                if down.link.ready.broken {
                    return self.close_down(core, key, CloseReason::ClientReset, true);
                }
                self.forward_body(core, key);
                if let Some(up) = up {
                    // The client takes bytes again, or the request may just have been completed.
                    self.drive_up(core, sessions, up);
                }
                self.mind(core, key);
            }
            Phase::Closing { .. } => self.finish_closing(core, key),
            Phase::Linger { .. } => self.linger(core, key),
        }
    }

    /// Arms the timer of a connection that goes on, and lets epoll know it as soon as it waits for its client.
    pub(super) fn mind(&mut self, core: &mut Core<O>, key: Key) {
        let Some(down) = self.downs.get_mut(key) else { return };
        let reading = !down.exchange().is_some_and(|e| e.body.is_done());
        let waits = !down.link.ready.writable || (reading && !down.link.ready.readable);
        if waits && down.watch(core).is_err() {
            return self.close_down(core, key, CloseReason::Internal, true);
        }
        down.arm(core);
    }

    /// Nothing to read: epoll has to know the connection from now on.
    pub(super) fn wait(&mut self, core: &mut Core<O>, key: Key) {
        let Some(down) = self.downs.get_mut(key) else { return };
        if down.watch(core).is_err() {
            return self.close_down(core, key, CloseReason::Internal, true);
        }
        down.arm(core);
    }

    fn read_head(&mut self, core: &mut Core<O>, key: Key) -> Step {
        // What is left of the last read may hold a whole request: look at it before more is read.
        let mut looked = false;
        loop {
            let Some(down) = self.downs.get_mut(key) else { return Step::Wait };
            let mut received = 0;
            if down.input.is_empty() || looked {
                if !down.link.ready.readable {
                    return Step::Wait;
                }
                let most = core.high_water();
                match down.link.recv(&mut core.os, &mut core.rx[..most]) {
                    Ok(0) if down.input.is_empty() => return Step::Close(CloseReason::ClientClosed, false),
                    Ok(0) => return Step::Close(CloseReason::ClientAborted, false),
                    Ok(n) => received = n,
                    Err(Errno::AGAIN) => return Step::Wait,
                    Err(_) => return Step::Close(CloseReason::ClientReset, true),
                }
                if down.input.is_empty() {
                    down.active_ms = core.now_ms;
                }
            }
            looked = true;
            let step = self.parse_head(core, key, received);
            if !matches!(step, Step::Wait) {
                return step;
            }
        }
    }

    /// Looks at what has been received; `received` bytes of it are still in the loop's buffer.
    fn parse_head(&mut self, core: &mut Core<O>, key: Key, received: usize) -> Step {
        let Some(down) = self.downs.get_mut(key) else { return Step::Wait };
        let rx = std::mem::take(&mut core.rx);
        let stored = !down.input.is_empty();
        if stored && received > 0 {
            down.input.push(&rx[..received]);
        }
        let held = if stored { down.input.take() } else { Vec::new() };
        let bytes: &[u8] = if stored { &held } else { &rx[..received] };
        let table = core.table.clone();
        let settings = table.as_ref().map(|t| t.settings());
        let limits = settings.map_or(Limits::default(), |s| Limits {
            max_head_bytes: s.max_head_bytes as usize,
            max_headers: s.max_headers as usize,
        });
        let parsed = parse_request_from(bytes, &limits, &mut down.scan, &mut self.request);
        let (step, used) = match parsed {
            Ok(Parsed::Incomplete) => (Step::Wait, 0),
            Ok(Parsed::Complete) => {
                down.scan = HeadScan::new();
                (Step::Go, self.take_request(core, key, bytes))
            }
            Err(error) => {
                let reason = CloseReason::of_request_fault(error);
                self.refuse(core, key, error.status(), &error.to_string(), reason, bytes);
                (Step::Go, bytes.len())
            }
        };
        if let Some(down) = self.downs.get_mut(key) {
            // A head that comes byte by byte is not copied each time.
            if stored { down.input.put_back(held, used) } else { down.input.push(&rx[used..received]) }
        }
        core.rx = rx;
        step
    }

    /// Turns a complete head, and what of its body came along, into an exchange. Returns the bytes used.
    fn take_request(&mut self, core: &mut Core<O>, key: Key, bytes: &[u8]) -> usize {
        let Some(socket_id) = self.downs.get(key).map(|d| d.socket_id) else { return bytes.len() };
        let (table, present) = self.table_of(core, socket_id);
        let Some(down) = self.downs.get_mut(key) else { return bytes.len() };
        let head = &self.request;
        let mut exchange = self.spare.pop().unwrap_or_default();
        core.small += 1;
        exchange.started_us = core.now_us;
        exchange.progress_ms = core.now_ms;
        exchange.client_minor = head.minor_version();
        exchange.method = head.method_kind;
        exchange.upgrade = head.upgrade.is_some();
        exchange.close = !head.keep_alive || core.draining;
        exchange.body = match head.body {
            BodyLength::None | BodyLength::Length(0) => Body::Done,
            BodyLength::Length(n) => Body::Length(n),
            BodyLength::Chunked => Body::Chunked(Chunked::new()),
        };
        down.requests = down.requests.saturating_add(1);
        down.active_ms = core.now_ms;

        exchange.close |= !present;
        let mut trusted = false;
        let mut via = false;
        if let Some(table) = &table {
            let lookup = Lookup { head, bytes };
            let request = RequestKey {
                method: head.method(bytes),
                host: head.host_name(bytes),
                path: head.path(bytes),
                headers: &lookup,
            };
            match route(table, socket_id, &request) {
                Routed::NoListener => {}
                Routed::NoRoute(listener) => exchange.listener = Some(listener),
                Routed::Action(listener, action) => {
                    exchange.listener = Some(listener);
                    exchange.action = Some(action);
                    exchange.action_slot = table.action(action).slot;
                }
            }
            via = table.settings().via;
            if let Some(listener) = exchange.listener {
                let l = table.listener(listener);
                down.timeouts = l.timeouts;
                trusted = l.trusted.count > 0 && table.is_trusted(listener, down.peer.ip());
                down.belong_to(core, l.slot);
                core.shared.counters.add(l.slot, counters::listener::REQUESTS, 1);
            }
            if table.settings().access_log {
                exchange.names = Some(Box::new(Names::new(table, exchange.listener, exchange.action)));
                exchange.texts = Some(Box::new(LogTexts {
                    method: head.method(bytes).to_vec(),
                    host: head.host(bytes).to_vec(),
                    path: head.path(bytes).to_vec(),
                    user_agent: head.find(bytes, b"user-agent").unwrap_or(b"").to_vec(),
                }));
            }
        }
        exchange.table = table;
        if exchange.action.is_some() {
            core.shared.gauges.inc(exchange.action_slot);
            core.shared.counters.add(exchange.action_slot, counters::action::REQUESTS, 1);
            // A 1.0 request may name no host; many endpoints refuse a 1.1 request whose Host is empty.
            let fallback = match head.host(bytes) {
                b"" => core.os.local(&down.link.sock).map_or_else(String::new, |local| local.to_string()),
                _ => String::new(),
            };
            let options = ForwardOptions {
                peer: down.peer.ip(),
                trusted,
                scheme: "http",
                via,
                keep_alive_upstream: true,
                fallback_host: fallback.as_bytes(),
            };
            write_request_head(&mut exchange.sent, bytes, head, &options);
        }
        let start = head.len();
        exchange.head_bytes.0 = start as u32;
        let piece = match advance(&mut exchange.body, &bytes[start..]) {
            Ok(n) => n,
            Err(detail) => {
                down.phase = Phase::Exchange(exchange);
                self.answer_and_close(core, key, 400, detail, CloseReason::BadRequestBody);
                return bytes.len();
            }
        };
        exchange.bytes_in += piece as u64;
        exchange.sent.extend_from_slice(&bytes[start..start + piece]);
        exchange.tally();
        down.phase = Phase::Exchange(exchange);
        start + piece
    }

    /// Moves request body bytes from the client to the endpoint.
    pub(super) fn forward_body(&mut self, core: &mut Core<O>, key: Key) {
        for _ in 0..BODY_READS {
            let Some(down) = self.downs.get_mut(key) else { return };
            let Phase::Exchange(exchange) = &mut down.phase else { return };
            if exchange.body.is_done() {
                return;
            }
            let Some(up) = exchange.up.and_then(|k| self.ups.get_mut(k)) else { return };
            if up.connecting || up.link.out.len() >= core.high_water() || up.deaf {
                return;
            }
            let from_input = !down.input.is_empty();
            let received = if from_input {
                0
            } else if !down.link.ready.readable {
                return;
            } else {
                let most = core.high_water();
                match down.link.recv(&mut core.os, &mut core.body[..most]) {
                    Ok(0) => return self.close_down(core, key, CloseReason::ClientAborted, true),
                    Ok(n) => n,
                    Err(Errno::AGAIN) => return,
                    Err(_) => return self.close_down(core, key, CloseReason::ClientReset, true),
                }
            };
            let held = if from_input { down.input.take() } else { Vec::new() };
            let bytes: &[u8] = if from_input { &held } else { &core.body[..received] };
            let used = match advance(&mut exchange.body, bytes) {
                Ok(used) => used,
                Err(detail) => {
                    if exchange.answering {
                        return self.close_down(core, key, CloseReason::BadRequestBody, true);
                    }
                    return self.answer_and_close(core, key, 400, detail, CloseReason::BadRequestBody);
                }
            };
            exchange.bytes_in += used as u64;
            exchange.progress_ms = core.now_ms;
            exchange.remember(&bytes[..used]);
            exchange.any_sent = true;
            core.shared.counters.add(up.endpoint.slot, counters::endpoint::BYTES_OUT, used as u64);
            if up.link.send(&mut core.os, &bytes[..used]).is_err() {
                // The endpoint no longer listens; its answer may still be on the way.
                up.deaf = true;
                up.link.out.clear();
                up.link.ready.readable = true;
            }
            if from_input {
                down.input.put_back(held, used);
            } else {
                down.input.push(&core.body[used..received]);
            }
        }
        if let Some(down) = self.downs.get_mut(key)
            && down.link.ready.readable
        {
            down.queue(core);
        }
    }
}

/// Walks a request body over `bytes`: how many belong to it. `Err`: why the framing is refused.
fn advance(body: &mut Body, bytes: &[u8]) -> Result<usize, &'static str> {
    match body {
        Body::Done => Ok(0),
        Body::UntilClose => Ok(bytes.len()),
        Body::Length(left) => {
            let n = (*left).min(bytes.len() as u64);
            *left -= n;
            if *left == 0 {
                *body = Body::Done;
            }
            Ok(n as usize)
        }
        Body::Chunked(chunked) => match chunked.scan(bytes) {
            Ok(scan) => {
                if scan.done {
                    *body = Body::Done;
                }
                Ok(scan.consumed)
            }
            Err(_) => Err("chunked request body is malformed"),
        },
    }
}
