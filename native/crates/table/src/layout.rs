//! The one declaration of every binary record: table sections, endpoint sets, and the shared-memory regions.
//! Only shapes and sizes live here; xtask prints the TypeScript side from `RECORDS`, `SECTIONS` and `CONSTANTS`.
//! All integers are little-endian; offsets are those of `repr(C)` and no record has hidden padding (checked below).

use core::mem::offset_of;

/// One field of a record: where it lies and how wide it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name in the declaration (snake case).
    pub name: &'static str,
    /// Rust type as written in the table of scalars: `u8`, `u16`, `u32`, `u64` or `bytes`.
    pub kind: &'static str,
    /// Bytes from the start of the record.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
}

/// One record as data, for xtask and for the layout hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Name of the record (camel case).
    pub name: &'static str,
    /// Bytes of one record.
    pub size: usize,
    /// Fields in order.
    pub fields: &'static [Field],
}

/// A fixed-size record of little-endian fields.
pub trait Record: Sized + Copy {
    /// The record as data.
    const SHAPE: Shape;
    /// Bytes of one record.
    const SIZE: usize = Self::SHAPE.size;
    /// Reads one record from the start of `bytes`; fields beyond its end read as zero, so this cannot fail.
    fn read(bytes: &[u8]) -> Self;
    /// Writes the record to the start of `out`; what does not fit is left out.
    fn write(&self, out: &mut [u8]);
}

/// A field type that can stand in a record.
trait Scalar: Sized + Copy {
    const KIND: &'static str;
    fn read_at(bytes: &[u8], offset: usize) -> Self;
    fn write_at(self, out: &mut [u8], offset: usize);
}

macro_rules! integer {
    ($($ty:ident),*) => {$(
        impl Scalar for $ty {
            const KIND: &'static str = stringify!($ty);
            #[inline(always)]
            fn read_at(bytes: &[u8], offset: usize) -> Self {
                match bytes.get(offset..).and_then(|rest| rest.first_chunk()) {
                    Some(chunk) => <$ty>::from_le_bytes(*chunk),
                    None => 0,
                }
            }
            #[inline(always)]
            fn write_at(self, out: &mut [u8], offset: usize) {
                if let Some(chunk) = out.get_mut(offset..).and_then(|rest| rest.first_chunk_mut()) {
                    *chunk = self.to_le_bytes();
                }
            }
        }
    )*};
}
integer!(u8, u16, u32, u64);

impl<const N: usize> Scalar for [u8; N] {
    const KIND: &'static str = "bytes";
    #[inline(always)]
    fn read_at(bytes: &[u8], offset: usize) -> Self {
        bytes.get(offset..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
    }
    #[inline(always)]
    fn write_at(self, out: &mut [u8], offset: usize) {
        if let Some(chunk) = out.get_mut(offset..).and_then(|rest| rest.first_chunk_mut()) {
            *chunk = self;
        }
    }
}

macro_rules! records {
    ($( $(#[$meta:meta])* $name:ident { $( $(#[$field_meta:meta])* $field:ident : $ty:ty, )* } )*) => {
        $(
            $(#[$meta])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $name { $( $(#[$field_meta])* pub $field: $ty, )* }

            impl Record for $name {
                const SHAPE: Shape = Shape {
                    name: stringify!($name),
                    size: size_of::<$name>(),
                    fields: &[ $( Field {
                        name: stringify!($field),
                        kind: <$ty as Scalar>::KIND,
                        offset: offset_of!($name, $field),
                        size: size_of::<$ty>(),
                    }, )* ],
                };
                #[inline(always)]
                fn read(bytes: &[u8]) -> Self {
                    // One bounds check for the whole record; a short slice falls back to field-wise zeros.
                    let bytes = bytes.get(..size_of::<$name>()).unwrap_or(bytes);
                    Self { $( $field: <$ty as Scalar>::read_at(bytes, offset_of!($name, $field)), )* }
                }
                #[inline(always)]
                fn write(&self, out: &mut [u8]) {
                    $( self.$field.write_at(out, offset_of!($name, $field)); )*
                }
            }

            const _: () = assert!(0 $( + size_of::<$ty>() )* == size_of::<$name>(), "hidden padding");
        )*

        /// Every record, in order of declaration.
        pub const RECORDS: &[Shape] = &[ $( <$name as Record>::SHAPE, )* ];
    };
}

records! {
    /// First bytes of a table; the section directory follows at once.
    Header {
        /// `MAGIC`.
        magic: u32,
        /// `SECTION_COUNT`.
        sections: u32,
        /// `LAYOUT_HASH` of the writer.
        layout_hash: u64,
        /// Number of the configuration, ever growing.
        generation: u64,
        /// Bytes of the whole table.
        length: u32,
        /// Start value of all hashes in this table (chosen by the writer so that no probe is long).
        hash_seed: u32,
        /// Longest probe in the host edges: slots looked at before a lookup may give up.
        host_probe: u32,
        /// The same for the path index.
        path_probe: u32,
    }

    /// Where a section lies; one for each of `SECTIONS`, in that order.
    SectionEntry {
        /// Bytes from the start of the table; a multiple of 8.
        offset: u32,
        /// Records (bytes for `strings`).
        count: u32,
    }

    /// Process-wide settings; exactly one.
    SettingsRecord {
        /// 0: one for each usable core.
        workers: u32,
        /// Bytes.
        max_head_bytes: u32,
        /// Fields.
        max_headers: u32,
        /// Idle upstream connections per endpoint on the whole host.
        max_idle_per_endpoint: u32,
        /// `FLAG_VIA`, `FLAG_ACCESS_LOG`.
        flags: u32,
        /// Text: absolute path or `stderr`; empty without `FLAG_ACCESS_LOG`.
        log_target_offset: u32,
        log_target_length: u32,
        reserved: u32,
    }

    /// Indexed by socket id; ids without a socket in this generation have protocol `PROTOCOL_NONE`.
    SocketRecord {
        /// `PROTOCOL_*`.
        protocol: u32,
        /// HTTP: root node of the trie of listeners; else `NONE`.
        listener_root: u32,
        /// TCP: the listener; else `NONE`.
        tcp_listener: u32,
        /// Text: `tcp/127.0.0.1:8080`.
        key_offset: u32,
        key_length: u32,
        /// The first of its listeners, whatever the protocol: its time limits count until a request says which listener it is for.
        first_listener: u32,
    }

    /// A listener of a Gateway on one socket.
    ListenerRecord {
        /// Counter and gauge slot.
        slot: u32,
        /// `PROTOCOL_*`.
        protocol: u32,
        idle_ms: u32,
        header_ms: u32,
        connect_ms: u32,
        stream_idle_ms: u32,
        tunnel_idle_ms: u32,
        half_closed_ms: u32,
        /// HTTP: root node of the trie of virtual hosts; else `NONE`.
        route_root: u32,
        /// TCP: action or `NONE` (reset); HTTP: `NONE`.
        tcp_action: u32,
        /// First of its networks in `networks`.
        trusted_first: u32,
        trusted_count: u32,
        /// Text for logs.
        name_offset: u32,
        name_length: u32,
        /// Text: hostname as written in the IR.
        hostname_offset: u32,
        hostname_length: u32,
    }

    /// A node of a host trie. A parent stands before its children; roots have parent `NONE` and an empty label.
    HostNode {
        parent: u32,
        /// Lower case label.
        label_offset: u32,
        label_length: u32,
        /// Value of the name that ends here, or `NONE`.
        exact: u32,
        /// Value of all names below (one or more labels more; at a root: of any name), or `NONE`.
        wildcard: u32,
    }

    /// A slot of the open-addressed hash (parent node, label) → child; linear probing, a power of two of slots.
    HostEdge {
        hash: u32,
        /// Node or `NONE` for an empty slot.
        child: u32,
    }

    /// Routes of one hostname at one listener.
    VirtualHostRecord {
        /// Text: hostname as written in the IR.
        hostname_offset: u32,
        hostname_length: u32,
        /// Its entries in `path_entries`.
        entry_first: u32,
        entry_count: u32,
        /// Path elements of its deepest prefix; `PREFIX_LEVELS_NONE` when it has no prefix at all.
        prefix_levels: u32,
        /// 1 when it has an exact path.
        has_exact: u32,
        /// A later virtual host of the same hostname that is tried when no match of this one fits, or `NONE`.
        next: u32,
        reserved: u32,
    }

    /// One path of a virtual host and its run of matches.
    PathEntry {
        virtual_host: u32,
        /// `PATH_EXACT` or `PATH_PREFIX`.
        kind: u32,
        /// Prefixes without their trailing slash; `/` is the empty text.
        path_offset: u32,
        path_length: u32,
        match_first: u32,
        match_count: u32,
    }

    /// A slot of the open-addressed hash (virtual host, kind, path) → entry; linear probing, a power of two of slots.
    PathSlot {
        hash: u32,
        /// Path entry or `NONE` for an empty slot.
        entry: u32,
    }

    /// One match after host and path; those of a run are tried in order.
    MatchRecord {
        action: u32,
        /// Empty: any method.
        method_offset: u32,
        method_length: u32,
        header_first: u32,
        header_count: u32,
    }

    /// One condition on a request header.
    HeaderRecord {
        /// Lower case.
        name_offset: u32,
        name_length: u32,
        value_offset: u32,
        value_length: u32,
    }

    /// What a matched request or connection gets.
    ActionRecord {
        /// Counter, gauge and cursor slot.
        slot: u32,
        request_timeout_ms: u32,
        backend_request_timeout_ms: u32,
        backend_first: u32,
        backend_count: u32,
        /// Entries of `sequences` (equal weights share a run); none when one backend stands alone or the weights are too fine for `MAX_SEQUENCE`.
        sequence_first: u32,
        sequence_count: u32,
        name_offset: u32,
        name_length: u32,
    }

    /// One weighted backend of an action.
    BackendRecord {
        /// `BACKEND_CLUSTER` or `BACKEND_INVALID`.
        kind: u32,
        /// Endpoint set id, or the HTTP status to answer with.
        value: u32,
        weight: u32,
        /// Sum of the weights of this action's backends up to and with this one.
        cumulative: u32,
    }

    /// Index of a backend within its action; at ticket `t` the entry `t mod count` is used.
    SequenceEntry {
        backend: u16,
    }

    /// An inclusive range of client addresses; sorted by (family, low) and disjoint within a listener.
    NetworkRecord {
        /// Network byte order; IPv4 in the last four bytes.
        low: [u8; 16],
        high: [u8; 16],
        /// 4 or 6; IPv4-mapped addresses count as 4.
        family: u32,
        reserved: u32,
    }

    /// Head of the endpoint region (primary writes, workers read); the directory follows at `ENDPOINT_DIRECTORY_OFFSET`.
    EndpointsHead {
        /// Grows with every change of a directory entry.
        epoch: u64,
        /// Bytes of the region that were ever handed out.
        arena_used: u64,
    }

    /// Head of an immutable endpoint-set block; `EndpointRecord`s follow, then the sequence of u16.
    EndpointBlock {
        /// Cursor slot of the set.
        slot: u32,
        endpoints: u32,
        /// Entries of the sequence; 0: no endpoint is usable.
        sequence: u32,
        reserved: u32,
    }

    /// One address of a set.
    EndpointRecord {
        /// 4 or 6.
        family: u8,
        /// `HEALTH_*`.
        health: u8,
        port: u16,
        /// Counter, gauge and resting slot.
        slot: u32,
        /// Network byte order; IPv4 in the first four bytes.
        ip: [u8; 16],
    }

    /// One worker's column of the control region (`CONTROL_STRIDE` bytes apart); all fields are written atomically.
    WorkerControl {
        /// CLOCK_MONOTONIC, written by the loop thread.
        heartbeat_ms: u64,
        /// Endpoint epoch that the worker has passed.
        epoch: u64,
        /// Table generation that new requests use.
        generation: u64,
        connections: u32,
        /// 1: no new connections for want of descriptors.
        paused: u32,
        pid: u32,
        requests_inflight: u32,
        log_dropped: u64,
        accepts: u64,
        pipe_fallbacks: u64,
        /// Oldest generation that a request of this worker still holds.
        oldest_generation: u64,
    }

    /// First page of a log ring; `LOG_RING_BYTES` of data follow at `LOG_RING_DATA_OFFSET`.
    LogRingHead {
        /// Bytes ever written (writer: worker loop).
        head: u64,
        /// Records dropped for want of room (writer: worker loop).
        dropped: u64,
        /// Keeps the reader's word off the writer's cache line.
        pad: [u8; 48],
        /// Bytes ever read (writer: log thread of the primary).
        tail: u64,
    }

    /// Head of one record in a log ring; the payload follows, padded to 8 bytes.
    LogEntry {
        /// Payload bytes without padding.
        length: u32,
        /// `LOG_KIND_*`.
        kind: u32,
    }

    /// Fixed part of an access record; its texts follow without separators in the order of the length fields.
    AccessHead {
        /// CLOCK_REALTIME of the end, microseconds.
        time_us: u64,
        /// From the first byte of the head (or the accept) to the end.
        duration_us: u64,
        /// From the same start to the first byte of the upstream's answer; 0: none came.
        upstream_us: u64,
        generation: u64,
        bytes_in: u64,
        bytes_out: u64,
        /// Network byte order; IPv4 in the first four bytes.
        client_ip: [u8; 16],
        upstream_ip: [u8; 16],
        client_port: u16,
        upstream_port: u16,
        /// 0 for TCP.
        status: u16,
        /// 4, 6 or 0 (unknown).
        client_family: u8,
        upstream_family: u8,
        /// `ACCESS_*`.
        protocol: u8,
        /// `session::CloseReason`.
        close_reason: u8,
        /// Further tries after the first.
        retries: u8,
        reserved: u8,
        method_length: u16,
        host_length: u16,
        path_length: u16,
        listener_length: u16,
        action_length: u16,
        user_agent_length: u16,
    }
}

macro_rules! constants {
    ($( $(#[$meta:meta])* $name:ident : $ty:ident = $value:expr; )*) => {
        $( $(#[$meta])* pub const $name: $ty = $value; )*

        /// Every constant of the formats by name, for xtask and the layout hash.
        pub const CONSTANTS: &[(&str, u64)] = &[ $( (stringify!($name), $name as u64), )* ];
    };
}

constants! {
    /// `WGT1` in the first four bytes.
    MAGIC: u32 = 0x3154_4757;
    /// No index.
    NONE: u32 = u32::MAX;
    /// Sections of a table.
    SECTION_COUNT: usize = SECTIONS.len();
    /// Largest table in bytes; keeps every offset within u31.
    MAX_TABLE_BYTES: usize = 1 << 31;

    FLAG_VIA: u32 = 1;
    FLAG_ACCESS_LOG: u32 = 2;

    PROTOCOL_NONE: u32 = 0;
    PROTOCOL_HTTP: u32 = 1;
    PROTOCOL_TCP: u32 = 2;

    PATH_EXACT: u32 = 0;
    PATH_PREFIX: u32 = 1;
    /// A virtual host without prefixes.
    PREFIX_LEVELS_NONE: u32 = u32::MAX;

    BACKEND_CLUSTER: u32 = 1;
    BACKEND_INVALID: u32 = 2;

    /// Longest sequence of one action or endpoint set (an endpoint set with more endpoints gets one entry for each).
    MAX_SEQUENCE: usize = 4096;
    /// Most labels of a hostname (253 bytes).
    MAX_LABELS: usize = 128;
    /// Most sockets of one table.
    MAX_SOCKETS: usize = 1 << 16;

    /// Most slots (counters, gauges, cursors); ids come from the primary's slot book.
    MAX_SLOTS: usize = 1 << 20;
    /// Counters (u64) of one slot.
    SLOT_CELLS: usize = 16;
    /// Columns; a replacement worker takes its predecessor's.
    MAX_WORKERS: usize = 64;
    /// Endpoint sets.
    MAX_SETS: usize = 1 << 18;

    /// Bytes from one worker's control column to the next.
    CONTROL_STRIDE: usize = 4096;
    CONTROL_BYTES: usize = MAX_WORKERS * CONTROL_STRIDE;

    /// Counters region: close reasons by number, then engine-wide cells, then slots.
    REASON_CELLS: usize = 256;
    /// First engine-wide cell (index in u64).
    ENGINE_CELLS_FIRST: usize = 256;
    ENGINE_CELLS: usize = 256;
    /// Byte offset of slot 0.
    COUNTERS_SLOTS_OFFSET: usize = 4096;
    COUNTERS_BYTES: usize = COUNTERS_SLOTS_OFFSET + MAX_SLOTS * SLOT_CELLS * 8;

    GAUGES_BYTES: usize = MAX_SLOTS * 4;

    /// Cursors region: u32 positions by slot, then u64 "resting until" by slot.
    CURSORS_RESTING_OFFSET: usize = MAX_SLOTS * 4;
    CURSORS_BYTES: usize = MAX_SLOTS * 12;

    /// Endpoint region: head, directory of u32 (block offset / `ENDPOINT_BLOCK_ALIGN`, 0: none), arena.
    ENDPOINT_DIRECTORY_OFFSET: usize = 4096;
    ENDPOINT_ARENA_OFFSET: usize = ENDPOINT_DIRECTORY_OFFSET + MAX_SETS * 4;
    ENDPOINT_BLOCK_ALIGN: usize = 64;
    /// Most endpoints of one set (an index is a u16).
    MAX_ENDPOINTS: usize = 65_535;
    /// Left out by the active check.
    HEALTH_DOWN: u8 = 0;
    /// Usable: passed, or not checked.
    HEALTH_UP: u8 = 1;

    LOG_RING_DATA_OFFSET: usize = 4096;
    LOG_RING_BYTES: usize = 1 << 20;
    /// Longest payload; longer texts are cut.
    LOG_MAX_PAYLOAD: usize = 8192;
    LOG_KIND_ACCESS: u32 = 1;

    ACCESS_HTTP10: u8 = 0;
    ACCESS_HTTP11: u8 = 1;
    ACCESS_TCP: u8 = 2;
    /// A request whose connection was upgraded.
    ACCESS_UPGRADE: u8 = 3;
}

/// Sections of a table in the order of the directory, with the bytes of one record.
pub const SECTIONS: &[(&str, usize)] = &[
    ("settings", SettingsRecord::SIZE),
    ("sockets", SocketRecord::SIZE),
    ("listeners", ListenerRecord::SIZE),
    ("host_nodes", HostNode::SIZE),
    ("host_edges", HostEdge::SIZE),
    ("virtual_hosts", VirtualHostRecord::SIZE),
    ("path_entries", PathEntry::SIZE),
    ("path_slots", PathSlot::SIZE),
    ("matches", MatchRecord::SIZE),
    ("headers", HeaderRecord::SIZE),
    ("actions", ActionRecord::SIZE),
    ("backends", BackendRecord::SIZE),
    ("sequences", SequenceEntry::SIZE),
    ("networks", NetworkRecord::SIZE),
    ("strings", 1),
];

/// Position of each section in `SECTIONS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
#[allow(missing_docs)]
pub enum Section {
    Settings,
    Sockets,
    Listeners,
    HostNodes,
    HostEdges,
    VirtualHosts,
    PathEntries,
    PathSlots,
    Matches,
    Headers,
    Actions,
    Backends,
    Sequences,
    Networks,
    Strings,
}

const _: () = assert!(Section::Strings as usize + 1 == SECTIONS.len());

/// Changes with every name, offset, size, type, section or constant above; a table of another hash is refused.
pub const LAYOUT_HASH: u64 = layout_hash();

const fn layout_hash() -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325;
    let mut i = 0;
    while i < RECORDS.len() {
        h = mix_text(h, RECORDS[i].name);
        h = mix(h, RECORDS[i].size as u64);
        let mut f = 0;
        while f < RECORDS[i].fields.len() {
            let field = RECORDS[i].fields[f];
            h = mix_text(h, field.name);
            h = mix_text(h, field.kind);
            h = mix(mix(h, field.offset as u64), field.size as u64);
            f += 1;
        }
        i += 1;
    }
    i = 0;
    while i < SECTIONS.len() {
        h = mix(mix_text(h, SECTIONS[i].0), SECTIONS[i].1 as u64);
        i += 1;
    }
    i = 0;
    while i < CONSTANTS.len() {
        h = mix(mix_text(h, CONSTANTS[i].0), CONSTANTS[i].1);
        i += 1;
    }
    h
}

/// FNV-1a, 64 bits, with a length mark so that two texts cannot run into each other.
const fn mix_text(mut h: u64, text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        h = (h ^ bytes[i] as u64).wrapping_mul(0x0100_0000_01b3);
        i += 1;
    }
    mix(h, bytes.len() as u64)
}

const fn mix(mut h: u64, value: u64) -> u64 {
    let bytes = value.to_le_bytes();
    let mut i = 0;
    while i < 8 {
        h = (h ^ bytes[i] as u64).wrapping_mul(0x0100_0000_01b3);
        i += 1;
    }
    h
}
