//! All shared regions of one primary: what workers are given, and what the primary reads back.
//! Counters survive their worker; gauges and control words are cleared once it is dead. Serves the host.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::arena::Arena;
use crate::shared::{ControlColumn, ControlValues, Counters, Cursors, Gauges, region as at};
use crate::sys::memory::{Mapping, Region};

/// The regions; per-worker ones are made when their column is first used.
pub struct Memory {
    control: Region,
    cursors: Region,
    pub arena: Arena,
    columns: Vec<Option<Column>>,
}

struct Column {
    counters: Region,
    gauges: Region,
    log: Region,
    control: ControlColumn,
    /// A worker may be using it: from HELLO until the primary knows that worker dead.
    live: bool,
}

impl Memory {
    /// Creates the regions that do not belong to one column.
    ///
    /// # Errors  Those of memfd_create(2) and mmap(2).
    pub fn create() -> io::Result<Self> {
        Ok(Self {
            control: Region::create("weirgate-control", at::CONTROL_BYTES)?,
            cursors: Region::create("weirgate-cursors", at::CURSORS_BYTES)?,
            arena: Arena::create()?,
            columns: (0..at::MAX_WORKERS).map(|_| None).collect(),
        })
    }

    /// The descriptors of a HELLO for this column, in the order of the protocol; the column is live from now on.
    ///
    /// # Errors  InvalidInput for a column past the limit or one that is live; else those of memfd_create(2).
    pub fn occupy(&mut self, column: u32) -> io::Result<Vec<Arc<OwnedFd>>> {
        let control = ControlColumn::new(self.control.map().clone(), column)
            .ok_or_else(|| invalid(format!("column {column}, below {} expected", at::MAX_WORKERS)))?;
        let place = &mut self.columns[column as usize];
        if place.as_ref().is_some_and(|column| column.live) {
            return Err(invalid(format!("column {column} is in use; zero it once its worker is dead")));
        }
        if place.is_none() {
            *place = Some(Column {
                counters: Region::create("weirgate-counters", at::COUNTERS_BYTES)?,
                gauges: Region::create("weirgate-gauges", at::GAUGES_BYTES)?,
                log: Region::create("weirgate-log", at::LOG_BYTES)?,
                control,
                live: false,
            });
        }
        let Some(column) = place else { return Err(io::ErrorKind::NotFound.into()) };
        column.live = true;
        let regions = [
            self.control.fd(),
            column.counters.fd(),
            column.gauges.fd(),
            self.cursors.fd(),
            self.arena.fd(),
            column.log.fd(),
        ];
        Ok(regions.map(Arc::clone).to_vec())
    }

    /// Clears gauges and control words of a dead worker and makes the column free for its successor. Never counters.
    ///
    /// # Errors  Those of fallocate(2).
    pub fn zero(&mut self, column: u32) -> io::Result<()> {
        let Some(column) = self.columns.get_mut(column as usize).and_then(Option::as_mut) else { return Ok(()) };
        column.gauges.clear()?;
        column.control.zero();
        column.live = false;
        Ok(())
    }

    /// The least endpoint epoch that every live worker has passed; [`u64::MAX`] without workers.
    pub fn passed_epoch(&self) -> u64 {
        self.used().filter(|column| column.live).map(|column| column.control.epoch()).min().unwrap_or(u64::MAX)
    }

    /// What a column's control words say; zeros for one that was never used.
    pub fn control(&self, column: u32) -> ControlValues {
        self.column(column).map(|column| column.control.read()).unwrap_or_default()
    }

    /// How often each close reason was counted in a column.
    pub fn reasons(&self, column: u32) -> Vec<u64> {
        let counters = self.counters(column);
        (0..at::REASON_CELLS).map(|n| counters.as_ref().map_or(0, |counters| counters.read_reason(n))).collect()
    }

    /// The engine-wide counters of a column.
    pub fn engine_cells(&self, column: u32) -> Vec<u64> {
        let counters = self.counters(column);
        (0..at::ENGINE_CELLS).map(|n| counters.as_ref().map_or(0, |counters| counters.read_engine(n))).collect()
    }

    /// The cells of `count` slots from `from`, 16 each; slots past the limit are left out.
    ///
    /// Reading makes pages resident: ask for slots in use.
    pub fn slots(&self, column: u32, from: u32, count: u32) -> Vec<u64> {
        let range = slot_range(from, count);
        match self.counters(column) {
            None => vec![0; range.len() * at::SLOT_CELLS],
            Some(counters) => range
                .flat_map(|slot| (0..at::SLOT_CELLS).map(move |cell| (slot, cell)))
                .map(|(slot, cell)| counters.read(slot, cell))
                .collect(),
        }
    }

    /// The gauges of `count` slots from `from`, each summed over all columns; slots past the limit are left out.
    pub fn gauges(&self, from: u32, count: u32) -> Vec<u64> {
        let gauges: Vec<Gauges> = self.used().map(|column| Gauges::new(column.gauges.map().clone())).collect();
        slot_range(from, count).map(|slot| gauges.iter().map(|gauges| u64::from(gauges.read(slot))).sum()).collect()
    }

    /// Cursors and resting words.
    pub fn cursors(&self) -> Cursors {
        Cursors::new(self.cursors.map().clone())
    }

    /// The log ring of every column in use, live or not.
    pub fn log_rings(&self) -> Vec<(u32, Arc<Mapping>)> {
        let rings = self.columns.iter().zip(0u32..);
        rings.filter_map(|(column, number)| Some((number, column.as_ref()?.log.map().clone()))).collect()
    }

    fn counters(&self, column: u32) -> Option<Counters> {
        Some(Counters::new(self.column(column)?.counters.map().clone()))
    }

    fn column(&self, column: u32) -> Option<&Column> {
        self.columns.get(column as usize)?.as_ref()
    }

    fn used(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().flatten()
    }
}

fn slot_range(from: u32, count: u32) -> std::ops::Range<u32> {
    // Fits: 2²⁰.
    let limit = at::MAX_SLOTS as u32;
    from.min(limit)..from.saturating_add(count).min(limit)
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::Shared;

    fn worker(memory: &mut Memory, column: u32) -> Shared {
        let fds = memory.occupy(column).unwrap();
        Shared::from_hello(column, fds.iter().map(|fd| fd.try_clone().unwrap()).collect()).unwrap()
    }

    #[test]
    fn what_a_worker_counts_the_primary_reads_and_a_death_takes_gauges_only() {
        let mut memory = Memory::create().unwrap();
        let first = worker(&mut memory, 0);
        let second = worker(&mut memory, 63);
        first.counters.add(5, 2, 10);
        first.counters.reason(7);
        first.counters.engine(1, 4);
        first.gauges.inc(5);
        second.gauges.inc(5);
        second.gauges.inc(6);
        first.control.set_heartbeat(99);
        assert_eq!(memory.slots(0, 5, 1)[2], 10);
        assert_eq!(memory.gauges(4, 4), [0, 2, 1, 0]);
        assert_eq!((memory.reasons(0)[7], memory.engine_cells(0)[1]), (1, 4));
        assert_eq!(memory.control(0).heartbeat_ms, 99);
        assert!(memory.occupy(0).is_err(), "live");
        drop(first);
        memory.zero(0).unwrap();
        assert_eq!(memory.gauges(5, 1), [1]);
        assert_eq!(memory.control(0), ControlValues::default());
        assert_eq!(memory.slots(0, 5, 1)[2], 10, "counters never go backwards");
        let heir = worker(&mut memory, 0);
        heir.counters.add(5, 2, 1);
        assert_eq!(memory.slots(0, 5, 1)[2], 11);
    }

    #[test]
    fn unknown_columns_and_slots_read_as_nothing() {
        let mut memory = Memory::create().unwrap();
        assert!(memory.occupy(64).is_err() && memory.occupy(u32::MAX).is_err());
        assert!(memory.zero(64).is_ok());
        assert_eq!(memory.slots(9, 0, 2), [0; 32]);
        assert_eq!(memory.slots(9, u32::MAX, 5), [0; 0]);
        assert_eq!(memory.gauges(at::MAX_SLOTS as u32 - 1, 9), [0]);
        assert_eq!(memory.reasons(9), [0; 256]);
    }

    #[test]
    fn endpoint_blocks_wait_for_the_slowest_live_worker_only() {
        let mut memory = Memory::create().unwrap();
        assert_eq!(memory.passed_epoch(), u64::MAX);
        let first = worker(&mut memory, 0);
        let second = worker(&mut memory, 1);
        assert_eq!(memory.passed_epoch(), 0, "a worker that has not turned yet holds everything");
        first.control.set_epoch(8);
        second.control.set_epoch(5);
        assert_eq!(memory.passed_epoch(), 5);
        memory.zero(1).unwrap();
        assert_eq!(memory.passed_epoch(), 8);
    }
}
