//! Records and sections of a table, and the constants of their fields.

use core::mem::offset_of;

use super::record::{Field, Record, Scalar, Shape, records};

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
}
