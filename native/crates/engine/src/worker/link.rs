//! One side of a proxied connection: its socket and what is known about its readiness.

use rustix::io::Errno;
use session::pump::{Edge, Readiness};

use super::bytes::Bytes;
use super::os::Os;
use crate::sys::epoll::Event;

/// A socket with the readiness that edge-triggered epoll has reported and no EAGAIN has taken back.
pub struct Link<S> {
    pub sock: S,
    pub ready: Readiness,
    /// Known to epoll.
    pub watched: bool,
    /// In the run queue.
    pub queued: bool,
    /// Bytes accepted for sending that the kernel has not taken yet.
    pub out: Bytes,
}

impl<S> Link<S> {
    /// A fresh socket may be tried in both directions before epoll says anything.
    pub fn new(sock: S) -> Self {
        Self { sock, ready: Readiness::fresh(), watched: false, queued: false, out: Bytes::default() }
    }

    /// A socket whose connect is under way, or (`connected`) was over at once.
    pub fn connecting(sock: S, connected: bool) -> Self {
        let ready = Readiness { writable: connected, ..Readiness::connecting() };
        Self { ready, ..Self::new(sock) }
    }

    pub fn note(&mut self, event: &Event) {
        self.ready.note(Edge {
            readable: event.readable,
            writable: event.writable,
            read_hangup: event.read_hangup,
            broken: event.broken,
        });
    }

    /// Receives into `buffer`. `Ok(0)` is the peer's FIN; EAGAIN and a proven short read clear `readable`.
    pub fn recv<O: Os<Sock = S>>(&mut self, os: &mut O, buffer: &mut [u8]) -> Result<usize, Errno> {
        match os.recv(&self.sock, buffer) {
            Ok(n) => {
                self.ready.read(n, buffer.len());
                Ok(n)
            }
            Err(e) => {
                self.ready.read_blocked();
                Err(e)
            }
        }
    }

    /// Sends what is queued. `true`: nothing is left.
    pub fn flush<O: Os<Sock = S>>(&mut self, os: &mut O) -> Result<bool, Errno> {
        while !self.out.is_empty() {
            if !self.ready.writable {
                return Ok(false);
            }
            match os.send(&self.sock, self.out.as_slice()) {
                Ok(n) => self.out.consume(n),
                Err(Errno::AGAIN) => self.ready.write_blocked(),
                Err(e) => return Err(e),
            }
        }
        Ok(true)
    }

    /// Sends `bytes` behind what is queued; what the kernel does not take is kept.
    pub fn send<O: Os<Sock = S>>(&mut self, os: &mut O, bytes: &[u8]) -> Result<(), Errno> {
        let sent = self.try_send(os, bytes)?;
        if sent < bytes.len() {
            self.out.push(&bytes[sent..]);
        }
        Ok(())
    }

    /// Sends two pieces behind what is queued, by one call where possible.
    pub fn send_two<O: Os<Sock = S>>(&mut self, os: &mut O, first: &[u8], second: &[u8]) -> Result<(), Errno> {
        if second.is_empty() {
            return self.send(os, first);
        }
        let mut sent = 0;
        if self.out.is_empty() && self.ready.writable {
            match os.send_two(&self.sock, first, second) {
                Ok(n) => sent = n,
                Err(Errno::AGAIN) => self.ready.write_blocked(),
                Err(e) => return Err(e),
            }
            self.ready.wrote(sent, first.len() + second.len());
        }
        if sent < first.len() {
            self.out.push(&first[sent..]);
            self.out.push(second);
        } else if sent < first.len() + second.len() {
            self.out.push(&second[sent - first.len()..]);
        }
        Ok(())
    }

    fn try_send<O: Os<Sock = S>>(&mut self, os: &mut O, bytes: &[u8]) -> Result<usize, Errno> {
        if bytes.is_empty() || !self.out.is_empty() || !self.ready.writable {
            return Ok(0);
        }
        match os.send(&self.sock, bytes) {
            Ok(n) => {
                self.ready.wrote(n, bytes.len());
                Ok(n)
            }
            Err(Errno::AGAIN) => {
                self.ready.write_blocked();
                Ok(0)
            }
            Err(e) => Err(e),
        }
    }
}
