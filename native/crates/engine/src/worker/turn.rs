//! One turn of the loop.

use super::accept::Listeners;
use super::core::{Core, Kind, Token};
use super::http::Http;
use super::os::Os;

use super::tcp::Sessions;
use crate::sys::epoll::Event;
use session::CloseReason;

/// The heartbeat that the primary watches is at most this old while the loop runs, idle or not.
const HEARTBEAT_MS: u64 = 200;
const SWEEP_MS: u64 = 1_000;
/// How often a worker whose byte budget is nearly used up looks for connections to end.
const RELIEF_MS: u64 = 100;

pub struct Loop<O: Os> {
    pub core: Core<O>,
    pub http: Http<O>,
    pub sessions: Sessions<O>,
    pub listeners: Listeners<O>,
    events: Vec<Event>,
    due: Vec<(u64, Token)>,
    beat_at_ms: u64,
    sweep_at_ms: u64,
    relief_at_ms: u64,
}

/// What a turn found that is not traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct News {
    pub channel: bool,
    pub loader: bool,
}

impl<O: Os> Loop<O> {
    pub fn new(core: Core<O>, descriptor_limit: usize) -> Self {
        Self {
            core,
            http: Http::default(),
            sessions: Sessions::default(),
            listeners: Listeners::new(descriptor_limit),
            events: Vec::with_capacity(512),
            due: Vec::new(),
            beat_at_ms: 0,
            sweep_at_ms: 0,
            relief_at_ms: 0,
        }
    }

    /// Connections of clients.
    pub fn connections(&self) -> usize {
        self.http.len() + self.sessions.len()
    }

    /// Waits for events (not at all while somebody waits for a turn) and serves everybody who is ready once.
    pub fn turn(&mut self) -> Result<News, rustix::io::Errno> {
        let mut news = News::default();
        let mut events = std::mem::take(&mut self.events);
        events.clear();
        let timeout = self.timeout();
        self.core.os.wait(timeout, &mut events)?;
        self.core.read_clock();
        self.core.begin_turn();
        self.beat();
        self.core.shared.counters.engine(table::counters::engine::TURNS, 1);
        for event in &events {
            let Some(token) = Token::unpack(event.token) else { continue };
            match token.kind {
                Kind::Channel => news.channel = true,
                Kind::Loader => news.loader = true,
                Kind::Listener => self.listeners.accept(&mut self.core, &mut self.http, &mut self.sessions, token.key),
                Kind::Down | Kind::Up | Kind::Client | Kind::Server => self.note(token, event),
            }
        }
        self.events = events;
        // Whoever comes to the queue meanwhile has its turn after the next look at the events.
        for _ in 0..self.core.queue.len() {
            let Some(token) = self.core.queue.pop_front() else { break };
            self.serve(token);
        }
        self.expire();
        if self.core.now_ms >= self.sweep_at_ms {
            self.sweep_at_ms = self.core.now_ms + SWEEP_MS;
            self.http.sweep(&mut self.core);
        }
        if self.core.now_ms >= self.relief_at_ms {
            self.relief_at_ms = self.core.now_ms + RELIEF_MS;
            self.relieve();
        }
        if self.listeners.is_paused() {
            self.listeners.resume(&mut self.core, &self.http, &self.sessions);
        }
        Ok(news)
    }

    fn note(&mut self, token: Token, event: &Event) {
        let link = match token.kind {
            Kind::Down | Kind::Up => self.http.link(token),
            _ => self.sessions.link(token),
        };
        if let Some(link) = link {
            link.note(event);
            if !link.queued {
                link.queued = true;
                self.core.queue.push_back(token);
            }
        }
    }

    fn serve(&mut self, token: Token) {
        match token.kind {
            Kind::Down | Kind::Up => {
                let Some(link) = self.http.link(token) else { return };
                link.queued = false;
                self.http.drive(&mut self.core, &mut self.sessions, token);
            }
            Kind::Client | Kind::Server => {
                let Some(link) = self.sessions.link(token) else { return };
                link.queued = false;
                self.sessions.drive(&mut self.core, token);
            }
            Kind::Listener | Kind::Channel | Kind::Loader => {}
        }
    }

    fn expire(&mut self) {
        let mut due = std::mem::take(&mut self.due);
        self.core.wheel.expire(self.core.now_ms, &mut due);
        for (at, token) in due.drain(..) {
            match token.kind {
                Kind::Down => self.http.expire(&mut self.core, token.key, at),
                Kind::Client => self.sessions.expire(&mut self.core, token.key, at),
                Kind::Up | Kind::Server | Kind::Listener | Kind::Channel | Kind::Loader => {}
            }
        }
        self.due = due;
    }

    fn timeout(&self) -> u64 {
        if !self.core.queue.is_empty() {
            return 0;
        }
        let now_ms = self.core.now_ms;
        let beat = self.beat_at_ms.saturating_sub(now_ms).min(HEARTBEAT_MS);
        let timer = self.core.wheel.next_in(now_ms).unwrap_or(beat);
        beat.min(timer).min(self.listeners.retry_in(now_ms).unwrap_or(beat))
    }

    fn beat(&mut self) {
        let core = &mut self.core;
        core.shared.control.set_epoch(core.shared.endpoints.epoch());
        if core.now_ms < self.beat_at_ms {
            return;
        }
        self.beat_at_ms = core.now_ms + HEARTBEAT_MS;
        let fallbacks = std::mem::take(&mut core.pipes.refused);
        core.shared.control.set_heartbeat(core.now_ms);
        let oldest = core.oldest_generation();
        core.shared.control.set_oldest_generation(oldest);
        core.shared.control.set_connections((self.http.len() + self.sessions.len()) as u32);
        core.shared.control.set_requests_inflight((self.http.upstream() - self.http.idle_upstream()) as u32);
        if fallbacks > 0 {
            core.shared.control.add_pipe_fallbacks(fallbacks);
            core.shared.counters.engine(table::counters::engine::PIPE_FALLBACKS, fallbacks);
        }
        self.http.watch_late(core);
    }

    /// Takes nothing new from now on; what runs may finish.
    pub fn drain(&mut self) {
        self.core.draining = true;
        self.listeners.remove_all(&mut self.core);
        self.http.drain(&mut self.core);
    }

    /// Ends everything that still runs.
    pub fn close_all(&mut self) {
        self.http.close_all(&mut self.core);
        for key in self.sessions.keys() {
            self.sessions.close(&mut self.core, key, CloseReason::WorkerStopping, true);
        }
    }
}
