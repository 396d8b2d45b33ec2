//! Ends of exchanges and connections: a complete answer, an answer of our own, a retry, an abort, an upgrade, a timeout.

use proto::h1::{SimpleResponse, simple_response};
use rustix::io::Errno;
use session::CloseReason;
use session::retry::{Attempt, Ending, Verdict, judge, may_pool};
use table::{Settings, Timeouts, counters, layout};

use super::super::core::{Core, limit_at};
use super::super::log::{self, Entry};
use super::super::os::Os;
use super::super::slab::Key;
use super::super::tcp::{Sessions, Upgraded};
use super::Http;
use super::down::Phase;
use super::exchange::{Body, Exchange};

impl<O: Os> Exchange<O> {
    /// Counts the bytes of an answer of our own.
    fn count_own(&mut self, response: &SimpleResponse) {
        self.head_bytes.1 += response.head_bytes as u32;
        self.bytes_out += response.body_bytes() as u64;
    }

    /// Returns when something must have happened, and what it means if it has not.
    pub fn deadline(&self, timeouts: &Timeouts) -> (u64, CloseReason) {
        let mut first = (u64::MAX, CloseReason::RequestTimeout);
        let mut consider = |at: u64, reason: CloseReason| {
            if at < first.0 {
                first = (at, reason);
            }
        };
        consider(limit_at(self.progress_ms, timeouts.stream_idle_ms), CloseReason::StreamIdleTimeout);
        if let (Some(table), Some(action)) = (&self.table, self.action) {
            let action = table.action(action);
            if action.request_timeout_ms > 0 {
                consider(self.started_us / 1000 + u64::from(action.request_timeout_ms), CloseReason::RequestTimeout);
            }
            if action.backend_request_timeout_ms > 0 && self.up.is_some() {
                consider(
                    self.try_started_ms + u64::from(action.backend_request_timeout_ms),
                    CloseReason::UpstreamTimeout,
                );
            }
        }
        if self.up.is_some() && !self.any_sent {
            consider(limit_at(self.try_started_ms, timeouts.connect_ms), CloseReason::ConnectTimeout);
        }
        first
    }
}

impl<O: Os> Http<O> {
    /// The answer is complete: account for it, keep the connections that can be kept.
    pub(super) fn finish(&mut self, core: &mut Core<O>, key: Key) {
        let Some(down) = self.downs.get_mut(key) else { return };
        let Phase::Exchange(exchange) = std::mem::replace(&mut down.phase, Phase::Head) else { return };
        let mut close = exchange.close;
        let mut linger = !exchange.body.is_done();
        down.active_ms = core.now_ms;
        close |= core.draining;
        self.settle(core, key, exchange, CloseReason::Completed);
        let Some(down) = self.downs.get_mut(key) else { return };
        if close {
            linger |= down.link.ready.readable || !down.input.is_empty();
            down.phase = Phase::Closing { linger };
            down.closing = if core.draining { CloseReason::Drained } else { CloseReason::ServerClosed };
            return self.finish_closing(core, key);
        }
        // The next request may be here already: it has its turn behind the others that are ready.
        if !down.input.is_empty() || down.link.ready.readable {
            down.queue(core);
        } else if down.watch(core).is_err() {
            return self.close_down(core, key, CloseReason::Internal, true);
        }
        if let Some(down) = self.downs.get_mut(key) {
            down.arm(core);
        }
    }

    /// Counts and logs an ended exchange, and gives its upstream connection back to the pool or closes it.
    fn settle(&mut self, core: &mut Core<O>, key: Key, mut exchange: Box<Exchange<O>>, reason: CloseReason) {
        exchange.flow.release(&mut core.pipes);
        let Some(down) = self.downs.get(key) else { return };
        let peer = down.peer;
        if let Some(endpoint) = exchange.endpoint {
            core.shared.gauges.dec(endpoint.slot);
        }
        if let Some(up_key) = exchange.up
            && let Some(up) = self.ups.get_mut(up_key)
        {
            let ending = Ending {
                request_ended: exchange.body.is_done() && up.link.out.is_empty(),
                response_ended: reason == CloseReason::Completed,
                surplus: up.link.ready.readable && core.os.peek(&up.link.sock) != Err(Errno::AGAIN),
                keep_alive: exchange.keep_up && !up.link.ready.hangup,
            };
            let reusable = may_pool(ending) && !core.draining;
            up.link.ready.readable = false;
            up.down = None;
            up.idle_since_ms = core.now_ms;
            let most = exchange.table.as_ref().map_or(0, |t| idle_share(t.settings(), core.workers(t.settings())));
            if !reusable || self.pool.put(up.endpoint.slot, up_key, most).is_err() {
                self.ups.remove(up_key);
            }
        }
        if exchange.action.is_some() {
            let slot = exchange.action_slot;
            core.shared.gauges.dec(slot);
            let c = &core.shared.counters;
            if let Some(cell) = class_cell(exchange.status) {
                c.add(slot, cell, 1);
            }
            c.add(slot, counters::action::BYTES_IN, exchange.bytes_in);
            c.add(slot, counters::action::BYTES_OUT, exchange.bytes_out);
            c.add(slot, counters::action::DURATION_US, core.now_us - exchange.started_us);
        }
        if let Some(slot) = down.listener_slot {
            core.shared.counters.add(
                slot,
                counters::listener::BYTES_IN,
                exchange.bytes_in + u64::from(exchange.head_bytes.0),
            );
            core.shared.counters.add(
                slot,
                counters::listener::BYTES_OUT,
                exchange.bytes_out + u64::from(exchange.head_bytes.1),
            );
        }
        if let (Some(names), Some(texts)) = (&exchange.names, &exchange.texts) {
            let entry = Entry {
                protocol: if exchange.client_minor == 0 { layout::ACCESS_HTTP10 } else { layout::ACCESS_HTTP11 },
                method: &texts.method,
                host: &texts.host,
                path: &texts.path,
                user_agent: &texts.user_agent,
                status: exchange.status,
                reason,
                retries: exchange.tries.saturating_sub(1),
                bytes_in: exchange.bytes_in,
                bytes_out: exchange.bytes_out,
                started_us: exchange.started_us,
                upstream_us: exchange.upstream_us,
                peer,
                endpoint: exchange.endpoint.map(|e| e.addr),
            };
            log::write(core, names, &entry);
        }
        exchange.reset();
        self.spare.push(exchange);
    }

    /// Answers the exchange ourselves; the connection is kept when its framing is known to be intact.
    pub(super) fn answer(&mut self, core: &mut Core<O>, key: Key, status: u16, detail: &str, reason: CloseReason) {
        let Some(down) = self.downs.get_mut(key) else { return };
        let Some(exchange) = down.exchange() else { return };
        if exchange.answering {
            return self.abort(core, key, reason);
        }
        let close = exchange.close || !exchange.body.is_done() || exchange.client_minor == 0;
        let response = simple_response(status, detail, close, exchange.head_request());
        exchange.status = status;
        exchange.count_own(&response);
        exchange.close = close;
        let linger = !exchange.body.is_done();
        let Phase::Exchange(exchange) = std::mem::replace(&mut down.phase, Phase::Head) else { return };
        if let Some(slot) = down.listener_slot {
            core.shared.counters.add(slot, counters::listener::REJECTED, 1);
        }
        down.active_ms = core.now_ms;
        core.reason(reason);
        self.settle(core, key, exchange, reason);
        let Some(down) = self.downs.get_mut(key) else { return };
        if down.link.send(&mut core.os, &response.bytes).is_err() {
            return self.close_down(core, key, CloseReason::ClientReset, true);
        }
        if close {
            down.phase = Phase::Closing { linger: linger || down.link.ready.readable || !down.input.is_empty() };
            down.closing = CloseReason::ServerClosed;
            return self.finish_closing(core, key);
        }
        if !down.input.is_empty() || down.link.ready.readable {
            down.queue(core);
        }
        down.arm(core);
    }

    /// Answers the exchange ourselves and closes once that has been read: what the client sends from here on is no request.
    pub(super) fn answer_and_close(
        &mut self,
        core: &mut Core<O>,
        key: Key,
        status: u16,
        detail: &str,
        reason: CloseReason,
    ) {
        let Some(down) = self.downs.get_mut(key) else { return };
        let Phase::Exchange(mut exchange) = std::mem::replace(&mut down.phase, Phase::Head) else { return };
        let response = simple_response(status, detail, true, exchange.head_request());
        exchange.status = status;
        exchange.count_own(&response);
        if let Some(slot) = down.listener_slot {
            core.shared.counters.add(slot, counters::listener::REJECTED, 1);
        }
        self.settle(core, key, exchange, reason);
        self.say_last(core, key, &response.bytes, reason);
    }

    /// An answer that has begun cannot be completed: the client must see that it is cut.
    pub(super) fn abort(&mut self, core: &mut Core<O>, key: Key, reason: CloseReason) {
        self.close_down(core, key, reason, true);
    }

    /// What is to be done about an exchange whose endpoint failed before its answer.
    pub(super) fn judge(&mut self, key: Key, reason: CloseReason, answered: bool) -> Verdict {
        let Some(exchange) = self.downs.get_mut(key).and_then(|d| d.exchange()) else { return Verdict::GiveUp };
        let attempt = Attempt {
            method: exchange.method,
            attempts: exchange.tries,
            reused: exchange.reused,
            sent: exchange.any_sent,
            answered,
            body_held: exchange.replayable,
        };
        judge(reason, &attempt)
    }

    /// Whether the exchange's set has an endpoint that has not failed it.
    pub(super) fn has_other(&mut self, core: &Core<O>, key: Key) -> bool {
        let Some(exchange) = self.downs.get_mut(key).and_then(|d| d.exchange()) else { return false };
        let Some(endpoint) = exchange.endpoint else { return false };
        let mut tried = exchange.tried.clone();
        tried.push(endpoint.slot);
        core.choose_endpoint(exchange.set, &tried).is_some()
    }

    /// Sends the present request again, on a new connection; `elsewhere`: to another endpoint, if there is one.
    pub(super) fn retry(&mut self, core: &mut Core<O>, key: Key, elsewhere: bool) {
        let Some(exchange) = self.downs.get_mut(key).and_then(|d| d.exchange()) else { return };
        if elsewhere && let Some(endpoint) = exchange.endpoint {
            exchange.tried.push(endpoint.slot);
        }
        if let Some(up) = exchange.up.take() {
            self.ups.remove(up);
        }
        if let Some(endpoint) = exchange.endpoint.take() {
            core.shared.gauges.dec(endpoint.slot);
        }
        core.shared.counters.add(exchange.action_slot, counters::action::RETRIES, 1);
        self.try_endpoint(core, key);
        if let Some(down) = self.downs.get_mut(key) {
            down.arm(core);
        }
    }

    /// Hands both connections over to the TCP side: after a 101 the bytes are nobody's business.
    pub(super) fn upgrade(
        &mut self,
        core: &mut Core<O>,
        sessions: &mut Sessions<O>,
        up_key: Key,
        key: Key,
        rest: &[u8],
    ) {
        let Some(down) = self.downs.get_mut(key) else { return };
        if down.watch(core).is_err() {
            return self.close_down(core, key, CloseReason::Internal, true);
        }
        if down.link.send(&mut core.os, rest).is_err() {
            return self.close_down(core, key, CloseReason::ClientReset, true);
        }
        let (Some(mut down), Some(mut up)) = (self.downs.remove(key), self.ups.remove(up_key)) else { return };
        let Phase::Exchange(mut exchange) = down.phase else { return };
        let early = down.input.take();
        if !early.is_empty() {
            // A failed send shows again when the session first pumps.
            let _ = up.link.send(&mut core.os, &early);
        }
        let slot = exchange.action_slot;
        let c = &core.shared.counters;
        let (bytes_in, bytes_out) = (exchange.bytes_in + early.len() as u64, exchange.bytes_out + rest.len() as u64);
        c.add(slot, counters::action::STATUS_1XX, 1);
        c.add(slot, counters::action::BYTES_IN, bytes_in);
        c.add(slot, counters::action::BYTES_OUT, bytes_out);
        if let Some(listener) = down.listener_slot {
            let (head_in, head_out) = exchange.head_bytes;
            c.add(listener, counters::listener::BYTES_IN, bytes_in + u64::from(head_in));
            c.add(listener, counters::listener::BYTES_OUT, bytes_out + u64::from(head_out));
        }
        for gauge in [Some(slot), down.listener_slot, Some(up.endpoint.slot)].into_iter().flatten() {
            core.shared.gauges.dec(gauge);
        }
        sessions.adopt(
            core,
            Upgraded {
                client: down.link,
                server: up.link,
                timeouts: down.timeouts,
                listener_slot: down.listener_slot.unwrap_or(u32::MAX),
                action_slot: slot,
                endpoint: up.endpoint,
                peer: down.peer,
                started_us: exchange.started_us,
                bytes: (bytes_in, bytes_out),
                names: exchange.names.take(),
                texts: exchange.texts.take(),
            },
        );
        exchange.body = Body::Done;
        exchange.reset();
        self.spare.push(exchange);
    }

    /// Ends a client's connection and whatever exchange it carries.
    pub fn close_down(&mut self, core: &mut Core<O>, key: Key, reason: CloseReason, reset: bool) {
        let Some(down) = self.downs.get_mut(key) else { return };
        if let Phase::Exchange(mut exchange) = std::mem::replace(&mut down.phase, Phase::Head) {
            exchange.keep_up = false;
            self.settle(core, key, exchange, reason);
        }
        let Some(down) = self.downs.remove(key) else { return };
        if reset {
            core.os.reset_on_close(&down.link.sock);
        }
        core.reason(reason);
        if let Some(slot) = down.listener_slot {
            core.shared.gauges.dec(slot);
            core.shared.counters.add(slot, counters::listener::CLOSED, 1);
        }
    }

    /// A timer of a client's connection has come up.
    pub fn expire(&mut self, core: &mut Core<O>, key: Key, due: u64) {
        let Some(down) = self.downs.get_mut(key) else { return };
        if down.armed != due {
            return;
        }
        down.armed = 0;
        let (at, reason) = down.deadline(core.draining);
        if core.now_ms < at {
            return down.arm(core);
        }
        match (&down.phase, reason) {
            (Phase::Head, CloseReason::HeaderTimeout) if !down.input.is_empty() => {
                let bytes = down.input.take();
                self.refuse(core, key, 408, "the request head did not arrive in time", reason, &bytes);
            }
            (Phase::Head | Phase::Closing { .. } | Phase::Linger { .. }, _) => {
                self.close_down(core, key, reason, false)
            }
            (Phase::Exchange(_), _) => self.expire_exchange(core, key, reason),
        }
    }

    /// Whether it is the client that keeps an exchange from going on: it takes no answer, or sends no body that could be passed on.
    fn waits_for_client(&mut self, key: Key) -> bool {
        let Some(down) = self.downs.get_mut(key) else { return false };
        let takes = down.link.ready.writable;
        let Some(exchange) = down.exchange() else { return false };
        if exchange.answering {
            return !takes;
        }
        let passed_on = exchange.up.and_then(|k| self.ups.get(k)).is_some_and(|up| up.link.out.is_empty());
        !exchange.body.is_done() && passed_on
    }

    fn expire_exchange(&mut self, core: &mut Core<O>, key: Key, reason: CloseReason) {
        let stalled = reason == CloseReason::StreamIdleTimeout && self.waits_for_client(key);
        let reason = if stalled { CloseReason::ClientStalled } else { reason };
        let Some(exchange) = self.downs.get_mut(key).and_then(|d| d.exchange()) else { return };
        if exchange.answering {
            return self.abort(core, key, reason);
        }
        let endpoint = exchange.endpoint.map_or_else(String::new, |e| format!("endpoint {} ", e.addr));
        match reason {
            CloseReason::ConnectTimeout => {
                if let Some(up) = exchange.up {
                    self.connect_ended(core, up, reason);
                    self.mind(core, key);
                }
            }
            CloseReason::ClientStalled => {
                self.answer_and_close(core, key, 408, "the request body did not arrive in time", reason);
            }
            CloseReason::RequestTimeout => {
                self.answer(core, key, 504, "the request took longer than its limit", reason)
            }
            _ => self.answer(core, key, 504, &format!("{endpoint}did not answer in time"), reason),
        }
    }
}

/// This worker's share of the idle connections to one endpoint: at least one, unless none are wanted.
fn idle_share(settings: Settings, workers: usize) -> usize {
    let most = settings.max_idle_per_endpoint as usize;
    (most / workers.max(1)).max(most.min(1))
}

fn class_cell(status: u16) -> Option<usize> {
    match status / 100 {
        1 => Some(counters::action::STATUS_1XX),
        2 => Some(counters::action::STATUS_2XX),
        3 => Some(counters::action::STATUS_3XX),
        4 => Some(counters::action::STATUS_4XX),
        5 => Some(counters::action::STATUS_5XX),
        _ => None,
    }
}
