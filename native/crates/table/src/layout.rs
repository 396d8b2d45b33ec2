//! The one declaration of every binary format: table sections, endpoint sets, and the shared-memory regions.
//! Only shapes and sizes live here; xtask prints the TypeScript side from `RECORDS`, `SECTIONS` and `CONSTANTS`.
//! All integers are little-endian; offsets are those of `repr(C)` and no record has hidden padding (the macro checks).

mod constants;
mod record;
mod sections;
mod shared;

use crate::counters::{Cell, KINDS};

pub use constants::*;
pub use record::{Field, Record, Shape};
pub use sections::*;
pub use shared::*;

/// Every record, in order of declaration: those of tables, then those of shared memory.
pub const RECORDS: &[&[Shape]] = &[sections::RECORDS, shared::RECORDS];

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

/// Changes with every name, offset, size, type, section, constant and counter cell; a table of another hash is refused.
pub const LAYOUT_HASH: u64 = layout_hash();

const fn layout_hash() -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325;
    let mut i = 0;
    while i < RECORDS.len() {
        let mut r = 0;
        while r < RECORDS[i].len() {
            h = mix_shape(h, &RECORDS[i][r]);
            r += 1;
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
    i = 0;
    while i < KINDS.len() {
        h = mix_cells(mix_text(h, KINDS[i].0), KINDS[i].1);
        i += 1;
    }
    h
}

const fn mix_cells(mut h: u64, cells: &[Cell]) -> u64 {
    let mut i = 0;
    while i < cells.len() {
        h = mix(mix_text(h, cells[i].name), cells[i].number as u64);
        i += 1;
    }
    h
}

const fn mix_shape(h: u64, shape: &Shape) -> u64 {
    let mut h = mix(mix_text(h, shape.name), shape.size as u64);
    let mut f = 0;
    while f < shape.fields.len() {
        let field = shape.fields[f];
        h = mix_text(mix_text(h, field.name), field.kind);
        h = mix(mix(h, field.offset as u64), field.size as u64);
        f += 1;
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
