//! One request and its answer, from the end of the request's head to the end of the answer.

use std::sync::Arc;

use proto::h1::{Chunked, MethodKind};
use session::CloseReason;
use session::retry::{Hold, MAX_HELD_BODY};
use table::{ActionIdx, ListenerIdx};

use super::super::bytes::Tally;
use super::super::core::LoadedTable;
use super::super::log::{LogTexts, Names};
use super::super::os::Os;
use super::super::pump::Flow;
use super::super::slab::Key;
use crate::shared::Endpoint;

/// Request bytes kept for another try.
pub const REPLAY_BYTES: usize = MAX_HELD_BODY;

/// What is still to come of a body.
pub enum Body {
    /// Nothing.
    Done,
    Length(u64),
    Chunked(Chunked),
    /// Answers only: until the endpoint's FIN.
    UntilClose,
}

impl Body {
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done)
    }
}

/// How an answer's body goes to the client.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// As it comes.
    Same,
    /// It ends with the endpoint's FIN: chunks for the client.
    Chunk,
    /// The client speaks HTTP/1.0: the chunks' data only.
    Dechunk,
}

pub struct Exchange<O: Os> {
    pub table: Option<Arc<LoadedTable>>,
    pub listener: Option<ListenerIdx>,
    pub action: Option<ActionIdx>,
    pub action_slot: u32,
    // The request.
    pub method: MethodKind,
    pub client_minor: u8,
    pub upgrade: bool,
    pub body: Body,
    /// Head and body as sent so far; complete only while `replayable`.
    pub sent: Vec<u8>,
    /// What `sent` owns.
    held: Tally,
    pub replayable: bool,
    /// Bytes of `sent` or later were handed to the kernel on the present connection.
    pub any_sent: bool,
    // The try.
    pub up: Option<Key>,
    pub endpoint: Option<Endpoint>,
    pub set: u32,
    pub tries: u8,
    /// Endpoints that refused.
    pub tried: Vec<u32>,
    /// The last endpoint that could not be reached, and why.
    pub refused: Option<(Endpoint, CloseReason)>,
    pub try_started_ms: u64,
    // The answer.
    pub answering: bool,
    pub status: u16,
    pub answer: Body,
    pub coding: Coding,
    pub flow: Flow<O::Pipe>,
    /// The client's connection ends with this answer.
    pub close: bool,
    /// The present connection came from the pool.
    pub reused: bool,
    /// The endpoint's connection may be kept.
    pub keep_up: bool,
    // Times and sizes.
    pub started_us: u64,
    pub upstream_us: u64,
    pub progress_ms: u64,
    /// Of the request and of the answer.
    pub head_bytes: (u32, u32),
    /// Body bytes.
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub names: Option<Box<Names>>,
    pub texts: Option<Box<LogTexts>>,
}

impl<O: Os> Default for Exchange<O> {
    fn default() -> Self {
        Self {
            table: None,
            listener: None,
            action: None,
            action_slot: 0,
            method: MethodKind::Get,
            client_minor: 1,
            upgrade: false,
            body: Body::Done,
            sent: Vec::new(),
            held: Tally::default(),
            replayable: true,
            any_sent: false,
            up: None,
            endpoint: None,
            set: 0,
            tries: 0,
            tried: Vec::new(),
            refused: None,
            try_started_ms: 0,
            answering: false,
            status: 0,
            answer: Body::Done,
            coding: Coding::Same,
            flow: Flow::default(),
            close: false,
            reused: false,
            keep_up: false,
            started_us: 0,
            upstream_us: 0,
            progress_ms: 0,
            head_bytes: (0, 0),
            bytes_in: 0,
            bytes_out: 0,
            names: None,
            texts: None,
        }
    }
}

impl<O: Os> Exchange<O> {
    /// Makes a used exchange fresh; its buffers keep their memory up to 16 kB.
    pub fn reset(&mut self) {
        let mut sent = std::mem::take(&mut self.sent);
        let mut tried = std::mem::take(&mut self.tried);
        sent.clear();
        sent.shrink_to(16 * 1024);
        tried.clear();
        let mut held = std::mem::take(&mut self.held);
        held.set(sent.capacity());
        *self = Self { sent, held, tried, ..Self::default() };
    }

    pub fn head_request(&self) -> bool {
        self.method == MethodKind::Head
    }

    /// Whether the whole request could be sent again.
    pub fn hold(&self) -> Hold {
        let left = match self.body {
            Body::Done => Some(0),
            Body::Length(left) => Some(left),
            Body::Chunked(_) | Body::UntilClose => None,
        };
        Hold::of(self.sent.len(), left)
    }

    /// Keeps request bytes for another try while they are few.
    pub fn remember(&mut self, bytes: &[u8]) {
        if self.replayable && self.sent.len() + bytes.len() <= REPLAY_BYTES {
            self.sent.extend_from_slice(bytes);
            self.tally();
        } else if self.replayable {
            self.let_go();
        }
    }

    /// Puts what `sent` owns on the worker's account; to be called when it may have grown.
    pub fn tally(&mut self) {
        self.held.set(self.sent.capacity());
    }

    /// Gives up what is kept for another try.
    pub fn let_go(&mut self) {
        self.replayable = false;
        self.sent = Vec::new();
        self.tally();
    }
}
