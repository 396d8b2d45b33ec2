//! The simulated kernel: stream sockets in pairs, listening queues, pipes with slots, and edge-triggered epoll.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::rc::Rc;

use rustix::io::Errno;

use super::super::os::Os;
use super::random::Random;
use crate::sys::epoll::Event;

/// Bytes one direction of a connection can hold: tiny ones block often, large ones use budgets up. Drawn for each run.
const SOCKET_BYTES: [usize; 3] = [3_000, 24 * 1024, 2_000_000];
/// Segments a pipe can hold, whatever their size.
const PIPE_SLOTS: usize = 16;

#[derive(Default)]
struct Side {
    /// Segments on their way to the reader of this side.
    segments: VecDeque<Vec<u8>>,
    /// The other side has shut down its writing (or closed).
    ended: bool,
    reset: bool,
    closed: bool,
    shut: bool,
    linger_zero: bool,
    peer: Option<u32>,
    connecting: Option<Result<(), Errno>>,
    /// epoll: token, and whether an edge is pending.
    token: Option<u64>,
    edge: bool,
    /// A writer met a full buffer: room makes an edge.
    starved: bool,
}

impl Side {
    fn held(&self) -> usize {
        self.segments.iter().map(Vec::len).sum()
    }
}

pub struct Net {
    pub random: Random,
    socket_bytes: usize,
    pub now_us: u64,
    sides: BTreeMap<u32, Side>,
    next: u32,
    /// Sockets waiting to be accepted, by listener.
    queues: BTreeMap<u32, VecDeque<u32>>,
    listener_tokens: BTreeMap<u32, u64>,
    /// Endpoint connections waiting for the backends, with the address that was dialled.
    pub dialled: VecDeque<(u32, SocketAddr)>,
    /// Addresses that refuse.
    pub refusing: Vec<SocketAddr>,
}

pub type Shared = Rc<RefCell<Net>>;

pub fn network(seed: u64) -> Shared {
    Rc::new(RefCell::new(Net {
        random: Random::new(seed),
        socket_bytes: SOCKET_BYTES[(seed % 3) as usize],
        now_us: 1_000_000_000,
        sides: BTreeMap::new(),
        next: 1,
        queues: BTreeMap::new(),
        listener_tokens: BTreeMap::new(),
        dialled: VecDeque::new(),
        refusing: Vec::new(),
    }))
}

impl Net {
    fn pair(&mut self) -> (u32, u32) {
        let (a, b) = (self.next, self.next + 1);
        self.next += 2;
        self.sides.insert(a, Side { peer: Some(b), ..Side::default() });
        self.sides.insert(b, Side { peer: Some(a), ..Side::default() });
        (a, b)
    }

    /// A client connects: its side is returned, the other one waits to be accepted.
    pub fn dial(&mut self, listener: u32) -> u32 {
        let (client, server) = self.pair();
        self.queues.entry(listener).or_default().push_back(server);
        client
    }

    fn side(&mut self, id: u32) -> &mut Side {
        self.sides.entry(id).or_default()
    }

    fn edge(&mut self, id: u32) {
        let side = self.side(id);
        side.edge = side.token.is_some();
    }

    pub fn write(&mut self, id: u32, bytes: &[u8]) -> Result<usize, Errno> {
        let side = self.side(id);
        if side.reset {
            return Err(Errno::CONNRESET);
        }
        if side.connecting.is_some() {
            return Err(Errno::AGAIN);
        }
        let Some(peer) = side.peer else { return Err(Errno::PIPE) };
        if side.shut {
            return Err(Errno::PIPE);
        }
        if self.side(peer).closed {
            // Bytes for a closed socket are answered by a reset.
            self.side(id).reset = true;
            self.edge(id);
            return Ok(bytes.len());
        }
        let room = self.socket_bytes.saturating_sub(self.side(peer).held());
        let n = room.min(bytes.len());
        if n < bytes.len() {
            self.side(id).starved = true;
        }
        if n == 0 {
            return Err(Errno::AGAIN);
        }
        // One write may travel as several segments.
        let cut = 1 + self.random.below(n);
        for piece in [&bytes[..cut], &bytes[cut..n]] {
            if !piece.is_empty() {
                self.side(peer).segments.push_back(piece.to_vec());
            }
        }
        self.edge(peer);
        Ok(n)
    }

    /// Takes up to `most` bytes, from at most `segments` segments.
    fn take(&mut self, id: u32, most: usize, segments: usize) -> Result<Vec<u8>, Errno> {
        let side = self.side(id);
        if most == 0 {
            return Ok(Vec::new());
        }
        if side.segments.is_empty() {
            return match (side.reset, side.ended) {
                (true, _) => Err(Errno::CONNRESET),
                (_, true) => Ok(Vec::new()),
                _ => Err(Errno::AGAIN),
            };
        }
        let mut out = Vec::new();
        for _ in 0..segments {
            let Some(mut segment) = side.segments.pop_front() else { break };
            let n = segment.len().min(most - out.len());
            out.extend_from_slice(&segment[..n]);
            if n < segment.len() {
                segment.drain(..n);
                side.segments.push_front(segment);
                break;
            }
        }
        if let Some(peer) = side.peer
            && self.side(peer).starved
        {
            self.side(peer).starved = false;
            self.edge(peer);
        }
        Ok(out)
    }

    pub fn read(&mut self, id: u32, most: usize) -> Result<Vec<u8>, Errno> {
        self.take(id, most, usize::MAX)
    }

    pub fn shutdown(&mut self, id: u32) {
        let side = self.side(id);
        if side.shut || side.closed {
            return;
        }
        side.shut = true;
        if let Some(peer) = side.peer {
            self.side(peer).ended = true;
            self.edge(peer);
        }
    }

    pub fn close(&mut self, id: u32) {
        let side = self.side(id);
        if side.closed {
            return;
        }
        // Unread bytes, or SO_LINGER 0, turn the close into a reset.
        let hard = side.linger_zero || !side.segments.is_empty();
        side.closed = true;
        side.token = None;
        side.segments.clear();
        if let Some(peer) = side.peer {
            let peer_side = self.side(peer);
            peer_side.ended = true;
            peer_side.reset |= hard;
            self.edge(peer);
        }
    }

    /// Lets the dialled connections be established or refused. `true`: one was.
    pub fn establish(&mut self) -> Option<u32> {
        let (id, address) = self.dialled.pop_front()?;
        let refused = self.refusing.contains(&address);
        if self.side(id).closed {
            return None;
        }
        self.side(id).connecting = refused.then_some(Err(Errno::CONNREFUSED));
        if refused {
            self.side(id).reset = true;
        }
        self.edge(id);
        if refused { None } else { self.side(id).peer }
    }
}

/// A socket of the engine: closing is dropping.
pub struct Sock {
    id: u32,
    net: Shared,
}

impl Drop for Sock {
    fn drop(&mut self) {
        self.net.borrow_mut().close(self.id);
    }
}

#[derive(Default)]
pub struct Pipe {
    segments: RefCell<VecDeque<Vec<u8>>>,
}

/// The kernel as the engine sees it.
pub struct Simulated(pub Shared);

impl Os for Simulated {
    type Sock = Sock;
    type Listener = u32;
    type Pipe = Pipe;

    fn now_us(&mut self) -> u64 {
        self.0.borrow().now_us
    }

    fn unix_ms(&mut self) -> u64 {
        self.0.borrow().now_us / 1000
    }

    fn wait(&mut self, timeout_ms: u64, out: &mut Vec<Event>) -> Result<(), Errno> {
        let net = &mut *self.0.borrow_mut();
        let mut ready: Vec<u32> = net.sides.iter().filter(|(_, s)| s.edge).map(|(id, _)| *id).collect();
        if ready.is_empty() && !net.queues.values().any(|q| !q.is_empty()) {
            net.now_us += timeout_ms.min(20) * 1000;
        }
        net.now_us += 7;
        // Events come in any order, and not all at once.
        while !ready.is_empty() {
            let at = net.random.below(ready.len());
            let id = ready.swap_remove(at);
            if net.random.chance(20) {
                continue;
            }
            let room = match net.sides.get(&id).and_then(|s| s.peer).and_then(|p| net.sides.get(&p)) {
                Some(peer) => peer.closed || peer.held() < net.socket_bytes,
                None => true,
            };
            let side = net.side(id);
            side.edge = false;
            let Some(token) = side.token else { continue };
            if side.connecting == Some(Ok(())) {
                continue;
            }
            out.push(Event {
                token,
                readable: !side.segments.is_empty() || side.ended || side.reset,
                writable: room,
                read_hangup: side.ended || side.reset,
                broken: side.reset || (side.ended && side.shut),
            });
        }
        let waiting: Vec<u64> = net
            .listener_tokens
            .iter()
            .filter(|(id, _)| net.queues.get(id).is_some_and(|q| !q.is_empty()))
            .map(|(_, token)| *token)
            .collect();
        for token in waiting {
            out.push(Event { token, readable: true, writable: false, read_hangup: false, broken: false });
        }
        Ok(())
    }

    fn watch(&mut self, sock: &Sock, token: u64) -> Result<(), Errno> {
        let net = &mut *self.0.borrow_mut();
        net.side(sock.id).token = Some(token);
        // Registration reports what is ready already.
        net.side(sock.id).edge = true;
        Ok(())
    }

    fn watch_as(&mut self, sock: &Sock, token: u64) -> Result<(), Errno> {
        self.watch(sock, token)
    }

    fn watch_listener(&mut self, listener: &u32, token: u64) -> Result<(), Errno> {
        self.0.borrow_mut().listener_tokens.insert(*listener, token);
        Ok(())
    }

    fn unwatch_listener(&mut self, listener: &u32) -> Result<(), Errno> {
        self.0.borrow_mut().listener_tokens.remove(listener);
        Ok(())
    }

    fn accept(&mut self, listener: &u32) -> Result<(Sock, SocketAddr), Errno> {
        let id = self.0.borrow_mut().queues.get_mut(listener).and_then(VecDeque::pop_front).ok_or(Errno::AGAIN)?;
        Ok((Sock { id, net: self.0.clone() }, SocketAddr::from(([127, 0, 0, 1], 40_000))))
    }

    fn connect(&mut self, to: SocketAddr) -> Result<(Sock, bool), Errno> {
        let net = &mut *self.0.borrow_mut();
        let (ours, _) = net.pair();
        net.side(ours).connecting = Some(Ok(()));
        net.dialled.push_back((ours, to));
        Ok((Sock { id: ours, net: self.0.clone() }, false))
    }

    fn local(&mut self, _: &Sock) -> Option<SocketAddr> {
        None
    }

    fn take_error(&mut self, sock: &Sock) -> Result<(), Errno> {
        let net = &mut *self.0.borrow_mut();
        match net.side(sock.id).connecting.take() {
            Some(Err(error)) => Err(error),
            _ if net.side(sock.id).reset => Err(Errno::CONNRESET),
            _ => Ok(()),
        }
    }

    fn recv(&mut self, sock: &Sock, buffer: &mut [u8]) -> Result<usize, Errno> {
        let bytes = self.0.borrow_mut().read(sock.id, buffer.len())?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    fn peek(&mut self, sock: &Sock) -> Result<usize, Errno> {
        let net = &mut *self.0.borrow_mut();
        let side = net.side(sock.id);
        match (side.segments.is_empty(), side.reset, side.ended) {
            (false, _, _) => Ok(1),
            (_, true, _) => Err(Errno::CONNRESET),
            (_, _, true) => Ok(0),
            _ => Err(Errno::AGAIN),
        }
    }

    fn send(&mut self, sock: &Sock, bytes: &[u8]) -> Result<usize, Errno> {
        self.0.borrow_mut().write(sock.id, bytes)
    }

    fn send_two(&mut self, sock: &Sock, first: &[u8], second: &[u8]) -> Result<usize, Errno> {
        self.0.borrow_mut().write(sock.id, &[first, second].concat())
    }

    fn shutdown_write(&mut self, sock: &Sock) {
        self.0.borrow_mut().shutdown(sock.id);
    }

    fn reset_on_close(&mut self, sock: &Sock) {
        self.0.borrow_mut().side(sock.id).linger_zero = true;
    }

    fn pipe(&mut self) -> Result<Pipe, Errno> {
        if self.0.borrow_mut().random.chance(10) { Err(Errno::PERM) } else { Ok(Pipe::default()) }
    }

    fn fill(&mut self, pipe: &Pipe, from: &Sock, len: usize) -> Result<usize, Errno> {
        let mut segments = pipe.segments.borrow_mut();
        let slots = PIPE_SLOTS - segments.len();
        if slots == 0 {
            return Err(Errno::AGAIN);
        }
        let bytes = self.0.borrow_mut().take(from.id, len, slots)?;
        let n = bytes.len();
        if n > 0 {
            segments.push_back(bytes);
        }
        Ok(n)
    }

    fn drain(&mut self, pipe: &Pipe, to: &Sock, len: usize) -> Result<usize, Errno> {
        let mut segments = pipe.segments.borrow_mut();
        let Some(mut segment) = segments.pop_front() else { return Err(Errno::AGAIN) };
        let offer = segment.len().min(len);
        match self.0.borrow_mut().write(to.id, &segment[..offer]) {
            Ok(n) => {
                if n < segment.len() {
                    segment.drain(..n);
                    segments.push_front(segment);
                }
                Ok(n)
            }
            Err(error) => {
                segments.push_front(segment);
                Err(error)
            }
        }
    }
}
