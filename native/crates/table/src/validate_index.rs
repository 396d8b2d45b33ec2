//! Checks of the two open-addressed indexes: every entry is filed once, where a lookup finds it, within the stated probe.

use crate::error::TableError;
use crate::hash::State;
use crate::layout::{HostEdge, HostNode, NONE, PathEntry, PathSlot, Section};
use crate::validate::{Checker, count_error};

/// Checks `host_edges` against `host_nodes`.
pub(crate) fn host_edges(checker: &Checker) -> Result<(), TableError> {
    let nodes = checker.count(Section::HostNodes);
    // Roots have no edge; they count as filed from the start.
    let node_at = |i: u32| -> HostNode { checker.record(Section::HostNodes, i) };
    let mut filed: Vec<bool> = (0..nodes).map(|i| node_at(i).parent == NONE).collect();
    let index = Index { checker, section: Section::HostEdges, probe: checker.header.host_probe };
    index.check(
        &mut filed,
        |slot| {
            let edge: HostEdge = checker.record(Section::HostEdges, slot);
            (edge.hash, edge.child)
        },
        |child| {
            let node = node_at(child);
            let label = checker.directory.text(checker.bytes, node.label_offset, node.label_length);
            State::new(checker.header.hash_seed, node.parent).extend(label).finish(0)
        },
    )
}

/// Checks `path_slots` against `path_entries`.
pub(crate) fn path_slots(checker: &Checker) -> Result<(), TableError> {
    let mut filed = vec![false; checker.count(Section::PathEntries) as usize];
    let index = Index { checker, section: Section::PathSlots, probe: checker.header.path_probe };
    index.check(
        &mut filed,
        |slot| {
            let slot: PathSlot = checker.record(Section::PathSlots, slot);
            (slot.hash, slot.entry)
        },
        |entry| {
            let r: PathEntry = checker.record(Section::PathEntries, entry);
            let path = checker.directory.text(checker.bytes, r.path_offset, r.path_length);
            State::new(checker.header.hash_seed, r.virtual_host).extend(path).finish(r.kind)
        },
    )
}

struct Index<'c, 'b> {
    checker: &'c Checker<'b>,
    section: Section,
    probe: u32,
}

impl Index<'_, '_> {
    /// `slot_at` gives hash and value of a slot, `hash_of` the hash that a value must have; `filed` marks what was seen.
    fn check(
        &self,
        filed: &mut [bool],
        slot_at: impl Fn(u32) -> (u32, u32),
        hash_of: impl Fn(u32) -> u32,
    ) -> Result<(), TableError> {
        let slots = self.checker.count(self.section);
        // Starting behind an empty slot, a run of full slots is never cut by the end of the section.
        let empty = (0..slots).find(|&slot| slot_at(slot).1 == NONE);
        match empty {
            Some(empty) if slots.is_power_of_two() => self.check_slots(empty, filed, slot_at, hash_of)?,
            None if slots == 0 => {}
            _ => return Err(count_error(self.section, slots, "must be a power of two with an empty slot")),
        }
        if filed.contains(&false) {
            return Err(count_error(self.section, slots, "something is not filed"));
        }
        Ok(())
    }

    fn check_slots(
        &self,
        empty: u32,
        filed: &mut [bool],
        slot_at: impl Fn(u32) -> (u32, u32),
        hash_of: impl Fn(u32) -> u32,
    ) -> Result<(), TableError> {
        let slots = self.checker.count(self.section);
        let mask = slots - 1;
        let mut run = 0;
        for step in 1..=slots {
            let slot = empty.wrapping_add(step) & mask;
            let (hash, value) = slot_at(slot);
            if value == NONE {
                run = 0;
                continue;
            }
            let at = self.checker.at(self.section, slot);
            let fresh = filed.get_mut(value as usize).is_some_and(|mark| !core::mem::replace(mark, true));
            at.require(fresh, "value", value, "names nothing that may be filed here, or a second time")?;
            at.require(hash_of(value) == hash, "hash", hash, "is not the hash of what the slot names")?;
            let distance = slot.wrapping_sub(hash) & mask;
            at.require(distance <= run, "hash", hash, "an empty slot lies before it")?;
            at.require(distance < self.probe, "hash", hash, "lies beyond the stated probe")?;
            run += 1;
        }
        Ok(())
    }
}
