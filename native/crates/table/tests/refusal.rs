//! What `Table::parse` refuses, and that no bytes at all make it or an accessor panic.

mod checks;

use proptest::prelude::*;
use table::layout::{Header, LAYOUT_HASH, Record, SECTION_COUNT, SECTIONS, SectionEntry};
use table::testing::{encode, sample};
use table::{Table, TableError};

fn section_offset(bytes: &[u8], name: &str) -> usize {
    let position = SECTIONS.iter().position(|section| section.0 == name).unwrap();
    SectionEntry::read(&bytes[Header::SIZE + position * SectionEntry::SIZE..]).offset as usize
}

fn set_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

#[test]
fn every_seed_gives_a_valid_table_with_the_same_dump() {
    let first = Table::parse(encode(&sample(), 0)).unwrap().dump();
    for seed in 1..50 {
        assert_eq!(Table::parse(encode(&sample(), seed)).unwrap().dump(), first);
    }
}

#[test]
fn a_table_of_another_layout_says_what_to_do() {
    let mut bytes = encode(&sample(), 0);
    bytes[8] ^= 1;
    let error = Table::parse(bytes).unwrap_err();
    assert_eq!(error, TableError::LayoutHash { expected: LAYOUT_HASH, got: LAYOUT_HASH ^ 1 });
    assert!(error.to_string().contains("restart the worker with the same release"), "{error}");
}

#[test]
fn a_cut_table_is_refused_at_every_length() {
    let bytes = encode(&sample(), 0);
    for length in 0..bytes.len() {
        assert!(Table::parse(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
    }
}

#[test]
fn each_broken_field_is_named() {
    let cases: &[(&str, usize, u32, &str)] = &[
        ("sockets", 0, 9, "sockets[0].protocol"),
        ("sockets", 4, 1_000, "sockets[0].listener_root"),
        ("sockets", 2 * 24 + 8, 0, "sockets[2].tcp_listener"),
        ("listeners", 0, u32::MAX, "listeners[0].slot"),
        ("listeners", 64 + 40, 1, "listeners[1].trusted"),
        ("listeners", 48, u32::MAX, "listeners[0].name"),
        ("host_nodes", 2 * 20, 5, "host_nodes[2].parent"),
        ("virtual_hosts", 8, 1, "virtual_hosts[0].entries"),
        ("virtual_hosts", 24, 0, "virtual_hosts[0].next"),
        ("path_entries", 0, 1, "path_entries[0].virtual_host"),
        ("matches", 0, 99, "matches[0].action"),
        ("actions", 36 + 20, 1, "actions[1].sequence"),
        ("backends", 0, 7, "backends[0].kind"),
        ("backends", 16 + 8, 0, "backends[1].weight"),
        ("sequences", 0, 9, "actions[1].sequence"),
        ("networks", 32, 5, "networks[0].family"),
        ("settings", 4, 0, "settings[0].max_head_bytes"),
    ];
    for &(section, offset, value, expected) in cases {
        let mut bytes = encode(&sample(), 0);
        let at = section_offset(&bytes, section) + offset;
        set_u32(&mut bytes, at, value);
        match Table::parse(bytes) {
            Ok(_) => panic!("{section}+{offset} = {value} was accepted"),
            Err(error) => assert!(error.to_string().contains(expected), "{error} does not name {expected}"),
        }
    }
}

#[test]
fn an_index_slot_that_is_emptied_or_moved_or_mislabelled_is_refused() {
    for (section, count) in [("host_edges", 8), ("path_slots", 16)] {
        let bytes = encode(&sample(), 0);
        let first = section_offset(&bytes, section);
        let full = |slot: &usize| bytes[first + slot * 8 + 4..][..4] != [0xff; 4];
        for slot in (0..count).filter(full) {
            let mut emptied = bytes.clone();
            set_u32(&mut emptied, first + slot * 8 + 4, u32::MAX);
            assert!(Table::parse(emptied).is_err(), "{section}[{slot}] emptied");
            let mut mislabelled = bytes.clone();
            mislabelled[first + slot * 8] ^= 1;
            assert!(Table::parse(mislabelled).is_err(), "{section}[{slot}] mislabelled");
            let mut twice = bytes.clone();
            for other in (0..count).filter(full) {
                twice.copy_within(first + slot * 8..first + slot * 8 + 8, first + other * 8);
            }
            assert!(Table::parse(twice).is_err(), "{section}[{slot}] everywhere");
        }
    }
}

#[test]
fn overlapping_and_unaligned_sections_are_refused() {
    for (index, field, value) in [(3, 0, 41), (4, 0, 0), (5, 4, u32::MAX), (SECTION_COUNT - 1, 0, 8)] {
        let mut bytes = encode(&sample(), 0);
        set_u32(&mut bytes, Header::SIZE + index * SectionEntry::SIZE + field, value);
        assert!(matches!(Table::parse(bytes), Err(TableError::Section { .. })), "section {index}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn any_bytes_are_refused_or_harmless(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        checks::bytes(&bytes);
        checks::edits(&bytes);
    }

    #[test]
    fn a_damaged_table_is_refused_or_harmless(
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        seed in 0..4u32,
    ) {
        let mut bytes = encode(&sample(), seed);
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        checks::bytes(&bytes);
    }

    #[test]
    fn a_damaged_word_is_refused_or_harmless(
        at in any::<prop::sample::Index>(),
        value in prop_oneof![Just(0), Just(1), Just(u32::MAX), Just(u32::MAX - 1), 0..200u32, any::<u32>()],
    ) {
        let mut bytes = encode(&sample(), 0);
        let at = at.index(bytes.len() / 4) * 4;
        set_u32(&mut bytes, at, value);
        checks::bytes(&bytes);
    }
}
