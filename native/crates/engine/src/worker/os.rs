//! What the loop asks of the operating system, as a trait: the real one calls `sys`, the simulation in the tests plays
//! kernel with short reads, full buffers and resets, so that the very code that serves traffic is what is tested.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use crate::sys::epoll::{Event, Poller};
use crate::sys::{pipe, socket};

/// All calls are non-blocking; `Errno::AGAIN` means "later". Dropping a socket closes it.
pub trait Os {
    type Sock;
    type Listener;
    type Pipe;

    /// Microseconds of CLOCK_MONOTONIC.
    fn now_us(&mut self) -> u64;
    /// Milliseconds since 1970, for the access log.
    fn unix_ms(&mut self) -> u64;

    fn wait(&mut self, timeout_ms: u64, out: &mut Vec<Event>) -> Result<(), Errno>;
    fn watch(&mut self, sock: &Self::Sock, token: u64) -> Result<(), Errno>;
    fn watch_as(&mut self, sock: &Self::Sock, token: u64) -> Result<(), Errno>;
    fn watch_listener(&mut self, listener: &Self::Listener, token: u64) -> Result<(), Errno>;
    fn unwatch_listener(&mut self, listener: &Self::Listener) -> Result<(), Errno>;

    fn accept(&mut self, listener: &Self::Listener) -> Result<(Self::Sock, SocketAddr), Errno>;
    /// Where the peer connected to.
    fn local(&mut self, sock: &Self::Sock) -> Option<SocketAddr>;
    /// `true`: already established.
    fn connect(&mut self, to: SocketAddr) -> Result<(Self::Sock, bool), Errno>;
    fn take_error(&mut self, sock: &Self::Sock) -> Result<(), Errno>;
    fn recv(&mut self, sock: &Self::Sock, buffer: &mut [u8]) -> Result<usize, Errno>;
    fn peek(&mut self, sock: &Self::Sock) -> Result<usize, Errno>;
    fn send(&mut self, sock: &Self::Sock, bytes: &[u8]) -> Result<usize, Errno>;
    fn send_two(&mut self, sock: &Self::Sock, first: &[u8], second: &[u8]) -> Result<usize, Errno>;
    fn shutdown_write(&mut self, sock: &Self::Sock);
    fn reset_on_close(&mut self, sock: &Self::Sock);

    fn pipe(&mut self) -> Result<Self::Pipe, Errno>;
    fn fill(&mut self, pipe: &Self::Pipe, from: &Self::Sock, len: usize) -> Result<usize, Errno>;
    fn drain(&mut self, pipe: &Self::Pipe, to: &Self::Sock, len: usize) -> Result<usize, Errno>;
}

/// The kernel.
pub struct Linux {
    pub poller: Poller,
}

impl Os for Linux {
    type Sock = OwnedFd;
    type Listener = OwnedFd;
    type Pipe = pipe::Pipe;

    fn now_us(&mut self) -> u64 {
        let t = clock_gettime(ClockId::Monotonic);
        t.tv_sec as u64 * 1_000_000 + t.tv_nsec as u64 / 1000
    }

    fn unix_ms(&mut self) -> u64 {
        let t = clock_gettime(ClockId::RealtimeCoarse);
        t.tv_sec as u64 * 1000 + t.tv_nsec as u64 / 1_000_000
    }

    fn wait(&mut self, timeout_ms: u64, out: &mut Vec<Event>) -> Result<(), Errno> {
        self.poller.wait(timeout_ms, out)
    }

    fn watch(&mut self, sock: &OwnedFd, token: u64) -> Result<(), Errno> {
        self.poller.add_edge(sock, token)
    }

    fn watch_as(&mut self, sock: &OwnedFd, token: u64) -> Result<(), Errno> {
        self.poller.change_edge(sock, token)
    }

    fn watch_listener(&mut self, listener: &OwnedFd, token: u64) -> Result<(), Errno> {
        self.poller.add_level(listener, token)
    }

    fn unwatch_listener(&mut self, listener: &OwnedFd) -> Result<(), Errno> {
        self.poller.remove(listener)
    }

    fn accept(&mut self, listener: &OwnedFd) -> Result<(OwnedFd, SocketAddr), Errno> {
        socket::accept(listener)
    }

    fn local(&mut self, sock: &OwnedFd) -> Option<SocketAddr> {
        socket::local(sock)
    }

    fn connect(&mut self, to: SocketAddr) -> Result<(OwnedFd, bool), Errno> {
        socket::connect(to)
    }

    fn take_error(&mut self, sock: &OwnedFd) -> Result<(), Errno> {
        socket::take_error(sock)
    }

    fn recv(&mut self, sock: &OwnedFd, buffer: &mut [u8]) -> Result<usize, Errno> {
        socket::recv(sock, buffer)
    }

    fn peek(&mut self, sock: &OwnedFd) -> Result<usize, Errno> {
        socket::peek(sock)
    }

    fn send(&mut self, sock: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
        socket::send(sock, bytes)
    }

    fn send_two(&mut self, sock: &OwnedFd, first: &[u8], second: &[u8]) -> Result<usize, Errno> {
        socket::send_two(sock, first, second)
    }

    fn shutdown_write(&mut self, sock: &OwnedFd) {
        socket::shutdown_write(sock);
    }

    fn reset_on_close(&mut self, sock: &OwnedFd) {
        socket::reset_on_close(sock);
    }

    fn pipe(&mut self) -> Result<pipe::Pipe, Errno> {
        pipe::Pipe::new()
    }

    fn fill(&mut self, pipe: &pipe::Pipe, from: &OwnedFd, len: usize) -> Result<usize, Errno> {
        pipe.fill(from, len)
    }

    fn drain(&mut self, pipe: &pipe::Pipe, to: &OwnedFd, len: usize) -> Result<usize, Errno> {
        pipe.drain(to, len)
    }
}
