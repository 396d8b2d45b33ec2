//! What a worker does when its byte budget is nearly used up: it ends the connections that hold bytes and have stalled longest.
//! How much the budget is, and what is refused meanwhile, is `budget`'s business.

use session::CloseReason;

use super::budget::Pressure;
use super::core::{Kind, Token};
use super::os::Os;
use super::turn::Loop;

/// Whoever has made progress within this time has not stalled.
const STALLED_MS: u64 = 1_000;

/// To end a connection that holds less would free nothing: a request that waits for a slow endpoint holds its head.
pub const WORTH_BYTES: usize = 4 * 1024;

/// A connection that holds bytes, and when it last got on.
pub type Holder = (u64, Token);

impl<O: Os> Loop<O> {
    /// Closes stalled holders of bytes, longest stalled first, until there is room again. Cost: a walk over all connections, so that it is
    /// called now and then only.
    pub fn relieve(&mut self) {
        if self.core.pressure() != Pressure::Full {
            return;
        }
        let mut stalled: Vec<Holder> = Vec::new();
        let before_ms = self.core.now_ms.saturating_sub(STALLED_MS);
        self.http.stalled(before_ms, &mut stalled);
        self.sessions.stalled(before_ms, &mut stalled);
        stalled.sort_unstable_by_key(|(since_ms, _)| *since_ms);
        for (_, token) in stalled {
            match token.kind {
                Kind::Down => self.http.close_down(&mut self.core, token.key, CloseReason::MemoryPressure, true),
                _ => self.sessions.close(&mut self.core, token.key, CloseReason::MemoryPressure, true),
            }
            if self.core.pressure() != Pressure::Full {
                return;
            }
        }
    }
}
