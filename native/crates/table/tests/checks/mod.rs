//! What must hold for any bytes as a table; shared by the tests of this crate and native/fuzz.

use table::Table;
use table::layout::{Header, LAYOUT_HASH, MAGIC, Record, SECTION_COUNT};
use table::testing::{encode, sample};

/// Any bytes are refused, or every accessor is harmless; so they are behind a header that says the right things.
pub fn bytes(bytes: &[u8]) {
    if let Ok(table) = Table::parse(bytes) {
        exercise(&table);
    }
    if bytes.len() < Header::SIZE {
        return;
    }
    let mut bytes = bytes.to_vec();
    let length = bytes.len() as u32;
    let header = Header::read(&bytes);
    let sections = SECTION_COUNT as u32;
    Header { magic: MAGIC, sections, layout_hash: LAYOUT_HASH, length, ..header }.write(&mut bytes);
    if let Ok(table) = Table::parse(&bytes[..]) {
        exercise(&table);
    }
}

/// Reads the input as edits of a valid table (place: two bytes, value: one byte) and checks the outcome.
pub fn edits(input: &[u8]) {
    let mut table = encode(&sample(), 0);
    for edit in input.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % table.len();
        table[at] = edit[2];
    }
    bytes(&table);
}

/// Calls every accessor with every index and some names; must not panic whatever the bytes.
fn exercise(table: &Table<&[u8]>) {
    let _ = table.dump();
    for id in 0..table.socket_limit() + 1 {
        let Some(socket) = table.socket(id) else { continue };
        for name in [&b"api.example.com"[..], b"", b".", b"..", b"x.y.example.com", b"\xff"] {
            for listener in table.listeners(socket.listener_root, name) {
                table.is_trusted(listener, "10.1.2.3".parse().unwrap());
                for host in table.virtual_hosts(table.listener(listener).route_root, name) {
                    for path in [&b"/"[..], b"/a/b", b"/v2/", b"*", b"", b"////"] {
                        table.paths(host, path).for_each(|run| table.matches(run).for_each(drop));
                    }
                }
            }
        }
    }
    for action in table.actions() {
        for ticket in [0, 1, u32::MAX] {
            table.choose_backend(action, ticket);
        }
    }
}
