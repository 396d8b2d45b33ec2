//! Listening sockets: the probe that finds a foreign owner, groups of SO_REUSEPORT members, and the program that draws
//! a member. Which worker serves which member is the primary's business. Serves `host`.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, listen, socket_with, sockopt};

/// Length of a member's accept queue; the kernel cuts it to net.core.somaxconn (4096 since Linux 5.4).
const BACKLOG: i32 = 4096;

/// Binds once without SO_REUSEPORT and lets go: EADDRINUSE when any socket of any user listens there, our own included.
///
/// A second bind with SO_REUSEPORT by the same user would succeed and silently share the traffic; that is what the
/// probe is for. It does set SO_REUSEADDR: on Linux that never lets two sockets listen (a socket in LISTEN conflicts
/// whatever its options), but without it the connections of an instance that has just ended (TIME_WAIT, or still
/// draining in its old workers) would look like an owner and no restart would succeed for a minute.
/// # Errors  Those of bind(2): EADDRINUSE, EACCES, EADDRNOTAVAIL.
pub fn probe(addr: SocketAddr) -> Result<(), Errno> {
    let socket = stream_socket(addr)?;
    bind(&socket, &addr)
}

/// Opens `shards` sockets that listen on one address, in the order in which the kernel counts them.
///
/// Port 0 picks a free port for the whole group; see the second value. TCP_NODELAY and SO_KEEPALIVE are set here
/// because accepted sockets inherit them, which saves two system calls a connection. `::` serves IPv4 as well.
/// # Errors  Those of socket(2), bind(2) and listen(2); members opened until then are closed.
pub fn open_group(addr: SocketAddr, shards: u16) -> Result<(Vec<OwnedFd>, SocketAddr), Errno> {
    let mut members = Vec::with_capacity(usize::from(shards));
    let mut bound = addr;
    for _ in 0..shards.max(1) {
        let socket = stream_socket(bound)?;
        sockopt::set_socket_reuseport(&socket, true)?;
        sockopt::set_tcp_nodelay(&socket, true)?;
        sockopt::set_socket_keepalive(&socket, true)?;
        bind(&socket, &bound)?;
        listen(&socket, BACKLOG)?;
        if bound.port() == 0 {
            let name = SocketAddr::try_from(getsockname(&socket)?)?;
            bound.set_port(name.port());
        }
        members.push(socket);
    }
    Ok((members, bound))
}

fn stream_socket(addr: SocketAddr) -> Result<OwnedFd, Errno> {
    let family = if addr.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    if let IpAddr::V6(ip) = addr.ip() {
        sockopt::set_ipv6_v6only(&socket, !ip.is_unspecified())?;
    }
    Ok(socket)
}

/// Makes a group draw a worker evenly, then one of that worker's members evenly, for each new connection.
///
/// `groups`: one entry for each worker, its member numbers. Empty ones are left out; with none left the kernel's hash
/// is back in use. The program belongs to the group: one call on any member is enough, and it replaces the program
/// before. Connections that are queued or established are not touched.
/// # Errors  Those of setsockopt(2); InvalidInput when the program would get longer than the kernel takes.
pub fn draw_evenly(member: impl AsFd, groups: &[Vec<u16>]) -> io::Result<()> {
    let program = draw_program(groups);
    if program.is_empty() {
        let unused: libc::c_int = 0;
        return match set_option(&member, libc::SO_DETACH_REUSEPORT_BPF, &unused) {
            // Nothing was attached.
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(()),
            result => result,
        };
    }
    if program.len() > MAX_INSTRUCTIONS {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "a draw over {} workers takes {} instructions, limit {MAX_INSTRUCTIONS}",
                groups.len(),
                program.len()
            ),
        ));
    }
    // The kernel copies the program before setsockopt returns.
    let header = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    set_option(&member, libc::SO_ATTACH_REUSEPORT_CBPF, &header)
}

fn set_option<T>(socket: &impl AsFd, option: libc::c_int, value: &T) -> io::Result<()> {
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: `fd` is open for the time of the borrow; the pointer and the length describe `value`, which the kernel
    // only reads; a sock_fprog in it points to a live slice of the length that it names.
    let status = unsafe {
        libc::setsockopt(fd, libc::SOL_SOCKET, option, std::ptr::from_ref(value).cast(), size_of::<T>() as u32)
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// BPF_MAXINSNS.
const MAX_INSTRUCTIONS: usize = 4096;
/// Load at an address that names the kernel's random number generator (SKF_AD_OFF + SKF_AD_RANDOM).
const RANDOM: u32 = (libc::SKF_AD_OFF + libc::SKF_AD_RANDOM) as u32;

/// The classic BPF program: worker = random mod workers, member = random mod its members, return the member's number.
///
/// Classic BPF has no arrays, so both draws are chains of comparisons. Conditional jumps reach 255 instructions only,
/// hence the unconditional jump over each worker's part.
fn draw_program(groups: &[Vec<u16>]) -> Vec<libc::sock_filter> {
    let groups: Vec<&[u16]> = groups.iter().map(Vec::as_slice).filter(|members| !members.is_empty()).collect();
    let mut program = Vec::new();
    draw(&mut program, groups.len());
    for (number, members) in groups.iter().enumerate() {
        let mut part = Vec::new();
        draw(&mut part, members.len());
        for (index, &member) in members.iter().enumerate() {
            if index + 1 < members.len() {
                part.push(jump_if_equal(index as u32, 0, 1));
            }
            part.push(instruction(libc::BPF_RET | libc::BPF_K, u32::from(member)));
        }
        if number + 1 < groups.len() {
            program.push(jump_if_equal(number as u32, 1, 0));
            program.push(instruction(libc::BPF_JMP | libc::BPF_JA, part.len() as u32));
        }
        program.append(&mut part);
    }
    program
}

/// Accumulator = random number below `choices`; nothing when there is no choice.
fn draw(program: &mut Vec<libc::sock_filter>, choices: usize) {
    if choices > 1 {
        program.push(instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, RANDOM));
        program.push(instruction(libc::BPF_ALU | libc::BPF_MOD | libc::BPF_K, choices as u32));
    }
}

fn instruction(code: u32, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

fn jump_if_equal(k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::acceptfrom;
    use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};

    fn loopback() -> SocketAddr {
        SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0)
    }

    fn accepted(member: &OwnedFd) -> usize {
        std::iter::from_fn(|| acceptfrom(member).ok()).count()
    }

    #[test]
    fn a_probe_sees_every_listener_even_one_that_shares_its_port() {
        let foreign = TcpListener::bind(loopback()).unwrap();
        assert_eq!(probe(foreign.local_addr().unwrap()), Err(Errno::ADDRINUSE));
        let (group, addr) = open_group(loopback(), 3).unwrap();
        assert_eq!(probe(addr), Err(Errno::ADDRINUSE));
        assert_eq!(probe(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), addr.port())), Err(Errno::ADDRINUSE));
        drop(group);
        assert_eq!(probe(addr), Ok(()));
    }

    #[test]
    fn a_probe_is_not_misled_by_connections_that_an_ended_instance_left_behind() {
        let (group, addr) = open_group(loopback(), 1).unwrap();
        let client = TcpStream::connect(addr).unwrap();
        let (server, _) = acceptfrom(&group[0]).unwrap();
        drop(group);
        assert_eq!(probe(addr), Ok(()), "established");
        drop(server);
        drop(client);
        assert_eq!(probe(addr), Ok(()), "time-wait");
    }

    #[test]
    fn accepted_connections_inherit_their_options() {
        let (group, addr) = open_group(loopback(), 1).unwrap();
        let _client = TcpStream::connect(addr).unwrap();
        let (server, _) = acceptfrom(&group[0]).unwrap();
        assert!(sockopt::tcp_nodelay(&server).unwrap());
        assert!(sockopt::socket_keepalive(&server).unwrap());
    }

    #[test]
    fn the_unspecified_ipv6_address_serves_ipv4_too() {
        let Ok((group, addr)) = open_group(SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), 0), 1) else {
            return; // A host without IPv6 has nothing to show here.
        };
        let _client = TcpStream::connect((Ipv4Addr::LOCALHOST, addr.port())).unwrap();
        assert_eq!(accepted(&group[0]), 1);
    }

    #[test]
    fn a_draw_is_even_over_workers_whatever_their_number_of_members() {
        let (group, addr) = open_group(loopback(), 16).unwrap();
        // 5 workers: one has a single member, one has eight, one has none.
        let groups: Vec<Vec<u16>> = vec![vec![15], (0..8).collect(), vec![], vec![8, 9], vec![10, 11, 12, 13, 14]];
        draw_evenly(&group[0], &groups).unwrap();
        let clients: Vec<TcpStream> = (0..800).map(|_| TcpStream::connect(addr).unwrap()).collect();
        let counts: Vec<usize> = group.iter().map(accepted).collect();
        assert_eq!(counts.iter().sum::<usize>(), clients.len());
        for members in groups.iter().filter(|members| !members.is_empty()) {
            let share: usize = members.iter().map(|&m| counts[usize::from(m)]).sum();
            // 200 expected, standard deviation 12; six of them are one failure in 10⁸.
            assert!((126..=274).contains(&share), "{members:?} got {share} of 800: {counts:?}");
            assert!(members.iter().all(|&m| counts[usize::from(m)] > 0), "a member was never drawn: {counts:?}");
        }
    }

    #[test]
    fn a_draw_can_be_replaced_and_taken_back() {
        let (group, addr) = open_group(loopback(), 4).unwrap();
        draw_evenly(&group[0], &[]).unwrap();
        draw_evenly(&group[1], &[vec![0], vec![1, 2, 3]]).unwrap();
        draw_evenly(&group[2], &[vec![2]]).unwrap();
        let _clients: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(addr).unwrap()).collect();
        assert_eq!(group.iter().map(accepted).collect::<Vec<_>>(), [0, 0, 50, 0]);
        draw_evenly(&group[3], &[vec![], vec![]]).unwrap();
        let _more: Vec<TcpStream> = (0..200).map(|_| TcpStream::connect(addr).unwrap()).collect();
        assert!(group.iter().all(|member| accepted(member) > 10), "the kernel's hash spreads again");
    }

    #[test]
    fn a_draw_over_64_workers_of_4_members_fits_the_kernel() {
        let (group, _) = open_group(loopback(), 1).unwrap();
        let groups: Vec<Vec<u16>> = (0..64).map(|w| (w * 4..w * 4 + 4).collect()).collect();
        draw_evenly(&group[0], &groups).unwrap();
        let too_long: Vec<Vec<u16>> = (0..64).map(|w| (w * 64..w * 64 + 64).collect()).collect();
        assert!(draw_evenly(&group[0], &too_long).is_err());
    }
}
