//! Every number of the formats that is no field: marks, kinds, limits, and where the parts of a region lie.

use super::SECTIONS;

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
