//! Heads that are no request: malformed, too large, too slow. Each is answered, counted and logged with what can be told of it.
//! A connection that ends without an answer of ours leaves no line: nobody asked for anything.

use proto::h1::{glimpse, simple_response};
use session::CloseReason;
use session::route::listener_of;
use table::{counters, layout};

use super::super::core::Core;
use super::super::log::{self, Entry, Names};
use super::super::os::Os;
use super::super::slab::Key;
use super::Http;

impl<O: Os> Http<O> {
    /// Answers a head that cannot be served, of which `bytes` have come, and closes once that has been read.
    ///
    /// The listener is the one of the Host, as far as there is one: without, a catch-all listener has to answer for it.
    pub(super) fn refuse(
        &mut self,
        core: &mut Core<O>,
        key: Key,
        status: u16,
        detail: &str,
        reason: CloseReason,
        bytes: &[u8],
    ) {
        let Some(socket_id) = self.downs.get(key).map(|d| d.socket_id) else { return };
        let (table, _) = self.table_of(core, socket_id);
        let Some(down) = self.downs.get_mut(key) else { return };
        let seen = glimpse(bytes);
        let answer = simple_response(status, detail, true, seen.method == b"HEAD");
        let listener = table.as_ref().and_then(|t| listener_of(t, socket_id, seen.host_name));
        if let (Some(table), Some(listener)) = (&table, listener) {
            down.belong_to(core, table.listener(listener).slot);
        }
        if let Some(slot) = down.listener_slot {
            let c = &core.shared.counters;
            c.add(slot, counters::listener::REJECTED, 1);
            c.add(slot, counters::listener::BYTES_IN, bytes.len() as u64);
            c.add(slot, counters::listener::BYTES_OUT, answer.bytes.len() as u64);
        }
        if let Some(table) = table.filter(|t| t.settings().access_log) {
            let entry = Entry {
                // The version that we answer in, where none can be read.
                protocol: if seen.is_http10 { layout::ACCESS_HTTP10 } else { layout::ACCESS_HTTP11 },
                method: seen.method,
                host: seen.host,
                path: seen.path,
                user_agent: seen.user_agent,
                status,
                reason,
                retries: 0,
                bytes_in: bytes.len() as u64,
                bytes_out: answer.body_bytes() as u64,
                started_us: down.active_ms * 1000,
                upstream_us: 0,
                peer: down.peer,
                endpoint: None,
            };
            log::write(core, &Names::new(&table, listener, None), &entry);
        }
        self.say_last(core, key, &answer.bytes, reason);
    }
}
