//! Which listener and action a request belongs to: a pure function of the table and the request head.
//! Precedence: most specific listener of the socket, then virtual hosts from most to least specific, then path, then order.
//! Spec: GW listener isolation, HR precedence (hostname, exact path, longest prefix, then the order `lower` ranked).

use table::{ActionIdx, ListenerIdx, Match, Protocol, Table, VirtualHostIdx};

/// What of a request decides its route.
#[derive(Clone, Copy)]
pub struct RequestKey<'a> {
    /// As received; methods are case-sensitive.
    pub method: &'a [u8],
    /// Without port, in any case; empty when the request names none.
    pub host: &'a [u8],
    /// As received, without query; compared without decoding.
    pub path: &'a [u8],
    /// Fields of the head.
    pub headers: &'a dyn HeaderLookup,
}

/// Access to header fields by name.
pub trait HeaderLookup {
    /// Value of the first field of this name; the name is given in lower case, fields may be in any.
    fn find(&self, lower_name: &[u8]) -> Option<&[u8]>;
}

/// Where a request belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routed {
    /// No listener of the socket takes this host (or the socket speaks no HTTP).
    NoListener,
    /// The listener has no route for the request. It is never served by a less specific listener: listener isolation.
    NoRoute(ListenerIdx),
    /// What the request gets.
    Action(ListenerIdx, ActionIdx),
}

/// Chooses listener and action of a request.
///
/// No allocation; cost O(labels + path elements) for each virtual host that is tried.
pub fn route<B: AsRef<[u8]>>(t: &Table<B>, socket: u32, key: &RequestKey<'_>) -> Routed {
    let Some(listener) = listener_of(t, socket, key.host) else { return Routed::NoListener };
    let hosts = t.virtual_hosts(t.listener(listener).route_root, key.host);
    for virtual_host in hosts {
        if let Some(action) = match_in(t, virtual_host, key) {
            return Routed::Action(listener, action);
        }
    }
    Routed::NoRoute(listener)
}

/// The HTTP listener of a socket that a host belongs to; an empty host is one that only a catch-all listener takes. Cost: O(labels).
pub fn listener_of<B: AsRef<[u8]>>(t: &Table<B>, socket: u32, host: &[u8]) -> Option<ListenerIdx> {
    let socket = t.socket(socket).filter(|socket| socket.protocol == Protocol::Http)?;
    t.listeners(socket.listener_root, host).next()
}

fn match_in<B: AsRef<[u8]>>(t: &Table<B>, virtual_host: VirtualHostIdx, key: &RequestKey<'_>) -> Option<ActionIdx> {
    for run in t.paths(virtual_host, key.path) {
        for candidate in t.matches(run) {
            if fits(t, &candidate, key) {
                return Some(candidate.action);
            }
        }
    }
    None
}

fn fits<B: AsRef<[u8]>>(t: &Table<B>, candidate: &Match, key: &RequestKey<'_>) -> bool {
    let method = t.str(candidate.method);
    if !method.is_empty() && method != key.method {
        return false;
    }
    candidate.headers.indexes().all(|index| {
        let (name, value) = t.header_condition(index);
        key.headers.find(name) == Some(value)
    })
}
