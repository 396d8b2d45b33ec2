//! Finds an endpoint for a request: the weighted backend, then an endpoint of its set, then an idle or a new connection.
//! A failed connect rests the endpoint and takes another one.

use proto::h1::MethodKind;
use rustix::io::Errno;
use session::CloseReason;
use session::retry::{MAX_ATTEMPTS, may_take_pooled, needs_fresh};
use table::{BackendChoice, counters};

use super::super::budget::Pressure;
use super::super::core::{Core, Kind, Token};
use super::super::link::Link;
use super::super::os::Os;
use super::super::slab::Key;
use super::super::tcp::connect_reason;
use super::Http;
use super::up::Up;
use crate::shared::Endpoint;

impl<O: Os> Http<O> {
    /// Starts the exchange of `key`: answers it at once, or sends it to an endpoint.
    pub(super) fn start(&mut self, core: &mut Core<O>, key: Key) {
        let Some(exchange) = self.downs.get_mut(key).and_then(|d| d.exchange()) else { return };
        let (Some(table), Some(action)) = (exchange.table.clone(), exchange.action) else {
            let (detail, reason) = match exchange.listener {
                Some(_) => ("no route matches", CloseReason::NoRoute),
                None => ("no listener serves this host", CloseReason::NoListener),
            };
            return self.answer(core, key, 404, detail, reason);
        };
        if core.pressure() == Pressure::Full {
            let detail = "the memory of this worker is used up for the moment";
            return self.answer(core, key, 503, detail, CloseReason::MemoryPressure);
        }
        match core.choose_backend(&table, action) {
            BackendChoice::Cluster { set } => {
                exchange.set = set;
                self.try_endpoint(core, key);
            }
            BackendChoice::Invalid { status } => {
                self.answer(
                    core,
                    key,
                    status,
                    "the route names a backend that does not resolve",
                    CloseReason::BackendInvalid,
                );
            }
            BackendChoice::None => {
                self.answer(core, key, 500, "the route has no usable backend", CloseReason::BackendInvalid)
            }
        }
    }

    /// Sends the request to the next endpoint that has not refused it.
    pub(super) fn try_endpoint(&mut self, core: &mut Core<O>, key: Key) {
        loop {
            let Some(down) = self.downs.get_mut(key) else { return };
            let Some(exchange) = down.exchange() else { return };
            if exchange.tries >= MAX_ATTEMPTS {
                return self.no_endpoint(core, key);
            }
            let Some(endpoint) = core.choose_endpoint(exchange.set, &exchange.tried) else {
                return self.no_endpoint(core, key);
            };
            exchange.tries += 1;
            exchange.endpoint = Some(endpoint);
            exchange.any_sent = false;
            exchange.try_started_ms = core.now_ms;
            core.shared.counters.add(endpoint.slot, counters::endpoint::REQUESTS, 1);
            core.shared.gauges.inc(endpoint.slot);
            let method = exchange.method;
            // Retries take a new connection: a pooled one that just failed is a sign that its siblings are stale too.
            let fresh = exchange.tries > 1 || needs_fresh(method, exchange.hold());
            let pooled = if fresh { None } else { self.take_idle(core, endpoint, method) };
            if let Some(exchange) = self.downs.get_mut(key).and_then(|d| d.exchange()) {
                exchange.reused = pooled.is_some();
            }
            if let Some(up) = pooled {
                core.shared.counters.add(endpoint.slot, counters::endpoint::REUSED, 1);
                return self.send_request(core, key, up);
            }
            match self.connect(core, key, endpoint) {
                Ok(Some(up)) => return self.send_request(core, key, up),
                Ok(None) => return,
                Err(error) => self.connect_failed(core, key, endpoint, connect_reason(error)),
            }
        }
    }

    /// Takes an idle connection to an endpoint that the method may use.
    fn take_idle(&mut self, core: &mut Core<O>, endpoint: Endpoint, method: MethodKind) -> Option<Key> {
        while let Some(key) = self.pool.take(endpoint.slot) {
            let Some(up) = self.ups.get_mut(key) else { continue };
            let idle_ms = core.now_ms.saturating_sub(up.idle_since_ms);
            let quiet = method.is_idempotent() || core.os.peek(&up.link.sock) == Err(Errno::AGAIN);
            let alive =
                up.endpoint.addr == endpoint.addr && !up.link.ready.hangup && may_take_pooled(method, idle_ms, quiet);
            if alive {
                return Some(key);
            }
            self.ups.remove(key);
        }
        None
    }

    /// Opens a connection for an exchange. `Ok(Some)`: established at once.
    fn connect(&mut self, core: &mut Core<O>, down: Key, endpoint: Endpoint) -> Result<Option<Key>, Errno> {
        let (sock, connected) = core.os.connect(endpoint.addr)?;
        let link = Link::connecting(sock, connected);
        let key = self.ups.insert(|key| Up::new(key, link, endpoint, !connected, core.now_us));
        let Some(up) = self.ups.get_mut(key) else { return Err(Errno::BADF) };
        up.down = Some(down);
        if let Err(error) = core.os.watch(&up.link.sock, Token { kind: Kind::Up, key }.pack()) {
            self.ups.remove(key);
            return Err(error);
        }
        up.link.watched = true;
        if let Some(exchange) = self.downs.get_mut(down).and_then(|d| d.exchange()) {
            exchange.up = Some(key);
        }
        if connected {
            core.shared.counters.add(endpoint.slot, counters::endpoint::CONNECTS, 1);
        }
        Ok(connected.then_some(key))
    }

    /// Counts a failed connect and rests the endpoint; the exchange will try another one.
    pub(super) fn connect_failed(&mut self, core: &mut Core<O>, key: Key, endpoint: Endpoint, reason: CloseReason) {
        core.shared.counters.add(endpoint.slot, counters::endpoint::CONNECT_FAILURES, 1);
        core.shared.gauges.dec(endpoint.slot);
        core.rest(endpoint.slot);
        let Some(exchange) = self.downs.get_mut(key).and_then(|d| d.exchange()) else { return };
        exchange.tried.push(endpoint.slot);
        exchange.endpoint = None;
        exchange.refused = Some((endpoint, reason));
        core.shared.counters.add(exchange.action_slot, counters::action::RETRIES, 1);
    }

    /// No endpoint is left: the answer names what the last one did.
    fn no_endpoint(&mut self, core: &mut Core<O>, key: Key) {
        let Some(exchange) = self.downs.get_mut(key).and_then(|d| d.exchange()) else { return };
        let Some((endpoint, reason)) = exchange.refused else {
            return self.answer(core, key, 503, "no endpoint of the backend is available", CloseReason::NoEndpoint);
        };
        let word = match reason {
            CloseReason::ConnectTimeout => "did not accept the connection in time",
            CloseReason::ConnectRefused => "refused the connection",
            CloseReason::DescriptorsExhausted => "got no connection: too few descriptors",
            _ => "cannot be reached",
        };
        self.answer(core, key, reason.info().status, &format!("endpoint {} {word}", endpoint.addr), reason);
    }

    /// Puts the request (as far as it is here) on an established connection.
    pub(super) fn send_request(&mut self, core: &mut Core<O>, key: Key, up_key: Key) {
        let Some(down) = self.downs.get_mut(key) else { return };
        let Some(exchange) = down.exchange() else { return };
        let Some(up) = self.ups.get_mut(up_key) else { return };
        up.down = Some(key);
        up.answered = false;
        exchange.up = Some(up_key);
        exchange.any_sent = true;
        core.shared.counters.add(up.endpoint.slot, counters::endpoint::BYTES_OUT, exchange.sent.len() as u64);
        if up.link.send(&mut core.os, &exchange.sent).is_err() {
            // What the endpoint said before it left decides: read it.
            up.deaf = true;
            up.link.out.clear();
            up.link.ready.readable = true;
            if !up.link.queued {
                up.link.queued = true;
                core.queue.push_back(Token { kind: Kind::Up, key: up_key });
            }
            return;
        }
        if exchange.sent.len() > super::exchange::REPLAY_BYTES {
            exchange.let_go();
        }
        if !exchange.body.is_done() {
            self.forward_body(core, key);
        }
    }
}
