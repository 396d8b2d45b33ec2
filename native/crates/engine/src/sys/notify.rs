//! Messages to the service manager: sd_notify(3) datagrams, with descriptors for its store where wanted.
//! What is said and when is the primary's business. Serves `host`.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;

use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
    sendmsg_addr, socket_with,
};

/// Most descriptors in one notification.
const MAX_FDS: usize = 200;

/// Sends `state` (lines of `NAME=value`) to the socket that NOTIFY_SOCKET names; `socket`: its value.
///
/// A leading `@` names an abstract socket. Never blocks: a manager that does not read gets EAGAIN.
/// # Errors  InvalidInput for an address that is neither path nor abstract name, or past 200 descriptors; else those
/// of sendmsg(2).
pub fn notify(socket: &str, state: &str, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let addr = match socket.as_bytes() {
        [b'@', name @ ..] => SocketAddrUnix::new_abstract_name(name)?,
        [b'/', ..] => SocketAddrUnix::new(socket)?,
        _ => {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("NOTIFY_SOCKET is {socket:?}, a path or an abstract name expected"),
            ));
        }
    };
    let fd = socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    let mut space = [MaybeUninit::<u8>::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{} descriptors, at most {MAX_FDS}", fds.len()),
        ));
    }
    let parts = [IoSlice::new(state.as_bytes())];
    rustix::io::retry_on_intr(|| {
        sendmsg_addr(&fd, &addr, &parts, &mut control, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    #[test]
    fn a_state_reaches_an_abstract_socket_and_one_in_the_file_system() {
        let name = format!("weirgate-notify-{}", std::process::id());
        let manager = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        notify(&format!("@{name}"), "READY=1\nSTATUS=serving", &[manager.as_fd()]).unwrap();
        let mut out = [0u8; 100];
        let n = manager.recv(&mut out).unwrap();
        assert_eq!(&out[..n], b"READY=1\nSTATUS=serving");

        let path = std::env::temp_dir().join(&name);
        let manager = UnixDatagram::bind(&path).unwrap();
        notify(path.to_str().unwrap(), "STOPPING=1", &[]).unwrap();
        let n = manager.recv(&mut out).unwrap();
        assert_eq!(&out[..n], b"STOPPING=1");
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn an_address_that_is_no_unix_socket_or_has_no_reader_is_an_error() {
        assert_eq!(notify("vsock:2:1", "READY=1", &[]).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert!(notify("@weirgate-nobody-reads-this", "READY=1", &[]).is_err());
    }
}
