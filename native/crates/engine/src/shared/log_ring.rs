//! The ring through which a worker hands access records to the primary's log thread.
//! One writer (the worker's loop), one reader; neither ever waits: a full ring drops the record and counts it.
//! What a record says is `AccessRecord`'s business. Serves worker and host.
//!
//! Records are `length u32, kind u32, payload`, padded to 8 bytes, at ever-growing positions taken modulo the size of
//! the data; head is stored (release) after the words, so a reader never sees half a record, even when the writer is
//! killed between two stores.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::access_record::AccessRecord;
use super::region as at;
use crate::sys::memory::Mapping;

const ENTRY_HEAD: u64 = at::LOG_ENTRY as u64;

/// The writer's end.
pub struct LogRing {
    map: Arc<Mapping>,
    scratch: RefCell<Box<[u8; at::LOG_MAX_PAYLOAD]>>,
}

impl LogRing {
    /// Takes the writer's end of a ring, where the last writer stopped.
    pub fn new(map: Arc<Mapping>) -> Self {
        if let Some(head) = map.u64_at(at::LOG_HEAD) {
            // A writer that went wrong may have left anything here.
            head.store(head.load(Ordering::Relaxed) & !7, Ordering::Relaxed);
        }
        Self { map, scratch: RefCell::new(Box::new([0; at::LOG_MAX_PAYLOAD])) }
    }

    /// Appends a record; false when the ring is full, which the ring counts as dropped. Never blocks. Cost: one copy.
    pub fn push(&self, record: &AccessRecord<'_>) -> bool {
        let mut scratch = self.scratch.borrow_mut();
        let length = record.encode(&mut scratch[..]);
        self.push_payload(at::LOG_KIND_ACCESS, &scratch[..length])
    }

    fn push_payload(&self, kind: u32, payload: &[u8]) -> bool {
        let (Some(head_word), Some(tail_word)) = (self.map.u64_at(at::LOG_HEAD), self.map.u64_at(at::LOG_TAIL)) else {
            return false;
        };
        let head = head_word.load(Ordering::Relaxed);
        let used = head.wrapping_sub(tail_word.load(Ordering::Acquire));
        let length = ENTRY_HEAD + (payload.len() as u64).next_multiple_of(8);
        if payload.len() > at::LOG_MAX_PAYLOAD
            || used > at::LOG_RING_BYTES as u64
            || length > at::LOG_RING_BYTES as u64 - used
        {
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
        let (first, second) = bytes.split_at(bytes.len().min(at::LOG_RING_BYTES - start));
        self.map.write(at::LOG_RING_DATA_OFFSET + start, first);
        self.map.write(at::LOG_RING_DATA_OFFSET, second);
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
        let tail = map.u64_at(at::LOG_TAIL).map_or(0, |word| word.load(Ordering::Relaxed));
        Self { map, tail: tail & !7 }
    }

    /// Copies the next payload into `payload` and frees its place in the ring.
    pub fn next(&mut self, payload: &mut Vec<u8>) -> Read {
        let head = self.map.u64_at(at::LOG_HEAD).map_or(0, |word| word.load(Ordering::Acquire));
        let filled = head.wrapping_sub(self.tail);
        if filled == 0 {
            return Read::Empty;
        }
        let mut entry = [0u8; 8];
        self.read(self.tail, &mut entry);
        let [l0, l1, l2, l3, k0, k1, k2, k3] = entry;
        let length = u64::from(u32::from_le_bytes([l0, l1, l2, l3]));
        let whole = ENTRY_HEAD + length.next_multiple_of(8);
        if filled > at::LOG_RING_BYTES as u64
            || !head.is_multiple_of(8)
            || length > at::LOG_MAX_PAYLOAD as u64
            || whole > filled
        {
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
        if let Some(word) = self.map.u64_at(at::LOG_TAIL) {
            word.store(tail, Ordering::Release);
        }
    }

    fn read(&self, position: u64, out: &mut [u8]) {
        let start = data_offset(position);
        let split = out.len().min(at::LOG_RING_BYTES - start);
        let (first, second) = out.split_at_mut(split);
        self.map.read(at::LOG_RING_DATA_OFFSET + start, first);
        self.map.read(at::LOG_RING_DATA_OFFSET, second);
    }
}

fn data_offset(position: u64) -> usize {
    (position % at::LOG_RING_BYTES as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::memory::Region;
    use std::os::fd::AsFd;

    fn ring() -> (Arc<Mapping>, LogRing, LogReader) {
        let region = Region::create("wg-test", at::LOG_BYTES).unwrap();
        let map = Arc::new(Mapping::map(region.as_fd(), at::LOG_BYTES).unwrap());
        (map.clone(), LogRing::new(map.clone()), LogReader::new(map))
    }

    fn record(path: &[u8]) -> AccessRecord<'_> {
        AccessRecord {
            time_us: 1,
            duration_us: 2,
            upstream_us: 3,
            generation: 4,
            bytes_in: 5,
            bytes_out: 6,
            client: "[2001:db8::1]:70".parse().unwrap(),
            upstream: Some("10.0.0.1:80".parse().unwrap()),
            status: 200,
            protocol: 1,
            close_reason: 9,
            retries: 1,
            method: b"GET",
            host: b"example.com",
            path,
            listener: b"default/edge/http",
            action: b"HTTPRoute/default/web/0",
            user_agent: b"test",
        }
    }

    #[test]
    fn records_come_out_as_they_went_in_over_many_wraps_of_the_ring() {
        let (_, ring, mut reader) = ring();
        let mut payload = Vec::new();
        // 3 MiB in records of every length modulo 8.
        for length in (0..12_000).map(|n| n % 517) {
            let path = vec![b'x'; length];
            assert!(ring.push(&record(&path)));
            assert_eq!(reader.next(&mut payload), Read::Entry(at::LOG_KIND_ACCESS));
            assert_eq!(AccessRecord::decode(&payload), Some(record(&path)));
        }
        assert_eq!(reader.next(&mut payload), Read::Empty);
        assert_eq!(reader.dropped(), 0);
    }

    #[test]
    fn a_full_ring_drops_and_counts_and_goes_on_once_read() {
        let (_, ring, mut reader) = ring();
        let mut pushed = 0u64;
        while ring.push(&record(b"/full")) {
            pushed += 1;
        }
        assert!(!ring.push(&record(b"/full")));
        assert_eq!(reader.dropped(), 2);
        let mut payload = Vec::new();
        let read = std::iter::from_fn(|| match reader.next(&mut payload) {
            Read::Entry(_) => Some(()),
            Read::Empty | Read::Broken => None,
        });
        assert_eq!(read.count() as u64, pushed);
        assert!(ring.push(&record(b"/again")));
    }

    #[test]
    fn a_ring_that_lies_is_skipped_and_then_used_again() {
        for (word, value) in [(at::LOG_HEAD, u64::MAX), (at::LOG_HEAD, 3), (at::LOG_RING_DATA_OFFSET, 0xffff_ffff)] {
            let (map, ring, mut reader) = ring();
            ring.push(&record(b"/"));
            map.u64_at(word).unwrap().store(value, Ordering::Relaxed);
            let mut payload = Vec::new();
            assert_eq!(reader.next(&mut payload), Read::Broken);
            // A head that a broken worker left behind is taken over by its successor as it stands.
            map.u64_at(at::LOG_HEAD)
                .unwrap()
                .store(map.u64_at(at::LOG_TAIL).unwrap().load(Ordering::Relaxed), Ordering::Relaxed);
            assert!(ring.push(&record(b"/next")));
            assert_eq!(reader.next(&mut payload), Read::Entry(at::LOG_KIND_ACCESS));
        }
    }

    #[test]
    fn what_a_killed_worker_wrote_is_read_and_its_successor_goes_on() {
        let (map, ring, mut reader) = ring();
        ring.push(&record(b"/first"));
        drop(ring);
        assert!(LogRing::new(map).push(&record(b"/second")));
        let mut payload = Vec::new();
        for path in [&b"/first"[..], b"/second"] {
            assert_eq!(reader.next(&mut payload), Read::Entry(at::LOG_KIND_ACCESS));
            assert_eq!(AccessRecord::decode(&payload).unwrap().path, path);
        }
    }
}
