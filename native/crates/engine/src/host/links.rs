//! The thread that owns the primary's ends of all channels, so that no send ever blocks JavaScript.
//! What is sent and what an event leads to is decided in TypeScript (primary/). Serves the host.
//!
//! Commands come in through a queue and an eventfd; each worker has its own backlog for when its channel is full, so
//! a stopped worker delays nobody else. Events go out through a sink that may refuse (a bounded queue into
//! JavaScript): they are kept and offered again, and nothing more is read from the channels meanwhile.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use super::event::{HostEvent, What};
use crate::sys::channel::{Channel, Message, Recv};
use crate::sys::epoll::{Event, Poller};
use crate::sys::proc::block_signals;

/// A message on its way to a worker; descriptors are shared with whoever keeps them.
#[derive(Debug, Clone, Default)]
pub struct Outgoing {
    pub kind: u32,
    pub arg: u32,
    pub value: u64,
    pub payload: Vec<u8>,
    pub fds: Vec<Arc<OwnedFd>>,
}

/// Takes an event; false: full, offer it again later. Must not block.
pub type Sink = Box<dyn FnMut(&HostEvent) -> bool + Send>;

/// The running thread. Dropping it sends what was ordered before as far as channels take it, and joins.
pub struct Links {
    inbox: Arc<Inbox>,
    thread: Option<JoinHandle<()>>,
}

struct Inbox {
    commands: Mutex<VecDeque<Command>>,
    bell: OwnedFd,
}

enum Command {
    Open(u32, Channel),
    Close(u32),
    Send(u32, Outgoing),
    Watch(u32, u32, OwnedFd),
    Report(HostEvent),
    Stop,
}

impl Links {
    /// Starts the thread.
    ///
    /// # Errors  EMFILE, or those of pthread_create(3).
    pub fn start(sink: Sink) -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let inbox = Arc::new(Inbox { commands: Mutex::default(), bell });
        let (started, answer) = std::sync::mpsc::sync_channel(1);
        let thread = std::thread::Builder::new().name("weirgate-host".to_string()).spawn({
            let inbox = inbox.clone();
            move || {
                block_signals();
                // The poller cannot change threads, so it is made here and its failure told.
                match Courier::new(inbox, sink) {
                    Ok(mut courier) => {
                        let _ = started.send(Ok(()));
                        courier.run();
                    }
                    Err(error) => {
                        let _ = started.send(Err(error));
                    }
                }
            }
        })?;
        answer.recv().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))?;
        Ok(Self { inbox, thread: Some(thread) })
    }

    /// Gives the primary's end of a worker's channel to the thread.
    pub fn open(&self, worker: u32, channel: Channel) {
        self.order(Command::Open(worker, channel));
    }

    /// Closes a worker's channel after what was ordered before; no `Gone` follows.
    pub fn close(&self, worker: u32) {
        self.order(Command::Close(worker));
    }

    /// Sends a message, in order with all others to this worker. Without a channel it is dropped: the worker is gone.
    pub fn send(&self, worker: u32, message: Outgoing) {
        self.order(Command::Send(worker, message));
    }

    /// Reports `Fenced` once the process behind the pidfd has ended.
    pub fn watch(&self, worker: u32, pid: u32, pidfd: OwnedFd) {
        self.order(Command::Watch(worker, pid, pidfd));
    }

    /// Delivers an event of the host itself in order with those of the workers.
    pub fn report(&self, event: HostEvent) {
        self.order(Command::Report(event));
    }

    fn order(&self, command: Command) {
        self.inbox.lock().push_back(command);
        // An eventfd can only be full after 2⁶⁴ − 2 unread rings; it wakes the thread even then.
        let _ = rustix::io::write(&self.inbox.bell, &1u64.to_ne_bytes());
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        self.order(Command::Stop);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed by its hook; there is nobody left to tell.
            let _ = thread.join();
        }
    }
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Command>> {
        // The queue is whole whatever happened to another holder: push and take cannot stop half-way.
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const BELL: u64 = u64::MAX;
/// Tokens of pidfds, above all worker numbers.
const PIDFD: u64 = 1 << 32;
/// Events kept while JavaScript does not take them; then the channels wait.
const MAX_UNREAD: usize = 1024;
/// Messages that wait for one worker; the primary fences a silent worker after 5 s, long before.
const MAX_BACKLOG: usize = 1 << 16;
/// Until refused events or descriptors are offered again, in ms.
const RETRY_MS: u64 = 5;
/// Longest sleep; every reason to wake has a descriptor, this only bounds the harm of a lost one.
const IDLE_MS: u64 = 60_000;

struct Link {
    channel: Channel,
    backlog: VecDeque<Outgoing>,
    /// ETOOMANYREFS: no readiness will tell when it is over.
    retry: bool,
    /// Something may be readable.
    readable: bool,
}

struct Courier {
    inbox: Arc<Inbox>,
    poller: Poller,
    links: BTreeMap<u32, Link>,
    watched: BTreeMap<u32, (u32, OwnedFd)>,
    unread: VecDeque<HostEvent>,
    sink: Sink,
}

impl Courier {
    fn new(inbox: Arc<Inbox>, sink: Sink) -> io::Result<Self> {
        let poller = Poller::new()?;
        poller.add_level(&inbox.bell, BELL)?;
        Ok(Self { inbox, poller, links: BTreeMap::new(), watched: BTreeMap::new(), unread: VecDeque::new(), sink })
    }

    fn run(&mut self) {
        let mut ready: Vec<Event> = Vec::new();
        let mut message = Message::default();
        loop {
            ready.clear();
            if self.poller.wait(self.sleep_ms(), &mut ready).is_err() {
                return;
            }
            for event in &ready {
                self.note(event);
            }
            if self.obey() {
                return;
            }
            self.flush_all();
            self.read_all(&mut message);
            self.deliver();
        }
    }

    fn sleep_ms(&self) -> u64 {
        if !self.unread.is_empty() || self.links.values().any(|link| link.retry) {
            RETRY_MS
        } else if self.links.values().any(|link| link.readable) {
            // Reading stopped because too many events were kept; they are gone now.
            0
        } else {
            IDLE_MS
        }
    }

    fn note(&mut self, event: &Event) {
        if event.token == BELL {
            let _ = rustix::io::read(&self.inbox.bell, &mut [0u8; 8]);
        } else if event.token >= PIDFD {
            // A pidfd is readable once its process has ended. Cast: what was added to PIDFD is a worker's number.
            let worker = (event.token - PIDFD) as u32;
            if let Some((pid, pidfd)) = self.watched.remove(&worker) {
                let _ = self.poller.remove(&pidfd);
                self.unread.push_back(HostEvent { worker, what: What::Fenced { pid } });
            }
        } else if let Some(link) = self.links.get_mut(&(event.token as u32)) {
            link.readable |= event.readable || event.read_hangup || event.broken;
        }
    }

    /// Carries out what was ordered; true: stop.
    fn obey(&mut self) -> bool {
        let commands = std::mem::take(&mut *self.inbox.lock());
        for command in commands {
            match command {
                Command::Open(worker, channel) => self.open(worker, channel),
                Command::Close(worker) => {
                    self.flush(worker);
                    self.close(worker);
                }
                Command::Send(worker, message) => self.queue(worker, message),
                Command::Watch(worker, pid, pidfd) => self.watch(worker, pid, pidfd),
                Command::Report(event) => self.unread.push_back(event),
                Command::Stop => {
                    self.flush_all();
                    return true;
                }
            }
        }
        false
    }

    fn open(&mut self, worker: u32, channel: Channel) {
        self.close(worker);
        // Edge-triggered both ways: one registration for life.
        match self.poller.add_edge(&channel, u64::from(worker)) {
            Ok(()) => {
                let link = Link { channel, backlog: VecDeque::new(), retry: false, readable: true };
                self.links.insert(worker, link);
            }
            Err(error) => self.gone(worker, io::Error::from(error).to_string()),
        }
    }

    fn close(&mut self, worker: u32) {
        if let Some(link) = self.links.remove(&worker) {
            let _ = self.poller.remove(&link.channel);
        }
    }

    fn watch(&mut self, worker: u32, pid: u32, pidfd: OwnedFd) {
        if let Some((_, old)) = self.watched.remove(&worker) {
            let _ = self.poller.remove(&old);
        }
        match self.poller.add_level(&pidfd, PIDFD + u64::from(worker)) {
            Ok(()) => {
                self.watched.insert(worker, (pid, pidfd));
            }
            // Without a watch nobody would ever hear of the end; ENOMEM and ENOSPC are all that can be.
            Err(_) => self.unread.push_back(HostEvent { worker, what: What::Fenced { pid } }),
        }
    }

    fn queue(&mut self, worker: u32, message: Outgoing) {
        let Some(link) = self.links.get_mut(&worker) else { return };
        link.backlog.push_back(message);
        if link.backlog.len() > MAX_BACKLOG {
            self.gone(worker, format!("{MAX_BACKLOG} messages wait on the channel"));
        }
    }

    fn gone(&mut self, worker: u32, text: String) {
        self.close(worker);
        self.unread.push_back(HostEvent { worker, what: What::Gone { text } });
    }

    fn flush_all(&mut self) {
        let waiting: Vec<u32> =
            self.links.iter().filter(|(_, link)| !link.backlog.is_empty()).map(|(&worker, _)| worker).collect();
        for worker in waiting {
            self.flush(worker);
        }
    }

    /// Sends as much as the channel takes. A peer that is gone is noticed by reading, which also yields its last words.
    fn flush(&mut self, worker: u32) {
        let Some(link) = self.links.get_mut(&worker) else { return };
        link.retry = false;
        while let Some(next) = link.backlog.front() {
            let fds: Vec<BorrowedFd<'_>> = next.fds.iter().map(|fd| fd.as_fd()).collect();
            match link.channel.send(next.kind, next.arg, next.value, &next.payload, &fds) {
                Ok(true) => {
                    link.backlog.pop_front();
                }
                Ok(false) => return,
                Err(error) if error.raw_os_error() == Some(Errno::TOOMANYREFS.raw_os_error()) => {
                    link.retry = true;
                    return;
                }
                Err(_) => {
                    link.backlog.clear();
                    link.readable = true;
                    return;
                }
            }
        }
    }

    fn read_all(&mut self, message: &mut Message) {
        let readable: Vec<u32> =
            self.links.iter().filter(|(_, link)| link.readable).map(|(&worker, _)| worker).collect();
        for worker in readable {
            while self.unread.len() < MAX_UNREAD {
                let Some(link) = self.links.get_mut(&worker) else { break };
                match link.channel.recv(message) {
                    Ok(Recv::Message) => match What::read(message) {
                        Some(what) => self.unread.push_back(HostEvent { worker, what }),
                        None => self.gone(worker, format!("message of unknown kind {} on the channel", message.kind)),
                    },
                    Ok(Recv::Empty) => {
                        link.readable = false;
                        break;
                    }
                    Ok(Recv::Closed) => self.gone(worker, String::new()),
                    Err(error) => self.gone(worker, error.to_string()),
                }
            }
        }
    }

    fn deliver(&mut self) {
        while let Some(event) = self.unread.front() {
            if !(self.sink)(event) {
                return;
            }
            self.unread.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::protocol;
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    fn start() -> (Links, Receiver<HostEvent>) {
        let (sender, receiver) = channel();
        (Links::start(Box::new(move |event| sender.send(event.clone()).is_ok())).unwrap(), receiver)
    }

    fn link(links: &Links, worker: u32) -> Channel {
        let (ours, theirs) = Channel::pair().unwrap();
        links.open(worker, ours);
        Channel::from_fd(theirs).unwrap()
    }

    fn next(events: &Receiver<HostEvent>) -> HostEvent {
        events.recv_timeout(Duration::from_secs(20)).unwrap()
    }

    fn recv(channel: &Channel, message: &mut Message) -> Recv {
        let mut poll = [rustix::event::PollFd::new(channel, rustix::event::PollFlags::IN)];
        let limit = rustix::fs::Timespec { tv_sec: 20, tv_nsec: 0 };
        assert_eq!(rustix::event::poll(&mut poll, Some(&limit)).unwrap(), 1, "nothing came");
        channel.recv(message).unwrap()
    }

    #[test]
    fn what_workers_say_becomes_events_and_the_end_of_one_is_told_after_its_last_words() {
        let (links, events) = start();
        let (one, two) = (link(&links, 1), link(&links, 2));
        one.send(protocol::READY, 0, 0, &[], &[]).unwrap();
        assert_eq!(next(&events), HostEvent { worker: 1, what: What::Ready });
        two.send(protocol::LISTENING, 7, 4, &[], &[]).unwrap();
        assert_eq!(next(&events), HostEvent { worker: 2, what: What::Listening { socket_id: 7, members: 4 } });
        one.send(protocol::REFUSED, 0, 9, b"why", &[]).unwrap();
        one.send(protocol::PANIC, 0, 0, b"boom", &[]).unwrap();
        drop(one);
        let refused = What::Refused { generation: 9, text: "why".to_string() };
        assert_eq!(next(&events), HostEvent { worker: 1, what: refused });
        assert_eq!(next(&events), HostEvent { worker: 1, what: What::Panic { text: "boom".to_string() } });
        assert_eq!(next(&events), HostEvent { worker: 1, what: What::Gone { text: String::new() } });
        links.send(1, Outgoing { kind: protocol::STOP, ..Outgoing::default() });
        two.send(protocol::ACK, 0, 3, &[], &[]).unwrap();
        assert_eq!(next(&events), HostEvent { worker: 2, what: What::Ack { generation: 3 } });
    }

    #[test]
    fn a_worker_that_does_not_read_delays_nobody_and_misses_nothing() {
        let (links, _events) = start();
        let (asleep, awake) = (link(&links, 1), link(&links, 2));
        for n in 0..5000 {
            let message = Outgoing { kind: 2, value: n, payload: vec![0; 200], ..Outgoing::default() };
            links.send(1, message.clone());
            links.send(2, message);
        }
        let mut message = Message::default();
        for channel in [&awake, &asleep] {
            for n in 0..5000 {
                assert_eq!(recv(channel, &mut message), Recv::Message);
                assert_eq!(message.value, n);
            }
        }
    }

    #[test]
    fn more_descriptors_than_may_be_on_their_way_still_arrive() {
        let (links, _events) = start();
        let worker = link(&links, 1);
        let fd = Arc::new(crate::sys::memory::create_region("wg-test", 4096).unwrap());
        for n in 0..100 {
            links.send(1, Outgoing { kind: 3, value: n, fds: vec![fd.clone(); 200], ..Outgoing::default() });
        }
        let mut message = Message::default();
        for n in 0..100 {
            assert_eq!(recv(&worker, &mut message), Recv::Message);
            assert_eq!((message.value, message.fds.len()), (n, 200));
        }
    }

    #[test]
    fn events_that_are_not_taken_are_offered_again_in_order() {
        let (sender, receiver) = channel();
        let mut offers = 0;
        let links = Links::start(Box::new(move |event| {
            offers += 1;
            offers % 3 == 0 && sender.send(event.clone()).is_ok()
        }))
        .unwrap();
        let worker = link(&links, 1);
        for generation in 0..50 {
            while !worker.send(protocol::ACK, 0, generation, &[], &[]).unwrap() {
                std::thread::yield_now();
            }
        }
        for generation in 0..50 {
            assert_eq!(next(&receiver).what, What::Ack { generation });
        }
    }

    #[test]
    fn a_worker_that_talks_nonsense_is_cut_off() {
        let (links, events) = start();
        let worker = link(&links, 1);
        worker.send(77, 0, 0, &[], &[]).unwrap();
        let text = "message of unknown kind 77 on the channel".to_string();
        assert_eq!(next(&events), HostEvent { worker: 1, what: What::Gone { text } });
        assert_eq!(recv(&worker, &mut Message::default()), Recv::Closed);
    }

    #[test]
    fn a_close_comes_after_what_was_sent_before_and_a_stop_after_both() {
        let (links, events) = start();
        let (one, two) = (link(&links, 1), link(&links, 2));
        links.send(1, Outgoing { kind: protocol::STOP, ..Outgoing::default() });
        links.close(1);
        links.send(2, Outgoing { kind: protocol::DRAIN, ..Outgoing::default() });
        drop(links);
        let mut message = Message::default();
        for (channel, kind) in [(one, protocol::STOP), (two, protocol::DRAIN)] {
            assert_eq!((recv(&channel, &mut message), message.kind), (Recv::Message, kind));
            assert_eq!(recv(&channel, &mut message), Recv::Closed);
        }
        assert!(events.try_recv().is_err(), "a closed channel is not reported as gone");
    }

    #[test]
    fn the_end_of_a_killed_process_is_reported() {
        let (links, events) = start();
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let pidfd = crate::sys::proc::kill_child(child.id()).unwrap().unwrap();
        links.watch(4, child.id(), pidfd);
        assert_eq!(next(&events), HostEvent { worker: 4, what: What::Fenced { pid: child.id() } });
        child.wait().unwrap();
    }
}
