//! `Table`: a parsed table and its accessors. They never fail, never allocate, and return small `Copy` values.
//! Lookups by host and path are in `host_trie` and `path_index`, the choice of a backend in `backends`.

use crate::error::TableError;
use crate::layout::{
    ActionRecord, FLAG_ACCESS_LOG, FLAG_VIA, Header, ListenerRecord, NONE, PROTOCOL_HTTP, PROTOCOL_TCP, Record,
    Section, SettingsRecord, SocketRecord, VirtualHostRecord,
};
use crate::reader::Directory;
use crate::validate;

/// A compiled configuration over any bytes: a mapping, a vector, a slice.
///
/// The bytes must not change after `parse`; if they do nevertheless, accessors answer wrongly but never panic.
#[derive(Debug)]
pub struct Table<B> {
    pub(crate) bytes: B,
    pub(crate) directory: Directory,
    pub(crate) header: Header,
}

macro_rules! index {
    ($($(#[$meta:meta])* $name:ident)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// The plain number, for logs and dumps.
            #[inline(always)]
            pub fn get(self) -> u32 {
                self.0
            }

            /// `None` for the format's `NONE`.
            #[inline(always)]
            #[allow(dead_code)]
            pub(crate) fn some(value: u32) -> Option<Self> {
                (value != NONE).then_some(Self(value))
            }
        }
    )*};
}

index! {
    /// A listener of this table.
    ListenerIdx
    /// An action of this table.
    ActionIdx
    /// A virtual host of this table.
    VirtualHostIdx
}

/// A text of the table; read it with `Table::str`. Meaningless for another table, yet harmless there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StrRef {
    pub(crate) offset: u32,
    pub(crate) length: u32,
}

/// A run of records of one section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First record.
    pub first: u32,
    /// Records.
    pub count: u32,
}

impl Range {
    /// The indexes of the run.
    #[inline(always)]
    pub fn indexes(self) -> core::ops::Range<u32> {
        self.first..self.first.saturating_add(self.count)
    }
}

/// Process-wide settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Worker processes; 0: one for each usable core.
    pub workers: u32,
    /// Largest request head, bytes.
    pub max_head_bytes: u32,
    /// Most header fields of one head.
    pub max_headers: u32,
    /// Idle upstream connections per endpoint on the whole host.
    pub max_idle_per_endpoint: u32,
    /// Add a `via` field.
    pub via: bool,
    /// Write access records.
    pub access_log: bool,
    /// Where they go: absolute path or `stderr`; empty without `access_log`.
    pub access_log_target: StrRef,
}

/// What a socket's connections speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP; listeners differ by hostname.
    Http,
    /// TCP; exactly one listener.
    Tcp,
}

/// One opened local address and port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Socket {
    pub protocol: Protocol,
    /// HTTP: root for `Table::hosts`, whose values are listeners. TCP: `layout::NONE`.
    pub listener_root: u32,
    /// The listener of a TCP socket.
    pub tcp_listener: Option<ListenerIdx>,
    /// The first listener: its time limits count until a request says which one it is for.
    pub first_listener: Option<ListenerIdx>,
    /// Stable identity, for logs: `tcp/127.0.0.1:8080`.
    pub key: StrRef,
}

/// Time limits in milliseconds; 0 switches one off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Keep-alive connection without a request.
    pub idle_ms: u32,
    /// From the first byte of a head (or the accept) to its end.
    pub header_ms: u32,
    /// Upstream connect, one try.
    pub connect_ms: u32,
    /// Gap without progress while a body moves.
    pub stream_idle_ms: u32,
    /// TCP session or upgraded connection without a byte in either direction.
    pub tunnel_idle_ms: u32,
    /// One direction is closed, the other says nothing.
    pub half_closed_ms: u32,
}

/// A listener of a Gateway on one socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Counter and gauge slot.
    pub slot: u32,
    pub protocol: Protocol,
    pub timeouts: Timeouts,
    /// HTTP: root for `Table::hosts`, whose values are virtual hosts. TCP: `layout::NONE`.
    pub route_root: u32,
    /// TCP: the action; `None`: connections are reset.
    pub tcp_action: Option<ActionIdx>,
    /// For logs: `default/edge/http`.
    pub name: StrRef,
    /// Hostname in the notation of the IR.
    pub hostname: StrRef,
    /// Networks whose `x-forwarded-*` values are kept; ask with `Table::is_trusted`.
    pub trusted: Range,
}

/// What a matched request or connection gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// Counter, gauge and cursor slot.
    pub slot: u32,
    /// Whole request; 0: none.
    pub request_timeout_ms: u32,
    /// One try towards a backend; 0: none.
    pub backend_request_timeout_ms: u32,
    /// Weighted backends; choose with `Table::choose_backend`.
    pub backends: Range,
    /// Interleaved sequence over them.
    pub sequence: Range,
    /// For logs: `HTTPRoute/default/hello/0`.
    pub name: StrRef,
}

impl<B: AsRef<[u8]>> Table<B> {
    /// Checks every length, index, order and hash slot of a table once; afterwards no accessor can fail.
    ///
    /// Cost: linear in the bytes, about 10 ms for 100,000 routes; allocates one byte per host node while it runs.
    ///
    /// # Errors
    /// The first fault found, with section, record and cause.
    pub fn parse(bytes: B) -> Result<Self, TableError> {
        let (header, directory) = validate::check(bytes.as_ref())?;
        Ok(Table { bytes, directory, header })
    }

    /// The generation in the header.
    pub fn generation(&self) -> u64 {
        self.header.generation
    }

    /// The bytes as given to `parse`.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    #[inline(always)]
    pub(crate) fn record<R: Record>(&self, section: Section, index: u32) -> R {
        self.directory.record(self.bytes.as_ref(), section, index)
    }

    /// Process-wide settings.
    pub fn settings(&self) -> Settings {
        let r: SettingsRecord = self.record(Section::Settings, 0);
        Settings {
            workers: r.workers,
            max_head_bytes: r.max_head_bytes,
            max_headers: r.max_headers,
            max_idle_per_endpoint: r.max_idle_per_endpoint,
            via: r.flags & FLAG_VIA != 0,
            access_log: r.flags & FLAG_ACCESS_LOG != 0,
            access_log_target: StrRef { offset: r.log_target_offset, length: r.log_target_length },
        }
    }

    /// Upper bound (exclusive) of socket ids in this table.
    pub fn socket_limit(&self) -> u32 {
        self.directory.count(Section::Sockets)
    }

    /// The socket of an id; `None` when this generation has none.
    #[inline]
    pub fn socket(&self, id: u32) -> Option<Socket> {
        let r: SocketRecord = self.record(Section::Sockets, id);
        let protocol = protocol(r.protocol)?;
        Some(Socket {
            protocol,
            listener_root: r.listener_root,
            tcp_listener: ListenerIdx::some(r.tcp_listener),
            first_listener: ListenerIdx::some(r.first_listener),
            key: StrRef { offset: r.key_offset, length: r.key_length },
        })
    }

    /// Number of listeners.
    pub fn listener_count(&self) -> u32 {
        self.directory.count(Section::Listeners)
    }

    /// All listeners.
    pub fn all_listeners(&self) -> impl Iterator<Item = ListenerIdx> + use<B> {
        (0..self.listener_count()).map(ListenerIdx)
    }

    /// The listener at an index of this table.
    #[inline]
    pub fn listener(&self, i: ListenerIdx) -> Listener {
        let r: ListenerRecord = self.record(Section::Listeners, i.0);
        Listener {
            slot: r.slot,
            protocol: protocol(r.protocol).unwrap_or(Protocol::Tcp),
            timeouts: Timeouts {
                idle_ms: r.idle_ms,
                header_ms: r.header_ms,
                connect_ms: r.connect_ms,
                stream_idle_ms: r.stream_idle_ms,
                tunnel_idle_ms: r.tunnel_idle_ms,
                half_closed_ms: r.half_closed_ms,
            },
            route_root: r.route_root,
            tcp_action: ActionIdx::some(r.tcp_action),
            name: StrRef { offset: r.name_offset, length: r.name_length },
            hostname: StrRef { offset: r.hostname_offset, length: r.hostname_length },
            trusted: Range { first: r.trusted_first, count: r.trusted_count },
        }
    }

    /// Number of actions.
    pub fn action_count(&self) -> u32 {
        self.directory.count(Section::Actions)
    }

    /// All actions.
    pub fn actions(&self) -> impl Iterator<Item = ActionIdx> + use<B> {
        (0..self.action_count()).map(ActionIdx)
    }

    /// The action at an index of this table.
    #[inline]
    pub fn action(&self, i: ActionIdx) -> Action {
        let r: ActionRecord = self.record(Section::Actions, i.0);
        Action {
            slot: r.slot,
            request_timeout_ms: r.request_timeout_ms,
            backend_request_timeout_ms: r.backend_request_timeout_ms,
            backends: Range { first: r.backend_first, count: r.backend_count },
            sequence: Range { first: r.sequence_first, count: r.sequence_count },
            name: StrRef { offset: r.name_offset, length: r.name_length },
        }
    }

    /// Hostname of a virtual host in the notation of the IR.
    #[inline]
    pub fn virtual_host_name(&self, i: VirtualHostIdx) -> StrRef {
        let r: VirtualHostRecord = self.record(Section::VirtualHosts, i.0);
        StrRef { offset: r.hostname_offset, length: r.hostname_length }
    }

    /// The bytes of a text of this table.
    #[inline]
    pub fn str(&self, s: StrRef) -> &[u8] {
        self.directory.text(self.bytes.as_ref(), s.offset, s.length)
    }
}

#[inline(always)]
fn protocol(value: u32) -> Option<Protocol> {
    match value {
        PROTOCOL_HTTP => Some(Protocol::Http),
        PROTOCOL_TCP => Some(Protocol::Tcp),
        _ => None,
    }
}
