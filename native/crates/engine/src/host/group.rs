//! One listening address with its members, held by the primary for as long as the listener lives.
//! Which worker serves which member is decided in TypeScript (primary/). Serves the host.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::fstat;
use rustix::io::Errno;

use crate::sys::listen::{draw_evenly, open_group, probe};
use crate::sys::proc::{Owner, listening_inodes, owner_of};

/// The sockets of one address.
pub struct Group {
    pub addr: SocketAddr,
    members: Vec<Arc<OwnedFd>>,
}

/// Why an address could not be opened, in words for the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindError {
    /// Name of the error number: `EADDRINUSE`.
    pub code: String,
    /// Address, cause and remedy in one line.
    pub message: String,
    /// Who has the address, if it could be found out.
    pub owner: Option<Owner>,
}

impl Group {
    /// Opens an address unless someone else has it; `ours`: inodes of all sockets that this primary listens on.
    ///
    /// A probe without SO_REUSEPORT comes first (see [`probe`]). It also meets our own listeners where a wildcard and
    /// an address of one port are both configured; these may share, so the owners decide, not the probe alone.
    /// # Errors  With a message that names address, cause and remedy.
    pub fn open(addr: SocketAddr, shards: u16, ours: &BTreeSet<u64>) -> Result<Self, BindError> {
        // Port 0 asks for any free port: there is nothing to probe.
        if addr.port() != 0 {
            match probe(addr) {
                Ok(()) => {}
                Err(Errno::ADDRINUSE) => {
                    let inodes = listening_inodes(addr);
                    let foreign: Vec<u64> = inodes.iter().copied().filter(|inode| !ours.contains(inode)).collect();
                    if inodes.is_empty() || !foreign.is_empty() {
                        return Err(BindError::new(addr, Errno::ADDRINUSE, owner_of(&foreign)));
                    }
                }
                Err(error) => return Err(BindError::new(addr, error, None)),
            }
        }
        let (members, addr) = open_group(addr, shards).map_err(|error| BindError::new(addr, error, None))?;
        Ok(Self { addr, members: members.into_iter().map(Arc::new).collect() })
    }

    /// The member with this number.
    pub fn member(&self, number: u16) -> Option<&Arc<OwnedFd>> {
        self.members.get(usize::from(number))
    }

    /// How many members there are; fixed for life.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// False: a group has at least one member.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Inodes of the members, by which /proc knows them.
    pub fn inodes(&self) -> impl Iterator<Item = u64> + '_ {
        self.members.iter().filter_map(|member| Some(fstat(member).ok()?.st_ino))
    }

    /// Draws workers evenly from now on; see [`draw_evenly`].
    ///
    /// # Errors  InvalidInput for a member that does not exist; else those of setsockopt(2).
    pub fn draw(&self, workers: &[Vec<u16>]) -> io::Result<()> {
        if let Some(unknown) = workers.iter().flatten().find(|member| self.member(**member).is_none()) {
            let text = format!("{} has {} members, member {unknown} named", self.addr, self.members.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        match self.members.first() {
            Some(member) => draw_evenly(&**member, workers),
            None => Ok(()),
        }
    }
}

impl BindError {
    fn new(addr: SocketAddr, error: Errno, owner: Option<Owner>) -> Self {
        let (code, cause) = match error {
            Errno::ADDRINUSE => (
                "EADDRINUSE".to_string(),
                match &owner {
                    Some(owner) => format!(
                        "is in use by pid {} ({}); stop that process or choose another port",
                        owner.pid, owner.command
                    ),
                    None => {
                        "is in use by a process that cannot be looked into; `ss -ltnp` as root names it, or choose \
                         another port"
                            .to_string()
                    }
                },
            ),
            Errno::ACCESS => (
                "EACCES".to_string(),
                format!(
                    "needs the right to use ports below {}; grant CAP_NET_BIND_SERVICE (AmbientCapabilities= in the unit), \
                 lower sysctl net.ipv4.ip_unprivileged_port_start, or choose a higher port",
                    first_unprivileged_port()
                ),
            ),
            Errno::ADDRNOTAVAIL => (
                "EADDRNOTAVAIL".to_string(),
                "is no address of this host; add it to an interface, \
                or set sysctl net.ipv4.ip_nonlocal_bind (net.ipv6.ip_nonlocal_bind) to 1"
                    .to_string(),
            ),
            Errno::AFNOSUPPORT => {
                ("EAFNOSUPPORT".to_string(), "needs IPv6, which this host has switched off".to_string())
            }
            Errno::MFILE => {
                ("EMFILE".to_string(), "exceeds the limit of open files; raise LimitNOFILE= (ulimit -n)".to_string())
            }
            Errno::NFILE => {
                ("ENFILE".to_string(), "exceeds the host's limit of open files; raise sysctl fs.file-max".to_string())
            }
            other => (format!("E{}", other.raw_os_error()), io::Error::from(other).to_string()),
        };
        Self { code, message: format!("{addr} {cause}"), owner }
    }
}

fn first_unprivileged_port() -> u16 {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start").unwrap_or_default();
    text.trim().parse().unwrap_or(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn any_port() -> SocketAddr {
        "127.0.0.1:0".parse().unwrap()
    }

    #[test]
    fn a_port_of_another_socket_is_refused_and_its_owner_named() {
        let foreign = TcpListener::bind(any_port()).unwrap();
        let addr = foreign.local_addr().unwrap();
        let error = Group::open(addr, 4, &BTreeSet::new()).err().unwrap();
        assert_eq!(error.code, "EADDRINUSE");
        assert_eq!(error.owner.as_ref().unwrap().pid, std::process::id());
        assert!(error.message.starts_with(&format!("{addr} is in use by pid {} (", std::process::id())));
        let wildcard = SocketAddr::new("0.0.0.0".parse().unwrap(), addr.port());
        assert_eq!(Group::open(wildcard, 4, &BTreeSet::new()).err().unwrap().code, "EADDRINUSE");
    }

    #[test]
    fn our_own_wildcard_does_not_stand_in_the_way_of_an_address() {
        let wildcard = Group::open("0.0.0.0:0".parse().unwrap(), 2, &BTreeSet::new()).unwrap();
        let ours: BTreeSet<u64> = wildcard.inodes().collect();
        assert_eq!(ours.len(), 2);
        let addr = SocketAddr::new("127.0.0.1".parse().unwrap(), wildcard.addr.port());
        assert_eq!(Group::open(addr, 3, &ours).unwrap().len(), 3);
        assert!(Group::open(addr, 3, &BTreeSet::new()).is_err());
    }

    #[test]
    fn an_address_that_the_host_does_not_have_is_said_so() {
        let error = Group::open("192.0.2.1:9".parse().unwrap(), 1, &BTreeSet::new()).err().unwrap();
        assert_eq!((error.code.as_str(), error.owner), ("EADDRNOTAVAIL", None));
    }

    #[test]
    fn a_draw_over_members_that_do_not_exist_is_refused() {
        let group = Group::open(any_port(), 2, &BTreeSet::new()).unwrap();
        assert!(group.draw(&[vec![0], vec![1]]).is_ok());
        assert!(group.draw(&[vec![0], vec![2]]).is_err());
    }
}
