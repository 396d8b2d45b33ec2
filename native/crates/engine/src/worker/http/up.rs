//! The endpoint's side of an HTTP connection: reads answers and passes them on.

use proto::h1::{
    Chunked, HeadScan, LAST_CHUNK, Limits, Parsed, ResponseBody, ResponseOptions, parse_response_from,
    write_response_head,
};
use rustix::io::Errno;
use session::CloseReason;
use session::retry::Verdict;
use table::counters;

use super::super::bytes::Bytes;
use super::super::core::{Core, Kind, Token};
use super::super::link::Link;
use super::super::os::Os;
use super::super::slab::Key;
use super::super::tcp::{Sessions, connect_reason};
use super::Http;
use super::exchange::{Body, Coding};
use crate::shared::Endpoint;

/// Reads of one answer in one turn.
const READS: usize = 16;
/// First read of an answer: a whole small one, and not much to copy of a large one.
const HEAD_READ: usize = 16 * 1024;
/// The same where the last answer was large: what is not copied with the head is spliced (1 MB downloads: 9 % less CPU).
const BULK_HEAD_READ: usize = 4 * 1024;
/// Limits of an endpoint's heads: it is ours, yet not trusted without bounds.
const RESPONSE_LIMITS: Limits = Limits { max_head_bytes: 256 * 1024, max_headers: 512 };

pub struct Up<O: Os> {
    key: Key,
    pub link: Link<O::Sock>,
    pub endpoint: Endpoint,
    /// The client's connection whose exchange it carries; `None`: idle.
    pub down: Option<Key>,
    pub connecting: bool,
    started_us: u64,
    /// Received and not yet used: a partial head.
    input: Bytes,
    scan: HeadScan,
    /// A byte of the present answer has come.
    pub answered: bool,
    /// The endpoint takes no more bytes, but may still have an answer for us.
    pub deaf: bool,
    pub idle_since_ms: u64,
    /// The last answer was large.
    pub bulk: bool,
}

impl<O: Os> Up<O> {
    pub fn new(key: Key, link: Link<O::Sock>, endpoint: Endpoint, connecting: bool, now_us: u64) -> Self {
        Self {
            key,
            link,
            endpoint,
            down: None,
            connecting,
            started_us: now_us,
            input: Bytes::default(),
            scan: HeadScan::new(),
            answered: false,
            deaf: false,
            idle_since_ms: 0,
            bulk: false,
        }
    }

    pub fn queue(&mut self, core: &mut Core<O>) {
        if !self.link.queued {
            self.link.queued = true;
            core.queue.push_back(Token { kind: Kind::Up, key: self.key });
        }
    }
}

impl<O: Os> Http<O> {
    pub(super) fn drive_up(&mut self, core: &mut Core<O>, sessions: &mut Sessions<O>, key: Key) {
        let down = self.ups.get(key).and_then(|up| up.down);
        self.go_on(core, sessions, key);
        if let Some(down) = down {
            self.mind(core, down);
        }
    }

    fn go_on(&mut self, core: &mut Core<O>, sessions: &mut Sessions<O>, key: Key) {
        let Some(up) = self.ups.get_mut(key) else { return };
        let Some(down_key) = up.down else {
            // An idle connection only ever ends: bytes without a request are as bad as a FIN.
            if up.link.ready.readable || up.link.ready.hangup {
                let slot = up.endpoint.slot;
                self.pool.remove(slot, key);
                self.ups.remove(key);
            }
            return;
        };
        if up.connecting {
            if !up.link.ready.writable && !up.link.ready.hangup {
                return;
            }
            if let Err(error) = core.os.take_error(&up.link.sock) {
                return self.connect_ended(core, key, connect_reason(error));
            }
            up.connecting = false;
            let us = core.now_us - up.started_us;
            core.shared.counters.add(up.endpoint.slot, counters::endpoint::CONNECTS, 1);
            core.shared.counters.add(up.endpoint.slot, counters::endpoint::CONNECT_US, us);
            self.send_request(core, down_key, key);
        } else {
            let had = up.link.out.len();
            if up.link.flush(&mut core.os).is_err() {
                up.deaf = true;
                up.link.out.clear();
                up.link.ready.readable = true;
            } else if had > 0 && up.link.out.len() < core.high_water() {
                self.forward_body(core, down_key);
            }
        }
        self.read_answer(core, sessions, key);
    }

    /// The connection attempt of an exchange ended without a connection.
    pub(super) fn connect_ended(&mut self, core: &mut Core<O>, key: Key, reason: CloseReason) {
        let Some(up) = self.ups.remove(key) else { return };
        let Some(down) = up.down else { return };
        if let Some(exchange) = self.downs.get_mut(down).and_then(|d| d.exchange()) {
            exchange.up = None;
        }
        self.connect_failed(core, down, up.endpoint, reason);
        self.try_endpoint(core, down);
    }

    fn read_answer(&mut self, core: &mut Core<O>, sessions: &mut Sessions<O>, key: Key) {
        for _ in 0..READS {
            let Some(up) = self.ups.get_mut(key) else { return };
            let Some(down_key) = up.down else { return };
            let Some(down) = self.downs.get_mut(down_key) else { return };
            if down.link.flush(&mut core.os).is_err() {
                return self.close_down(core, down_key, CloseReason::ClientReset, true);
            }
            let Some(exchange) = down.exchange() else { return };
            let answering = exchange.answering;
            if answering && exchange.answer.is_done() {
                return self.finish(core, down_key);
            }
            if answering && exchange.coding == Coding::Same && matches!(exchange.answer, Body::Length(_)) {
                return self.pump_answer(core, down_key, key);
            }
            if !up.link.ready.readable {
                return;
            }
            if down.link.out.len() >= core.high_water() {
                return;
            }
            let most = match (answering, up.bulk) {
                (true, _) => core.high_water(),
                (false, true) => BULK_HEAD_READ,
                (false, false) => HEAD_READ,
            };
            let received = match up.link.recv(&mut core.os, &mut core.rx[..most]) {
                Ok(n) => n,
                Err(Errno::AGAIN) => return,
                Err(_) => return self.up_ended(core, key, true),
            };
            if received == 0 {
                return self.up_ended(core, key, false);
            }
            up.answered = true;
            if !self.take_bytes(core, sessions, key, down_key, received) {
                return;
            }
        }
        if let Some(up) = self.ups.get_mut(key)
            && up.link.ready.readable
        {
            up.queue(core);
        }
    }

    /// Uses received bytes of an answer. `false`: the exchange has ended or changed hands.
    fn take_bytes(
        &mut self,
        core: &mut Core<O>,
        sessions: &mut Sessions<O>,
        key: Key,
        down_key: Key,
        received: usize,
    ) -> bool {
        let (Some(up), Some(down)) = (self.ups.get_mut(key), self.downs.get_mut(down_key)) else { return false };
        core.shared.counters.add(up.endpoint.slot, counters::endpoint::BYTES_IN, received as u64);
        let rx = std::mem::take(&mut core.rx);
        let stored = !up.input.is_empty();
        if stored {
            up.input.push(&rx[..received]);
        }
        let held = if stored { up.input.take() } else { Vec::new() };
        let mut bytes: &[u8] = if stored { &held } else { &rx[..received] };
        let answering = down.exchange().is_some_and(|e| e.answering);
        let mut outcome = Outcome::More;
        if !answering {
            while !bytes.is_empty() {
                outcome = self.take_answer_head(core, key, down_key, &mut bytes);
                if !matches!(outcome, Outcome::Interim) {
                    break;
                }
            }
        } else {
            outcome = self.pass_body(core, key, down_key, None, bytes);
        }
        if matches!(outcome, Outcome::Partial)
            && let Some(up) = self.ups.get_mut(key)
        {
            let left = bytes.len();
            if stored {
                let used = held.len() - left;
                up.input.put_back(held, used);
            } else {
                up.input.push(&rx[received - left..received]);
            }
            core.rx = rx;
            return true;
        }
        let rest = if matches!(outcome, Outcome::Upgraded) { bytes.to_vec() } else { Vec::new() };
        core.rx = rx;
        match outcome {
            Outcome::More | Outcome::Interim | Outcome::Partial => true,
            Outcome::Gone => false,
            Outcome::Upgraded => {
                self.upgrade(core, sessions, key, down_key, &rest);
                false
            }
        }
    }

    /// Looks for the head of an answer at the front of `bytes`.
    fn take_answer_head(&mut self, core: &mut Core<O>, key: Key, down_key: Key, bytes: &mut &[u8]) -> Outcome {
        let (Some(up), Some(down)) = (self.ups.get_mut(key), self.downs.get_mut(down_key)) else {
            return Outcome::Gone;
        };
        let Some(exchange) = down.exchange() else { return Outcome::Gone };
        let parsed = parse_response_from(
            bytes,
            &RESPONSE_LIMITS,
            &mut up.scan,
            &mut self.response,
            exchange.head_request(),
            false,
        );
        match parsed {
            Ok(Parsed::Incomplete) => {
                return Outcome::Partial;
            }
            Ok(Parsed::Complete) => up.scan = HeadScan::new(),
            Err(error) => {
                core.shared.counters.add(up.endpoint.slot, counters::endpoint::FAILURES, 1);
                let detail = format!("endpoint {} sent a malformed answer: {error}", up.endpoint.addr);
                self.answer(core, down_key, 502, &detail, CloseReason::BadResponse);
                return Outcome::Gone;
            }
        }
        let head = &self.response;
        let status = head.status;
        if exchange.upstream_us == 0 {
            exchange.upstream_us = core.now_us - exchange.started_us;
        }
        exchange.progress_ms = core.now_ms;
        let switching = status == 101 && exchange.upgrade;
        if (100..200).contains(&status) && !switching {
            if status == 101 {
                let detail = format!("endpoint {} switched protocols without being asked", up.endpoint.addr);
                self.answer(core, down_key, 502, &detail, CloseReason::BadResponse);
                return Outcome::Gone;
            }
            if exchange.client_minor > 0 {
                core.tx.clear();
                let options = ResponseOptions {
                    client_minor: 1,
                    close: false,
                    keep_alive_10: false,
                    chunked_from_close: false,
                    dechunk: false,
                    via: false,
                };
                write_response_head(&mut core.tx, bytes, head, &options);
                exchange.head_bytes.1 += core.tx.len() as u32;
                if down.link.send(&mut core.os, &core.tx).is_err() {
                    self.close_down(core, down_key, CloseReason::ClientReset, true);
                    return Outcome::Gone;
                }
            }
            *bytes = &bytes[self.response.len()..];
            return Outcome::Interim;
        }
        exchange.answering = true;
        exchange.status = status;
        exchange.keep_up = head.keep_alive && !up.deaf;
        // The request is not complete and never will be: this connection cannot carry another one.
        exchange.close |= !exchange.body.is_done() || core.draining;
        exchange.coding = Coding::Same;
        exchange.answer = match head.body {
            ResponseBody::None | ResponseBody::Length(0) => Body::Done,
            ResponseBody::Length(n) => Body::Length(n),
            ResponseBody::Chunked => {
                if exchange.client_minor == 0 {
                    exchange.coding = Coding::Dechunk;
                    exchange.close = true;
                }
                Body::Chunked(Chunked::new())
            }
            ResponseBody::UntilClose => {
                exchange.keep_up = false;
                if exchange.client_minor == 0 {
                    exchange.close = true;
                } else {
                    exchange.coding = Coding::Chunk;
                }
                Body::UntilClose
            }
        };
        if switching {
            exchange.answer = Body::Done;
            exchange.close = false;
        }
        let options = ResponseOptions {
            client_minor: exchange.client_minor,
            close: exchange.close,
            keep_alive_10: exchange.client_minor == 0 && !exchange.close,
            chunked_from_close: exchange.coding == Coding::Chunk,
            dechunk: exchange.coding == Coding::Dechunk,
            via: exchange.table.as_ref().is_some_and(|t| t.settings().via),
        };
        let mut tx = std::mem::take(&mut core.tx);
        tx.clear();
        write_response_head(&mut tx, bytes, head, &options);
        *bytes = &bytes[self.response.len()..];
        let outcome = if switching {
            exchange.head_bytes.1 += tx.len() as u32;
            if down.link.send(&mut core.os, &tx).is_err() {
                self.close_down(core, down_key, CloseReason::ClientReset, true);
                Outcome::Gone
            } else {
                Outcome::Upgraded
            }
        } else {
            self.pass_body(core, key, down_key, Some(&mut tx), bytes)
        };
        core.tx = tx;
        outcome
    }

    /// The endpoint's connection ended: that may be the end of the answer, a stale connection, or a failure.
    pub(super) fn up_ended(&mut self, core: &mut Core<O>, key: Key, reset: bool) {
        let Some(up) = self.ups.get_mut(key) else { return };
        let Some(down_key) = up.down else { return };
        let answered = up.answered;
        let Some(down) = self.downs.get_mut(down_key) else { return };
        let super::down::Phase::Exchange(exchange) = &mut down.phase else { return };
        if exchange.answering && matches!(exchange.answer, Body::UntilClose) && !reset {
            exchange.answer = Body::Done;
            exchange.keep_up = false;
            if exchange.coding == Coding::Chunk {
                exchange.bytes_out += LAST_CHUNK.len() as u64;
                if down.link.send(&mut core.os, LAST_CHUNK).is_err() {
                    return self.close_down(core, down_key, CloseReason::ClientReset, true);
                }
            }
            return self.finish(core, down_key);
        }
        core.shared.counters.add(up.endpoint.slot, counters::endpoint::FAILURES, 1);
        let reason = if reset { CloseReason::UpstreamReset } else { CloseReason::UpstreamClosedEarly };
        if exchange.answering {
            return self.abort(core, down_key, reason);
        }
        match self.judge(down_key, reason, answered) {
            Verdict::GiveUp => {}
            Verdict::SameEndpoint => return self.retry(core, down_key, false),
            Verdict::OtherEndpoint { .. } if self.has_other(core, down_key) => return self.retry(core, down_key, true),
            Verdict::OtherEndpoint { .. } => {}
        }
        let addr = self.ups.get(key).map(|u| u.endpoint.addr);
        let word = if reset { "reset the connection" } else { "closed the connection" };
        let detail =
            addr.map_or_else(|| word.to_string(), |a| format!("endpoint {a} {word} before its answer was complete"));
        self.answer(core, down_key, 502, &detail, reason);
    }
}

/// What became of an exchange after some bytes of its answer.
pub(super) enum Outcome {
    /// It goes on.
    More,
    /// The head is not complete yet.
    Partial,
    /// An interim answer was passed on; another head follows.
    Interim,
    /// It ended, failed, or its connection is gone.
    Gone,
    /// 101 was passed on: both sides speak another protocol from here on.
    Upgraded,
}
