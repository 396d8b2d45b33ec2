//! The ring through which a worker hands access records to the primary's log thread.
//! One writer (the worker's loop), one reader; neither ever waits: a full ring drops the record and counts it.
//! What a record says is `AccessRecord`'s business. Serves worker and host.
//!
//! Records are `length u32, kind u32, payload`, padded to 8 bytes, at ever-growing positions taken modulo the size of
//! the data; head is stored (release) after the words, so a reader never sees half a record, even when the writer is
//! killed between two stores.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::access_record::AccessRecord;
use super::region as at;
use crate::sys::memory::Mapping;

/// Payload of kind 1: an access record.
pub const KIND_ACCESS: u32 = 1;
const ENTRY_HEAD: u64 = 8;

/// The writer's end.
pub struct LogRing {
    map: Arc<Mapping>,
    scratch: Vec<u8>,
}

impl LogRing {
    /// Takes the writer's end of a ring.
    pub fn new(map: Arc<Mapping>) -> Self {
        Self { map, scratch: Vec::with_capacity(at::LOG_MAX_PAYLOAD) }
    }

    /// Appends a record; false when the ring is full, which the ring counts as dropped. Never blocks. Cost: one copy.
    pub fn push(&mut self, record: &AccessRecord<'_>) -> bool {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        record.encode(&mut scratch);
        let pushed = self.push_payload(KIND_ACCESS, &scratch);
        self.scratch = scratch;
        pushed
    }

    fn push_payload(&self, kind: u32, payload: &[u8]) -> bool {
        let (Some(head_word), Some(tail_word)) = (self.map.u64_at(at::LOG_HEAD_POS), self.map.u64_at(at::LOG_TAIL_POS))
        else {
            return false;
        };
        let head = head_word.load(Ordering::Relaxed);
        let used = head.wrapping_sub(tail_word.load(Ordering::Acquire));
        let length = ENTRY_HEAD + (payload.len() as u64).next_multiple_of(8);
        if payload.len() > at::LOG_MAX_PAYLOAD || used > at::LOG_DATA as u64 || length > at::LOG_DATA as u64 - used {
            if let Some(dropped) = self.map.u64_at(at::LOG_DROPPED) {
                dropped.store(dropped.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
            }
            return false;
        }
        let mut entry = [0u8; 8];
        entry[..4].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        entry[4..].copy_from_slice(&kind.to_le_bytes());
        self.write(head, &entry);
        self.write(head.wrapping_add(ENTRY_HEAD), payload);
        head_word.store(head.wrapping_add(length), Ordering::Release);
        true
    }

    /// Writes at a position (a multiple of 8), in two parts where the data wraps.
    fn write(&self, position: u64, bytes: &[u8]) {
        let start = data_offset(position);
        let (first, second) = bytes.split_at(bytes.len().min(at::LOG_DATA - start));
        self.map.write(at::LOG_HEAD + start, first);
        self.map.write(at::LOG_HEAD, second);
    }
}

/// The reader's end, in the primary. Trusts no number in the ring.
pub struct LogReader {
    map: Arc<Mapping>,
    /// Kept here: the worker could overwrite its copy in the ring.
    tail: u64,
}

/// What a call of [`LogReader::next`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// A payload of this kind was copied out.
    Entry(u32),
    /// Nothing new.
    Empty,
    /// The ring contradicts itself; all that was in it is skipped.
    Broken,
}

impl LogReader {
    /// Takes the reader's end; goes on where the last reader stopped.
    pub fn new(map: Arc<Mapping>) -> Self {
        let tail = map.u64_at(at::LOG_TAIL_POS).map_or(0, |word| word.load(Ordering::Relaxed));
        Self { map, tail: tail & !7 }
    }

    /// Copies the next payload into `payload` and frees its place in the ring.
    pub fn next(&mut self, payload: &mut Vec<u8>) -> Read {
        let head = self.map.u64_at(at::LOG_HEAD_POS).map_or(0, |word| word.load(Ordering::Acquire));
        let filled = head.wrapping_sub(self.tail);
        if filled == 0 {
            return Read::Empty;
        }
        let mut entry = [0u8; 8];
        self.read(self.tail, &mut entry);
        let [l0, l1, l2, l3, k0, k1, k2, k3] = entry;
        let length = u64::from(u32::from_le_bytes([l0, l1, l2, l3]));
        let whole = ENTRY_HEAD + length.next_multiple_of(8);
        if filled > at::LOG_DATA as u64 || head % 8 != 0 || length > at::LOG_MAX_PAYLOAD as u64 || whole > filled {
            self.advance(head & !7);
            return Read::Broken;
        }
        payload.resize(length as usize, 0);
        self.read(self.tail.wrapping_add(ENTRY_HEAD), payload);
        self.advance(self.tail.wrapping_add(whole));
        Read::Entry(u32::from_le_bytes([k0, k1, k2, k3]))
    }

    /// Records that the worker could not write because the ring was full.
    pub fn dropped(&self) -> u64 {
        self.map.u64_at(at::LOG_DROPPED).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    fn advance(&mut self, tail: u64) {
        self.tail = tail;
        if let Some(word) = self.map.u64_at(at::LOG_TAIL_POS) {
            word.store(tail, Ordering::Release);
        }
    }

    fn read(&self, position: u64, out: &mut [u8]) {
        let start = data_offset(position);
        let split = out.len().min(at::LOG_DATA - start);
        let (first, second) = out.split_at_mut(split);
        self.map.read(at::LOG_HEAD + start, first);
        self.map.read(at::LOG_HEAD, second);
    }
}

fn data_offset(position: u64) -> usize {
    (position % at::LOG_DATA as u64) as usize
}
