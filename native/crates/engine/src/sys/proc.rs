//! Processes and threads: who owns a port, ending a worker for certain, signals of a thread.
//! When to end a worker is the primary's decision. Serves `host` and the napi layer.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};
use rustix::thread::gettid;

/// The process that listens on an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    pub pid: u32,
    /// Its command line, at most 200 characters.
    pub command: String,
}

/// Socket inodes that listen where `addr` would: the same address first, then wildcards and what a wildcard covers.
///
/// Source: /proc/net/tcp and tcp6 of this network namespace. Cost: one line for each TCP socket of the host; for
/// failed binds only.
pub fn listening_inodes(addr: SocketAddr) -> Vec<u64> {
    let mut found = Vec::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let text = fs::read_to_string(table).unwrap_or_default();
        found.extend(text.lines().filter_map(parse_listener).filter(|(local, _)| overlap(*local, addr)));
    }
    found.sort_by_key(|(local, inode)| (local.ip() != addr.ip(), *inode));
    found.into_iter().map(|(_, inode)| inode).collect()
}

fn overlap(a: SocketAddr, b: SocketAddr) -> bool {
    // Whether `::` takes IPv4 too cannot be seen in /proc; it is asked only where a bind has failed, so: yes.
    let covers = |x: IpAddr, y: IpAddr| match x {
        IpAddr::V4(ip) => ip.is_unspecified() && y.is_ipv4(),
        IpAddr::V6(ip) => ip.is_unspecified(),
    };
    a.port() == b.port() && (a.ip() == b.ip() || covers(a.ip(), b.ip()) || covers(b.ip(), a.ip()))
}

/// Local address and inode of one line, if its socket is in LISTEN (0A).
fn parse_listener(line: &str) -> Option<(SocketAddr, u64)> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let (&local, &state, &inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
    if state != "0A" {
        return None;
    }
    let (ip, port) = local.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    // Each group of eight digits is one 32-bit word as it lies in memory, printed as a number.
    let words: Vec<[u8; 4]> = (0..ip.len() / 8)
        .map(|i| ip.get(i * 8..i * 8 + 8).and_then(|word| u32::from_str_radix(word, 16).ok()).map(u32::to_ne_bytes))
        .collect::<Option<_>>()?;
    let ip = match words.as_slice() {
        [word] => IpAddr::V4(Ipv4Addr::from(*word)),
        [_, _, _, _] => {
            let mut bytes = [0u8; 16];
            bytes.copy_from_slice(words.as_flattened());
            IpAddr::V6(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some((SocketAddr::new(ip, port), inode.parse().ok()?))
}

/// The process that holds one of these sockets; the parent where parent and children share it. None when it belongs
/// to a process that we may not look into (another user's) or to another namespace.
///
/// Cost: reads every /proc/PID/fd; for failed binds only.
pub fn owner_of(inodes: &[u64]) -> Option<Owner> {
    inodes.iter().find_map(|inode| {
        let link = format!("socket:[{inode}]");
        let holders: BTreeSet<u32> = pids().filter(|pid| holds(*pid, &link)).collect();
        let top = holders.iter().find(|pid| !parent_of(**pid).is_some_and(|parent| holders.contains(&parent)))?;
        Some(Owner { pid: *top, command: command_of(*top) })
    })
}

fn pids() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc").into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

fn holds(pid: u32, link: &str) -> bool {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    entries.filter_map(|entry| fs::read_link(entry.path()).ok()).any(|target| target.as_os_str() == link)
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command stands in parentheses and may hold spaces and parentheses itself.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// The command line of a process, cut to 200 characters; its short name for kernel threads; `?` when it is gone.
pub fn command_of(pid: u32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line);
    let words: Vec<&str> = line.split('\0').filter(|word| !word.is_empty()).collect();
    let text = match words.is_empty() {
        false => words.join(" "),
        true => fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_string(),
    };
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect();
    if text.is_empty() { "?".to_string() } else { text }
}

/// Kills a child for certain: SIGKILL through a pidfd, which becomes readable once the process has ended.
///
/// None when there is no such child any more: it has ended and was reaped, or the number names a stranger by now.
/// # Errors  Those of pidfd_open(2) and pidfd_send_signal(2) but ESRCH.
pub fn kill_child(pid: u32) -> Result<Option<OwnedFd>, Errno> {
    let Some(target) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return Ok(None);
    };
    let pidfd = match pidfd_open(target, PidfdFlags::empty()) {
        Ok(pidfd) => pidfd,
        Err(Errno::SRCH) => return Ok(None),
        Err(error) => return Err(error),
    };
    // Asked after the open: from here on the number cannot pass to another process without the pidfd noticing.
    if parent_of(pid) != u32::try_from(getpid().as_raw_nonzero().get()).ok() {
        return Ok(None);
    }
    match pidfd_send_signal(pidfd.as_fd(), Signal::KILL) {
        Ok(()) => Ok(Some(pidfd)),
        Err(Errno::SRCH) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Blocks every signal in this thread (and in threads it starts), so that the process's handlers run elsewhere.
pub fn block_signals() {
    // SAFETY: sigfillset initialises the set; pthread_sigmask reads it and writes nothing back. Both cannot fail with
    // these arguments.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut());
    }
}

/// Whether the calling thread is the one that the process began with.
pub fn is_main_thread() -> bool {
    gettid() == getpid()
}

/// Ignores SIGPIPE in the whole process: writes to a peer that is gone shall answer EPIPE.
pub fn ignore_sigpipe() {
    // SAFETY: SIG_IGN runs no code of ours; no handler of Node or V8 for SIGPIPE is replaced (Node ignores it too).
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
    }
}

/// Ends the process at once with this status: no destructors, no exit handlers, which could meet broken state.
pub fn exit_now(status: i32) -> ! {
    // SAFETY: _exit(2) has no precondition.
    unsafe { libc::_exit(status) }
}

/// The sockets that systemd handed over, by number and name, when this process is the one they are meant for.
///
/// Reads LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES (sd_listen_fds(3)); the descriptors become close-on-exec. Call it
/// once: it takes the descriptors over.
pub fn listen_fds() -> BTreeMap<i32, (OwnedFd, String)> {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let count: i32 = variable("LISTEN_FDS").parse().unwrap_or(0);
    if variable("LISTEN_PID").parse() != Ok(getpid().as_raw_nonzero().get()) {
        return BTreeMap::new();
    }
    let names = variable("LISTEN_FDNAMES");
    let mut names = names.split(':');
    let mut found = BTreeMap::new();
    for number in 3..3 + count.clamp(0, 4096) {
        let name = names.next().unwrap_or("unknown").to_string();
        // SAFETY: fcntl on any number is harmless; F_SETFD fails with EBADF when it is not open.
        if unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) } == 0 {
            // SAFETY: open (checked above), and by the protocol of sd_listen_fds(3) nobody else's in this process.
            let fd = unsafe { <OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(number) };
            found.insert(number, (fd, name));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_line_of_proc_net_gives_address_and_inode_of_listeners_only() {
        let v4 = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 41225 1 0 100 0 0 10 0";
        let v6 =
            "   1: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 77 1";
        assert_eq!(parse_listener(v4), Some(("127.0.0.1:8080".parse().unwrap(), 41225)));
        assert_eq!(parse_listener(v6), Some(("[::1]:80".parse().unwrap(), 77)));
        assert_eq!(parse_listener(&v4.replace(" 0A ", " 01 ")), None);
        for broken in
            ["", "a b c", "0: 0100007F 0 0A 0 0 0 0 0 5", "0: zz:zz 0 0A 0 0 0 0 0 5", "0: é100007F:1 0 0A 0 0 0 0 0 5"]
        {
            assert_eq!(parse_listener(broken), None, "{broken}");
        }
    }

    #[test]
    fn the_owner_of_a_port_is_found_through_wildcards_too() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let us = std::process::id();
        for asked in [
            addr,
            SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), addr.port()),
            SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), addr.port()),
        ] {
            let owner = owner_of(&listening_inodes(asked)).unwrap();
            assert_eq!(owner.pid, us);
            assert!(!owner.command.is_empty());
        }
        drop(listener);
        assert_eq!(owner_of(&listening_inodes(addr)), None);
    }

    #[test]
    fn only_a_child_is_killed_and_its_end_is_seen() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let pidfd = kill_child(child.id()).unwrap().unwrap();
        let mut poll = [rustix::event::PollFd::new(&pidfd, rustix::event::PollFlags::IN)];
        assert_eq!(rustix::event::poll(&mut poll, None).unwrap(), 1);
        assert!(!child.wait().unwrap().success());
        assert!(kill_child(child.id()).unwrap().is_none(), "reaped");
        assert!(kill_child(1).unwrap().is_none(), "not ours");
        assert!(kill_child(0).unwrap().is_none());
    }

    #[test]
    fn a_process_without_handed_over_sockets_has_none() {
        assert!(listen_fds().is_empty());
    }
}
