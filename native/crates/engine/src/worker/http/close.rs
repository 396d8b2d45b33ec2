//! The end of a client's connection after our last answer: the rest of it, our FIN, and the client's input read away.

use rustix::io::Errno;
use session::CloseReason;

use super::super::core::Core;
use super::super::os::Os;
use super::super::slab::Key;
use super::Http;
use super::down::{BODY_READS, Phase};

/// Time for a client to read the last answer and close, once our FIN is out.
const LINGER_MS: u64 = 5_000;
/// However much the client goes on sending, it is not read longer than this.
const MOST_LINGER_MS: u64 = 30_000;

impl<O: Os> Http<O> {
    /// Sends our last answer on a connection without an exchange; it is closed once the client has read that.
    pub(super) fn say_last(&mut self, core: &mut Core<O>, key: Key, answer: &[u8], reason: CloseReason) {
        let Some(down) = self.downs.get_mut(key) else { return };
        down.phase = Phase::Closing { linger: true };
        down.closing = reason;
        down.input.clear();
        down.active_ms = core.now_ms;
        if down.link.send(&mut core.os, answer).is_err() {
            return self.close_down(core, key, CloseReason::ClientReset, true);
        }
        self.finish_closing(core, key);
    }

    /// Sends the rest of our last answer, then our FIN.
    pub(super) fn finish_closing(&mut self, core: &mut Core<O>, key: Key) {
        let Some(down) = self.downs.get_mut(key) else { return };
        let Phase::Closing { linger } = down.phase else { return };
        match down.link.flush(&mut core.os) {
            Ok(true) => {}
            Ok(false) => return self.wait(core, key),
            Err(_) => return self.close_down(core, key, CloseReason::ClientReset, true),
        }
        let reason = down.closing;
        if !linger {
            return self.close_down(core, key, reason, false);
        }
        core.os.shutdown_write(&down.link.sock);
        down.phase = Phase::Linger { until_ms: core.now_ms + LINGER_MS, last_ms: core.now_ms + MOST_LINGER_MS };
        down.input.clear();
        down.armed = 0;
        if down.watch(core).is_err() {
            return self.close_down(core, key, reason, true);
        }
        self.linger(core, key);
    }

    /// Throws input away until the client's FIN: a close with unread input would destroy our answer on its way.
    pub(super) fn linger(&mut self, core: &mut Core<O>, key: Key) {
        let Some(down) = self.downs.get_mut(key) else { return };
        let reason = down.closing;
        for _ in 0..BODY_READS {
            if !down.link.ready.readable {
                down.arm(core);
                return;
            }
            match down.link.recv(&mut core.os, &mut core.body) {
                Ok(0) => return self.close_down(core, key, reason, false),
                Ok(_) => {
                    if let Phase::Linger { until_ms, last_ms } = &mut down.phase {
                        *until_ms = (core.now_ms + LINGER_MS).min(*last_ms);
                    }
                }
                Err(Errno::AGAIN) => {}
                Err(_) => return self.close_down(core, key, reason, true),
            }
        }
        down.queue(core);
    }
}
