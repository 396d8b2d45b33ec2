//! What the primary hears of its workers.
//! How it arrives is `links`' business, what it leads to is decided in TypeScript (primary/). Serves the host.

use crate::shared::protocol;
use crate::sys::channel::Message;

/// Something a worker said, or that became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostEvent {
    /// The worker's number, as given to `open`.
    pub worker: u32,
    pub what: What,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// The loop runs and waits for HELLO.
    Ready,
    /// Every new request of this worker sees this generation.
    Ack { generation: u64 },
    /// The worker keeps its old table.
    Refused { generation: u64, text: String },
    /// It serves this many members of the socket now.
    Listening { socket_id: u32, members: u64 },
    /// The loop panicked; the process is about to exit with status 70.
    Panic { text: String },
    /// Nothing is open any more.
    Drained,
    /// The channel ended: the process died, or spoke what is no message of ours (then `text` says so).
    Gone { text: String },
    /// The process that was to be killed has ended.
    Fenced { pid: u32 },
}

impl What {
    /// Reads a message of a worker; None for an unknown kind.
    pub fn read(message: &Message) -> Option<Self> {
        let text = || String::from_utf8_lossy(&message.payload).into_owned();
        Some(match message.kind {
            protocol::READY => What::Ready,
            protocol::ACK => What::Ack { generation: message.value },
            protocol::REFUSED => What::Refused { generation: message.value, text: text() },
            protocol::LISTENING => What::Listening { socket_id: message.arg, members: message.value },
            protocol::PANIC => What::Panic { text: text() },
            protocol::DRAINED => What::Drained,
            _ => return None,
        })
    }
}
