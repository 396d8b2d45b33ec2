//! The channel between primary and worker: messages with descriptors over an AF_UNIX SOCK_SEQPACKET pair.
//! Message kinds and what they mean live in `shared::protocol`. Serves the host thread and the worker loop.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair, sockopt,
};

/// Most payload bytes in one message.
pub const MAX_PAYLOAD: usize = 64 * 1024;
/// Most descriptors in one message; the kernel's own limit is 253 (SCM_MAX_FD).
pub const MAX_FDS: usize = 200;
const HEADER: usize = 16;
const CONTROL: usize = rustix::cmsg_space!(ScmRights(MAX_FDS));

/// One message as it was received. Reuse it: the payload buffer is kept between calls of [`Channel::recv`].
#[derive(Debug, Default)]
pub struct Message {
    /// What it is; see `shared::protocol`.
    pub kind: u32,
    /// First argument: a column, a socket id.
    pub arg: u32,
    /// Second argument: a generation, a limit in ms.
    pub value: u64,
    /// The bytes after the header, at most [`MAX_PAYLOAD`].
    pub payload: Vec<u8>,
    /// The descriptors that came along, at most [`MAX_FDS`]; all close-on-exec.
    pub fds: Vec<OwnedFd>,
}

/// What one call of [`Channel::recv`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recv {
    /// The message was filled in.
    Message,
    /// Nothing is waiting.
    Empty,
    /// The peer has closed its end or died; there will be no more messages.
    Closed,
}

/// One end of the channel. Never blocks.
#[derive(Debug)]
pub struct Channel {
    fd: OwnedFd,
}

impl Channel {
    /// A connected pair: our end, and the descriptor that the child is to inherit. Both are close-on-exec (the
    /// spawning of the child duplicates the second without the flag) and non-blocking.
    ///
    /// # Errors  Those of socketpair(2).
    pub fn pair() -> io::Result<(Channel, OwnedFd)> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        Ok((Channel { fd: ours }, theirs))
    }

    /// Takes over an inherited end; sets it close-on-exec and non-blocking again.
    ///
    /// # Errors  InvalidInput when it is no SOCK_SEQPACKET socket; else those of fcntl(2).
    pub fn from_fd(fd: OwnedFd) -> io::Result<Channel> {
        if sockopt::socket_type(&fd).ok() != Some(SocketType::SEQPACKET) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the channel descriptor is no SOCK_SEQPACKET socket; workers are started by the primary only",
            ));
        }
        fcntl_setfd(&fd, FdFlags::CLOEXEC)?;
        let flags = fcntl_getfl(&fd)?;
        fcntl_setfl(&fd, flags | OFlags::NONBLOCK)?;
        Ok(Channel { fd })
    }

    /// A second handle of the same end, for another thread.
    ///
    /// # Errors  EMFILE.
    pub fn try_clone(&self) -> io::Result<Channel> {
        Ok(Channel { fd: self.fd.try_clone()? })
    }

    /// Sends one message; false when the peer's queue is full and nothing was sent.
    ///
    /// # Errors  InvalidInput past the limits; BrokenPipe when the peer is gone; ETOOMANYREFS (raw OS error) when too
    /// many descriptors are on their way, to be tried again after the peer has read some.
    pub fn send(&self, kind: u32, arg: u32, value: u64, payload: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<bool> {
        if payload.len() > MAX_PAYLOAD || fds.len() > MAX_FDS {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "message of {} bytes and {} descriptors, limits {MAX_PAYLOAD}, {MAX_FDS}",
                    payload.len(),
                    fds.len()
                ),
            ));
        }
        let mut header = [0u8; HEADER];
        header[..4].copy_from_slice(&kind.to_le_bytes());
        header[4..8].copy_from_slice(&arg.to_le_bytes());
        header[8..].copy_from_slice(&value.to_le_bytes());
        let parts = [IoSlice::new(&header), IoSlice::new(payload)];
        loop {
            let mut space = [MaybeUninit::<u8>::uninit(); CONTROL];
            let mut control = SendAncillaryBuffer::new(&mut space);
            if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            match sendmsg(&self.fd, &parts, &mut control, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                // A SEQPACKET message goes whole or not at all.
                Ok(_) => return Ok(true),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN | Errno::NOBUFS) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Receives one message into `message`, whose old content (descriptors included) is dropped first.
    ///
    /// # Errors  InvalidData for a message that is no message of ours or lost a part on its way: its descriptors could
    /// not be installed because the limit of open files is reached, or it is longer than [`MAX_PAYLOAD`]. The channel
    /// stays usable.
    pub fn recv(&self, message: &mut Message) -> io::Result<Recv> {
        message.fds.clear();
        message.payload.resize(MAX_PAYLOAD, 0);
        let mut header = [0u8; HEADER];
        let mut space = [MaybeUninit::<u8>::uninit(); CONTROL];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received = loop {
            let mut parts = [IoSliceMut::new(&mut header), IoSliceMut::new(&mut message.payload)];
            let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
            match recvmsg(&self.fd, &mut parts, &mut control, flags) {
                Ok(received) => break received,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    message.payload.clear();
                    return Ok(Recv::Empty);
                }
                // The peer went away with messages of ours unread.
                Err(Errno::CONNRESET | Errno::PIPE) => {
                    message.payload.clear();
                    return Ok(Recv::Closed);
                }
                Err(error) => return Err(error.into()),
            }
        };
        for part in control.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = part {
                message.fds.extend(fds);
            }
        }
        message.payload.truncate(received.bytes.saturating_sub(HEADER));
        if received.bytes == 0 {
            return Ok(Recv::Closed);
        }
        if received.flags.contains(ReturnFlags::CTRUNC) {
            message.fds.clear();
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "descriptors were lost on the channel: the limit of open files is reached",
            ));
        }
        if received.bytes < HEADER || received.flags.contains(ReturnFlags::TRUNC) {
            message.fds.clear();
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "a message of {} bytes on the channel, {HEADER} to {} expected",
                    received.bytes,
                    HEADER + MAX_PAYLOAD
                ),
            ));
        }
        let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        message.kind = word(0);
        message.arg = word(4);
        message.value = u64::from(word(8)) | u64::from(word(12)) << 32;
        Ok(Recv::Message)
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Takes over the descriptor that this process inherited as its end of the channel.
///
/// Succeeds once in the life of a process: two owners of one number would close each other's descriptor.
/// # Errors  EBADF when it is not open; InvalidInput for standard streams; AlreadyExists the second time.
pub fn take_inherited(number: RawFd) -> io::Result<OwnedFd> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if number <= 2 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: fcntl on any number is harmless; F_GETFD fails with EBADF when it is not open.
    if unsafe { libc::fcntl(number, libc::F_GETFD) } < 0 {
        return Err(io::Error::last_os_error());
    }
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    // SAFETY: open, checked above. It is an extra stdio entry that the parent made for this purpose and that nothing
    // else in the process knows of; TAKEN keeps it from being taken twice.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::memory::{Mapping, Region};

    fn ends() -> (Channel, Channel) {
        let (ours, theirs) = Channel::pair().unwrap();
        (ours, Channel::from_fd(theirs).unwrap())
    }

    #[test]
    fn a_message_arrives_whole_with_its_descriptors() {
        let (ours, theirs) = ends();
        let region = Region::create("wg-test", 4096).unwrap();
        assert!(ours.send(3, 7, u64::MAX - 1, b"members", &[region.as_fd(), region.as_fd()]).unwrap());
        let mut message = Message::default();
        assert_eq!(theirs.recv(&mut message).unwrap(), Recv::Message);
        assert_eq!((message.kind, message.arg, message.value), (3, 7, u64::MAX - 1));
        assert_eq!(message.payload, b"members");
        assert_eq!(message.fds.len(), 2);
        let map = Mapping::map(message.fds[1].as_fd(), 4096).unwrap();
        region.map().u64_at(0).unwrap().store(42, Ordering::Relaxed);
        assert_eq!(map.u64_at(0).unwrap().load(Ordering::Relaxed), 42);
        assert!(rustix::io::fcntl_getfd(&message.fds[0]).unwrap().contains(FdFlags::CLOEXEC));
        assert_eq!(theirs.recv(&mut message).unwrap(), Recv::Empty);
        assert!(message.fds.is_empty());
    }

    #[test]
    fn two_hundred_descriptors_and_64_kib_fit_and_one_more_of_either_is_refused() {
        let (ours, theirs) = ends();
        let region = Region::create("wg-test", 4096).unwrap();
        let fds = vec![region.as_fd(); MAX_FDS + 1];
        let payload = vec![9u8; MAX_PAYLOAD + 1];
        assert!(ours.send(1, 0, 0, &payload[..MAX_PAYLOAD], &fds[..MAX_FDS]).unwrap());
        assert!(ours.send(1, 0, 0, &payload, &[]).is_err());
        assert!(ours.send(1, 0, 0, &[], &fds).is_err());
        let mut message = Message::default();
        assert_eq!(theirs.recv(&mut message).unwrap(), Recv::Message);
        assert_eq!((message.payload.len(), message.fds.len()), (MAX_PAYLOAD, MAX_FDS));
    }

    #[test]
    fn a_full_queue_is_no_error_and_loses_nothing() {
        let (ours, theirs) = ends();
        let mut sent = 0u64;
        while ours.send(2, 0, sent, &[0; 1000], &[]).unwrap() {
            sent += 1;
        }
        assert!(sent > 10);
        let mut message = Message::default();
        for expected in 0..sent {
            assert_eq!(theirs.recv(&mut message).unwrap(), Recv::Message);
            assert_eq!(message.value, expected);
        }
        assert_eq!(theirs.recv(&mut message).unwrap(), Recv::Empty);
    }

    #[test]
    fn a_peer_that_is_gone_closes_the_channel() {
        let (ours, theirs) = ends();
        theirs.send(101, 0, 0, &[], &[]).unwrap();
        drop(theirs);
        let mut message = Message::default();
        assert_eq!(ours.recv(&mut message).unwrap(), Recv::Message);
        assert_eq!(ours.recv(&mut message).unwrap(), Recv::Closed);
        let error = ours.send(6, 0, 0, &[], &[]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn what_is_no_message_of_ours_is_refused_and_the_next_one_is_read() {
        let (ours, theirs) = ends();
        rustix::net::send(&ours, b"short", SendFlags::empty()).unwrap();
        ours.send(6, 0, 0, &[], &[]).unwrap();
        let mut message = Message::default();
        assert_eq!(theirs.recv(&mut message).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(theirs.recv(&mut message).unwrap(), Recv::Message);
        assert_eq!(message.kind, 6);
    }

    #[test]
    fn only_a_seqpacket_socket_is_a_channel() {
        let region = Region::create("wg-test", 4096).unwrap();
        assert!(Channel::from_fd(region.as_fd().try_clone_to_owned().unwrap()).is_err());
    }

    #[test]
    fn an_inherited_descriptor_is_taken_once() {
        use std::os::fd::IntoRawFd;
        assert!(take_inherited(1).is_err() && take_inherited(-1).is_err() && take_inherited(1 << 20).is_err());
        let number = Channel::pair().unwrap().1.into_raw_fd();
        let taken = take_inherited(number).unwrap();
        assert_eq!(take_inherited(number).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        drop(taken);
    }
}
