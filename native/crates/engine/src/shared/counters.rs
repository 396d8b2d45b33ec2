//! Counters, gauges and cursors by slot id: typed views of three regions.
//! What a cell counts is declared in `table::counters`. Serves the worker (writer) and the host (reader).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::region as at;
use crate::sys::memory::Mapping;

/// One worker's counters: they only grow, and outlive the worker.
#[derive(Clone)]
pub struct Counters {
    map: Arc<Mapping>,
}

impl Counters {
    /// Views a mapping of a counters region.
    pub fn new(map: Arc<Mapping>) -> Self {
        Self { map }
    }

    /// Adds to one cell of a slot. An unknown slot or cell counts nowhere. Single writer: no locked instruction.
    #[inline]
    pub fn add(&self, slot: u32, cell: usize, n: u64) {
        if (slot as usize) < at::MAX_SLOTS && cell < at::SLOT_CELLS {
            self.bump(slot_offset(slot, cell), n);
        }
    }

    /// Counts one close by its reason's number.
    #[inline]
    pub fn reason(&self, n: usize) {
        if n < at::REASON_CELLS {
            self.bump(n * 8, 1);
        }
    }

    /// Adds to an engine-wide counter: a cell of the head after the reasons, from 0.
    #[inline]
    pub fn engine(&self, cell: usize, n: u64) {
        if cell < at::ENGINE_CELLS {
            self.bump((at::ENGINE_CELLS_FIRST + cell) * 8, n);
        }
    }

    /// One cell's value; 0 when unknown.
    pub fn read(&self, slot: u32, cell: usize) -> u64 {
        if (slot as usize) < at::MAX_SLOTS && cell < at::SLOT_CELLS { self.load(slot_offset(slot, cell)) } else { 0 }
    }

    /// How often a close reason was counted.
    pub fn read_reason(&self, n: usize) -> u64 {
        if n < at::REASON_CELLS { self.load(n * 8) } else { 0 }
    }

    /// An engine-wide counter.
    pub fn read_engine(&self, cell: usize) -> u64 {
        if cell < at::ENGINE_CELLS { self.load((at::ENGINE_CELLS_FIRST + cell) * 8) } else { 0 }
    }

    #[inline]
    fn bump(&self, offset: usize, n: u64) {
        if let Some(word) = self.map.u64_at(offset) {
            word.store(word.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
        }
    }

    fn load(&self, offset: usize) -> u64 {
        self.map.u64_at(offset).map_or(0, |word| word.load(Ordering::Relaxed))
    }
}

#[inline]
fn slot_offset(slot: u32, cell: usize) -> usize {
    at::COUNTERS_SLOTS_OFFSET + (slot as usize * at::SLOT_CELLS + cell) * 8
}

/// One worker's gauges: what is in flight now. Zeroed by the primary once the worker is dead.
#[derive(Clone)]
pub struct Gauges {
    map: Arc<Mapping>,
}

impl Gauges {
    /// Views a mapping of a gauges region.
    pub fn new(map: Arc<Mapping>) -> Self {
        Self { map }
    }

    /// One more in flight on this slot. Single writer.
    #[inline]
    pub fn inc(&self, slot: u32) {
        if let Some(word) = self.map.u32_at(slot as usize * 4) {
            word.store(word.load(Ordering::Relaxed).saturating_add(1), Ordering::Relaxed);
        }
    }

    /// One less in flight; stays at 0. Single writer.
    #[inline]
    pub fn dec(&self, slot: u32) {
        if let Some(word) = self.map.u32_at(slot as usize * 4) {
            word.store(word.load(Ordering::Relaxed).saturating_sub(1), Ordering::Relaxed);
        }
    }

    /// What this worker has in flight on the slot.
    pub fn read(&self, slot: u32) -> u32 {
        self.map.u32_at(slot as usize * 4).map_or(0, |word| word.load(Ordering::Relaxed))
    }
}

/// Round-robin positions and resting endpoints, shared by all workers.
#[derive(Clone)]
pub struct Cursors {
    map: Arc<Mapping>,
}

impl Cursors {
    /// Views a mapping of the cursors region.
    pub fn new(map: Arc<Mapping>) -> Self {
        Self { map }
    }

    /// The next ticket of a slot: every caller on the host gets another one (until it wraps at 2³²). 0 when unknown.
    #[inline]
    pub fn next(&self, slot: u32) -> u32 {
        self.cursor(slot).map_or(0, |word| word.fetch_add(1, Ordering::Relaxed))
    }

    /// Until when (CLOCK_MONOTONIC ms) an endpoint slot is not to be tried; 0: usable.
    #[inline]
    pub fn resting_until(&self, slot: u32) -> u64 {
        self.resting(slot).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Rests an endpoint until a time (CLOCK_MONOTONIC ms); never shortens a rest.
    pub fn rest(&self, slot: u32, until_ms: u64) {
        if let Some(word) = self.resting(slot) {
            word.fetch_max(until_ms, Ordering::Relaxed);
        }
    }

    /// Makes an endpoint usable again at once.
    pub fn wake(&self, slot: u32) {
        if let Some(word) = self.resting(slot) {
            word.store(0, Ordering::Relaxed);
        }
    }

    fn cursor(&self, slot: u32) -> Option<&std::sync::atomic::AtomicU32> {
        if (slot as usize) < at::MAX_SLOTS { self.map.u32_at(slot as usize * 4) } else { None }
    }

    fn resting(&self, slot: u32) -> Option<&std::sync::atomic::AtomicU64> {
        if (slot as usize) < at::MAX_SLOTS {
            self.map.u64_at(at::CURSORS_RESTING_OFFSET + slot as usize * 8)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::memory::Region;
    use std::os::fd::AsFd;

    fn map(len: usize) -> Arc<Mapping> {
        let region = Region::create("wg-test", len).unwrap();
        Arc::new(Mapping::map(region.as_fd(), len).unwrap())
    }

    #[test]
    fn counters_of_unknown_slots_and_cells_count_nowhere() {
        let counters = Counters::new(map(at::COUNTERS_BYTES));
        counters.add(at::MAX_SLOTS as u32, 0, 5);
        counters.add(u32::MAX, 0, 5);
        counters.add(3, at::SLOT_CELLS, 5);
        counters.reason(at::REASON_CELLS);
        counters.engine(1000, 1);
        assert_eq!(counters.read(4, 0), 0);
        counters.add(at::MAX_SLOTS as u32 - 1, 15, 5);
        counters.add(at::MAX_SLOTS as u32 - 1, 15, 2);
        assert_eq!(counters.read(at::MAX_SLOTS as u32 - 1, 15), 7);
        counters.reason(255);
        assert_eq!(counters.read_reason(255), 1);
        counters.engine(0, 3);
        assert_eq!((counters.read_engine(0), counters.read(0, 0)), (3, 0));
    }

    #[test]
    fn a_gauge_never_falls_below_zero() {
        let gauges = Gauges::new(map(at::GAUGES_BYTES));
        gauges.dec(9);
        gauges.inc(9);
        gauges.inc(9);
        gauges.dec(9);
        assert_eq!(gauges.read(9), 1);
        gauges.inc(u32::MAX);
    }

    #[test]
    fn every_caller_gets_another_ticket_and_a_rest_is_never_shortened() {
        let cursors = Cursors::new(map(at::CURSORS_BYTES));
        let tickets = std::sync::Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mine: Vec<u32> = (0..1000).map(|_| cursors.next(7)).collect();
                    tickets.lock().unwrap().extend(mine);
                });
            }
        });
        let mut tickets = tickets.into_inner().unwrap();
        tickets.sort_unstable();
        assert_eq!(tickets, (0..4000).collect::<Vec<u32>>());
        cursors.rest(7, 500);
        cursors.rest(7, 400);
        assert_eq!(cursors.resting_until(7), 500);
        cursors.wake(7);
        assert_eq!((cursors.resting_until(7), cursors.next(8)), (0, 0));
    }
}
