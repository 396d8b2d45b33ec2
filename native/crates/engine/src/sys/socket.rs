//! Stream sockets: accept, connect, receive, send. Every call is non-blocking and restarts after a signal.

use std::io::IoSlice;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    self, AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, SocketFlags, SocketType, sockopt,
};

/// Returns the next queued connection, non-blocking and close-on-exec, with its canonical peer address.
///
/// TCP_NODELAY and SO_KEEPALIVE are inherited from the listening socket (Linux), so no further call is needed.
pub fn accept(listener: impl AsFd) -> Result<(OwnedFd, SocketAddr), Errno> {
    let (fd, address) =
        retry_on_intr(|| net::acceptfrom_with(listener.as_fd(), SocketFlags::NONBLOCK | SocketFlags::CLOEXEC))?;
    let peer = address.and_then(|a| SocketAddr::try_from(a).ok()).ok_or(Errno::AFNOSUPPORT)?;
    Ok((fd, canonical(peer)))
}

/// Returns the canonical address that a connected socket has on this host.
pub fn local(socket: impl AsFd) -> Option<SocketAddr> {
    SocketAddr::try_from(net::getsockname(socket).ok()?).ok().map(canonical)
}

/// Returns the address with a v4-mapped IPv6 address turned into plain IPv4, so that lists, logs and hashes see one form.
pub fn canonical(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => SocketAddr::new(IpAddr::V4(v4), address.port()),
            None => address,
        },
        IpAddr::V4(_) => address,
    }
}

/// Starts a connection. `true`: already established; `false`: in progress, writability tells the end.
pub fn connect(address: SocketAddr) -> Result<(OwnedFd, bool), Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let fd = net::socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
    sockopt::set_tcp_nodelay(&fd, true)?;
    match net::connect(&fd, &address) {
        Ok(()) => Ok((fd, true)),
        Err(Errno::INPROGRESS) | Err(Errno::INTR) => Ok((fd, false)),
        Err(e) => Err(e),
    }
}

/// Returns and clears the socket's pending error: how a connect ended, or what broke a connection.
pub fn take_error(fd: impl AsFd) -> Result<(), Errno> {
    sockopt::socket_error(fd)?
}

pub fn recv(fd: impl AsFd, buffer: &mut [u8]) -> Result<usize, Errno> {
    retry_on_intr(|| net::recv(fd.as_fd(), &mut *buffer, RecvFlags::empty())).map(|(_, n)| n)
}

/// Looks at the next byte without taking it: EAGAIN means "quiet and alive".
pub fn peek(fd: impl AsFd) -> Result<usize, Errno> {
    let mut byte = [0u8; 1];
    retry_on_intr(|| net::recv(fd.as_fd(), &mut byte[..], RecvFlags::PEEK)).map(|(_, n)| n)
}

pub fn send(fd: impl AsFd, bytes: &[u8]) -> Result<usize, Errno> {
    retry_on_intr(|| net::send(fd.as_fd(), bytes, SendFlags::NOSIGNAL))
}

/// Sends two pieces by one call.
pub fn send_two(fd: impl AsFd, first: &[u8], second: &[u8]) -> Result<usize, Errno> {
    let pieces = [IoSlice::new(first), IoSlice::new(second)];
    retry_on_intr(|| net::sendmsg(fd.as_fd(), &pieces, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL))
}

/// Sends our FIN; the other direction stays open.
pub fn shutdown_write(fd: impl AsFd) {
    // The peer may have reset the connection already: nothing is left to do then.
    let _ = net::shutdown(fd, Shutdown::Write);
}

/// Makes the coming close send RST instead of FIN.
pub fn reset_on_close(fd: impl AsFd) {
    let _ = sockopt::set_socket_linger(fd, Some(Duration::ZERO));
}
