//! A table with one HTTP and one TCP socket, two endpoints behind each, and the shared memory to go with it.

use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;

use table::Table;
use table::layout::{
    ActionRecord, BACKEND_CLUSTER, BackendRecord, EndpointBlock, EndpointRecord, HEALTH_UP, Header, HostNode,
    LAYOUT_HASH, ListenerRecord, MAGIC, MatchRecord, NONE, PATH_PREFIX, PROTOCOL_HTTP, PROTOCOL_TCP, PathEntry,
    PathSlot, Record, SECTION_COUNT, SECTIONS, Section, SectionEntry, SettingsRecord, SocketRecord, VirtualHostRecord,
};

use super::super::core::{Core, LoadedTable};
use super::super::turn::Loop;
use super::kernel::{Shared as Net, Simulated};
use crate::host::memory::Memory;
use crate::shared::Shared;
use crate::sys::memory::{SealedMemory, create_sealed};

pub const HTTP_SOCKET: u32 = 0;
pub const TCP_SOCKET: u32 = 1;
const HTTP_SET: u32 = 1;
const TCP_SET: u32 = 2;
pub const HTTP_SLOTS: [u32; 2] = [20, 21];
pub const TCP_SLOTS: [u32; 2] = [22, 23];
/// Listener and action slots of HTTP and TCP.
pub const SLOTS: [u32; 4] = [10, 11, 12, 13];

pub fn endpoint(n: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 2], 9_000 + n))
}

fn put<R: Record>(sections: &mut [Vec<u8>], section: Section, record: R) {
    let bytes = &mut sections[section as usize];
    let at = bytes.len();
    bytes.resize(at + R::SIZE, 0);
    record.write(&mut bytes[at..]);
}

/// The format's hash (crate `table`, `hash.rs`) of an empty prefix below virtual host 0, with seed 0.
fn empty_prefix_hash() -> u32 {
    let mut h = 0x811c_9dc5u32 ^ PATH_PREFIX.wrapping_mul(0x85eb_ca77);
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

pub fn table() -> Arc<LoadedTable> {
    let mut s: Vec<Vec<u8>> = vec![Vec::new(); SECTION_COUNT];
    put(
        &mut s,
        Section::Settings,
        SettingsRecord {
            workers: 1,
            max_head_bytes: 65_536,
            max_headers: 100,
            max_idle_per_endpoint: 8,
            flags: 0,
            log_target_offset: 0,
            log_target_length: 0,
            reserved: 0,
        },
    );
    let socket = |protocol, listener_root, tcp_listener, first_listener| SocketRecord {
        protocol,
        listener_root,
        tcp_listener,
        key_offset: 0,
        key_length: 0,
        first_listener,
    };
    put(&mut s, Section::Sockets, socket(PROTOCOL_HTTP, 0, NONE, 0));
    put(&mut s, Section::Sockets, socket(PROTOCOL_TCP, NONE, 1, 1));
    let listener = |slot, protocol, route_root, tcp_action| ListenerRecord {
        slot,
        protocol,
        idle_ms: 60_000,
        header_ms: 10_000,
        connect_ms: 5_000,
        stream_idle_ms: 60_000,
        tunnel_idle_ms: 600_000,
        half_closed_ms: 60_000,
        route_root,
        tcp_action,
        trusted_first: 0,
        trusted_count: 0,
        name_offset: 0,
        name_length: 0,
        hostname_offset: 0,
        hostname_length: 0,
    };
    put(&mut s, Section::Listeners, listener(SLOTS[0], PROTOCOL_HTTP, 1, NONE));
    put(&mut s, Section::Listeners, listener(SLOTS[2], PROTOCOL_TCP, NONE, 1));
    for _ in 0..2 {
        put(
            &mut s,
            Section::HostNodes,
            HostNode { parent: NONE, label_offset: 0, label_length: 0, exact: NONE, wildcard: 0 },
        );
    }
    put(
        &mut s,
        Section::VirtualHosts,
        VirtualHostRecord {
            hostname_offset: 0,
            hostname_length: 0,
            entry_first: 0,
            entry_count: 1,
            prefix_levels: 0,
            has_exact: 0,
            next: NONE,
            reserved: 0,
        },
    );
    put(
        &mut s,
        Section::PathEntries,
        PathEntry {
            virtual_host: 0,
            kind: PATH_PREFIX,
            path_offset: 0,
            path_length: 0,
            match_first: 0,
            match_count: 1,
        },
    );
    let hash = empty_prefix_hash();
    for slot in 0..2 {
        let filled = hash & 1 == slot;
        put(
            &mut s,
            Section::PathSlots,
            PathSlot { hash: if filled { hash } else { 0 }, entry: if filled { 0 } else { NONE } },
        );
    }
    put(
        &mut s,
        Section::Matches,
        MatchRecord { action: 0, method_offset: 0, method_length: 0, header_first: 0, header_count: 0 },
    );
    for (i, (slot, set)) in [(SLOTS[1], HTTP_SET), (SLOTS[3], TCP_SET)].into_iter().enumerate() {
        put(
            &mut s,
            Section::Actions,
            ActionRecord {
                slot,
                request_timeout_ms: 0,
                backend_request_timeout_ms: 0,
                backend_first: i as u32,
                backend_count: 1,
                sequence_first: 0,
                sequence_count: 0,
                name_offset: 0,
                name_length: 0,
            },
        );
        put(&mut s, Section::Backends, BackendRecord { kind: BACKEND_CLUSTER, value: set, weight: 1, cumulative: 1 });
    }
    let fd = create_sealed("table", &assemble(&s)).expect("memfd");
    Arc::new(Table::parse(SealedMemory::map(fd.as_fd()).expect("map")).expect("the fixture is a valid table"))
}

fn assemble(sections: &[Vec<u8>]) -> Vec<u8> {
    let mut at = (Header::SIZE + SECTION_COUNT * SectionEntry::SIZE).next_multiple_of(8);
    let mut bytes = vec![0; at];
    for (i, data) in sections.iter().enumerate() {
        let entry = SectionEntry { offset: at as u32, count: (data.len() / SECTIONS[i].1) as u32 };
        entry.write(&mut bytes[Header::SIZE + i * SectionEntry::SIZE..]);
        bytes.extend_from_slice(data);
        at = bytes.len().next_multiple_of(8);
        bytes.resize(at, 0);
    }
    let header = Header {
        magic: MAGIC,
        sections: SECTION_COUNT as u32,
        layout_hash: LAYOUT_HASH,
        generation: 1,
        length: bytes.len() as u32,
        hash_seed: 0,
        host_probe: 1,
        path_probe: 2,
    };
    header.write(&mut bytes);
    bytes
}

/// A set of two endpoints of equal weight.
fn block(set_slot: u32, endpoints: [(SocketAddr, u32); 2]) -> Vec<u8> {
    let mut bytes = vec![0; EndpointBlock::SIZE + 2 * EndpointRecord::SIZE + 4];
    EndpointBlock { slot: set_slot, endpoints: 2, sequence: 2, reserved: 0 }.write(&mut bytes);
    for (i, (addr, slot)) in endpoints.into_iter().enumerate() {
        let SocketAddr::V4(v4) = addr else { continue };
        let mut ip = [0; 16];
        ip[..4].copy_from_slice(&v4.ip().octets());
        EndpointRecord { family: 4, health: HEALTH_UP, port: v4.port(), slot, ip }
            .write(&mut bytes[EndpointBlock::SIZE + i * EndpointRecord::SIZE..]);
    }
    let sequence = EndpointBlock::SIZE + 2 * EndpointRecord::SIZE;
    bytes[sequence + 2] = 1;
    bytes
}

pub struct Rig {
    pub engine: Loop<Simulated>,
    _memory: Memory,
}

/// Shared memory in which the HTTP set has the first two endpoints and the TCP set the other two.
pub fn memory(endpoints: [SocketAddr; 4]) -> (Memory, Shared) {
    let [a, b, c, d] = endpoints;
    let mut memory = Memory::create().expect("regions");
    memory.arena.set(HTTP_SET, &block(30, [(a, HTTP_SLOTS[0]), (b, HTTP_SLOTS[1])]), u64::MAX).expect("set");
    memory.arena.set(TCP_SET, &block(31, [(c, TCP_SLOTS[0]), (d, TCP_SLOTS[1])]), u64::MAX).expect("set");
    let fds = memory.occupy(0).expect("column").iter().map(|fd| fd.try_clone().expect("dup")).collect();
    let shared = Shared::from_hello(0, fds).expect("hello");
    (memory, shared)
}

/// An engine that serves both sockets on the given network.
pub fn rig(net: &Net) -> Rig {
    rig_with(net, 100_000, usize::MAX)
}

/// The same on a host with so many descriptors and bytes of memory.
pub fn rig_with(net: &Net, descriptors: usize, host_bytes: usize) -> Rig {
    let (memory, shared) = memory([endpoint(0), endpoint(1), endpoint(2), endpoint(3)]);
    let mut core = Core::new(Simulated(net.clone()), shared, 3, host_bytes, 1);
    core.table = Some(table());
    let mut engine = Loop::new(core, descriptors);
    engine.listeners.add(&mut engine.core, HTTP_SOCKET, 0, HTTP_SOCKET);
    engine.listeners.add(&mut engine.core, TCP_SOCKET, 0, TCP_SOCKET);
    Rig { engine, _memory: memory }
}
