//! The endpoints region as its only writer sees it: blocks are allocated, published, retired and freed.
//! What a block says is encoded in TypeScript (compile/endpoint-set.ts) and judged here before workers may see it.
//! Serves the host.
//!
//! A block is never changed. A new version is written beside the old one, the directory entry flips to it (release),
//! the epoch grows, and the old block's bytes are free again once every live worker has passed that epoch:
//! a worker stores the epoch it saw before it looks anything up, so it can hold no older block.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use table::layout::{EndpointBlock, EndpointRecord, Record};
use thiserror::Error;

use crate::shared::region as at;
use crate::sys::memory::{Region, seal_future_writes};

/// Why a set was not published; the one before it, if any, stays.
#[derive(Debug, Error, Clone, Copy, PartialEq, Eq)]
pub enum ArenaError {
    #[error("endpoint set {id} is beyond the directory of {}", at::MAX_SETS)]
    UnknownSet { id: u32 },
    #[error("endpoint block of {got} bytes, {expected} expected by its own counts")]
    Length { expected: u64, got: usize },
    #[error("endpoint block with {got} endpoints, at most {} fit", at::MAX_ENDPOINTS)]
    TooManyEndpoints { got: u32 },
    #[error("endpoint block: endpoint {index} has address family {family}, 4 or 6 expected")]
    Family { index: u32, family: u8 },
    #[error("endpoint block: sequence entry {position} names endpoint {index} of {count}")]
    Sequence { position: u32, index: u16, count: u32 },
    #[error("no room for an endpoint set of {bytes} bytes: {free} of {} are free", at::ENDPOINTS_BYTES)]
    Full { bytes: usize, free: usize },
}

/// The region and the book of its free bytes.
pub struct Arena {
    region: Region,
    free: FreeList,
    /// Published block of each set: offset and length.
    sets: BTreeMap<u32, (usize, usize)>,
    /// Blocks that a worker may still read: epoch after which nobody does, offset, length.
    retired: VecDeque<(u64, usize, usize)>,
    epoch: u64,
}

impl Arena {
    /// Creates the region; workers that get its descriptor can map it read-only and not otherwise.
    ///
    /// # Errors  Those of memfd_create(2), mmap(2) and fcntl(2).
    pub fn create() -> io::Result<Self> {
        let region = Region::create("weirgate-endpoints", at::ENDPOINTS_BYTES)?;
        seal_future_writes(region.as_fd())?;
        let free = FreeList::new(at::ENDPOINT_ARENA_OFFSET, at::ENDPOINTS_BYTES);
        Ok(Self { region, free, sets: BTreeMap::new(), retired: VecDeque::new(), epoch: 0 })
    }

    /// The descriptor for workers.
    pub fn fd(&self) -> &Arc<OwnedFd> {
        self.region.fd()
    }

    /// Publishes a block as the set's new content and returns the new epoch. `passed`: the least epoch that all live
    /// workers have passed ([`u64::MAX`] without workers); frees what nobody reads any more first.
    ///
    /// # Errors  See [`ArenaError`]; nothing has changed then.
    pub fn set(&mut self, id: u32, block: &[u8], passed: u64) -> Result<u64, ArenaError> {
        if id as usize >= at::MAX_SETS {
            return Err(ArenaError::UnknownSet { id });
        }
        check_block(block)?;
        self.reclaim(passed);
        let length = block.len().next_multiple_of(at::ENDPOINT_BLOCK_ALIGN);
        let offset = self.free.take(length).ok_or(ArenaError::Full { bytes: length, free: self.free.bytes() })?;
        self.region.map().write(offset, block);
        self.publish(id, offset / at::ENDPOINT_BLOCK_ALIGN);
        if let Some(old) = self.sets.insert(id, (offset, length)) {
            self.retired.push_back((self.epoch, old.0, old.1));
        }
        Ok(self.epoch)
    }

    /// Takes a set out of the directory; unknown ones are none already. Same `passed` as in [`Arena::set`].
    pub fn remove(&mut self, id: u32, passed: u64) {
        if let Some((offset, length)) = self.sets.remove(&id) {
            self.publish(id, 0);
            self.retired.push_back((self.epoch, offset, length));
        }
        self.reclaim(passed);
    }

    /// Bytes that no block occupies, retired ones included.
    pub fn free_bytes(&self) -> usize {
        self.free.bytes()
    }

    /// Stores the directory entry, then the epoch: whoever reads the new epoch also sees the new entry.
    fn publish(&mut self, id: u32, entry: usize) {
        let map = self.region.map();
        if let Some(word) = map.u32_at(at::ENDPOINT_DIRECTORY_OFFSET + id as usize * 4) {
            // Fits: the region has 2²² blocks of 64 bytes.
            word.store(entry as u32, Ordering::Release);
        }
        self.epoch += 1;
        if let Some(word) = map.u64_at(at::ENDPOINTS_EPOCH) {
            word.store(self.epoch, Ordering::Release);
        }
        if let Some(word) = map.u64_at(at::ENDPOINTS_ARENA_USED) {
            word.store(self.free.high_water() as u64, Ordering::Relaxed);
        }
    }

    fn reclaim(&mut self, passed: u64) {
        while let Some(&(epoch, offset, length)) = self.retired.front() {
            if epoch > passed {
                break;
            }
            self.free.give(offset, length);
            self.retired.pop_front();
        }
    }
}

/// Judges a block by its own numbers, so that no worker ever sees one that contradicts itself.
fn check_block(block: &[u8]) -> Result<(), ArenaError> {
    let head = EndpointBlock::read(block);
    let sequence_at = EndpointBlock::SIZE as u64 + u64::from(head.endpoints) * EndpointRecord::SIZE as u64;
    let expected = sequence_at + u64::from(head.sequence) * 2;
    // Padding to a multiple of 8 is tolerated: encoders may round up.
    let got = block.len() as u64;
    if block.len() < EndpointBlock::SIZE || got < expected || got > expected.next_multiple_of(8) {
        return Err(ArenaError::Length { expected, got: block.len() });
    }
    if head.endpoints as usize > at::MAX_ENDPOINTS {
        return Err(ArenaError::TooManyEndpoints { got: head.endpoints });
    }
    let (records, sequence) = block[EndpointBlock::SIZE..].split_at(sequence_at as usize - EndpointBlock::SIZE);
    for (index, bytes) in records.chunks_exact(EndpointRecord::SIZE).enumerate() {
        let family = EndpointRecord::read(bytes).family;
        if !matches!(family, 4 | 6) {
            return Err(ArenaError::Family { index: index as u32, family });
        }
    }
    for (position, pair) in sequence.chunks_exact(2).take(head.sequence as usize).enumerate() {
        let index = u16::from_le_bytes([pair[0], pair[1]]);
        if u32::from(index) >= head.endpoints {
            return Err(ArenaError::Sequence { position: position as u32, index, count: head.endpoints });
        }
    }
    Ok(())
}

/// Free bytes by place (to merge neighbours) and by size (to find the smallest that fits). Cost: O(log n) a call.
struct FreeList {
    by_offset: BTreeMap<usize, usize>,
    by_size: BTreeSet<(usize, usize)>,
    bytes: usize,
    end: usize,
}

impl FreeList {
    fn new(start: usize, end: usize) -> Self {
        let mut list = Self { by_offset: BTreeMap::new(), by_size: BTreeSet::new(), bytes: 0, end };
        list.give(start, end - start);
        list
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    /// End of the last block in use.
    fn high_water(&self) -> usize {
        match self.by_offset.last_key_value() {
            Some((&offset, &length)) if offset + length == self.end => offset,
            _ => self.end,
        }
    }

    fn take(&mut self, length: usize) -> Option<usize> {
        let &(found, offset) = self.by_size.range((length, 0)..).next()?;
        self.remove(offset, found);
        if found > length {
            self.insert(offset + length, found - length);
        }
        Some(offset)
    }

    fn give(&mut self, mut offset: usize, mut length: usize) {
        if let Some((&before, &size)) = self.by_offset.range(..offset).next_back()
            && before + size == offset
        {
            self.remove(before, size);
            (offset, length) = (before, size + length);
        }
        if let Some(&size) = self.by_offset.get(&(offset + length)) {
            self.remove(offset + length, size);
            length += size;
        }
        self.insert(offset, length);
    }

    fn insert(&mut self, offset: usize, length: usize) {
        self.by_offset.insert(offset, length);
        self.by_size.insert((length, offset));
        self.bytes += length;
    }

    fn remove(&mut self, offset: usize, length: usize) {
        self.by_offset.remove(&offset);
        self.by_size.remove(&(length, offset));
        self.bytes -= length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::Endpoints;
    use crate::sys::memory::ReadMapping;
    use proptest::prelude::*;

    /// A set whose every number follows from `mark`, so that a mixture of two blocks shows.
    fn block(mark: u16, endpoints: u16) -> Vec<u8> {
        let count = u32::from(endpoints);
        let head = EndpointBlock { slot: u32::from(mark), endpoints: count, sequence: count, reserved: 0 };
        let mut bytes = vec![0; EndpointBlock::SIZE];
        head.write(&mut bytes);
        for index in 0..endpoints {
            let mut ip = [0; 16];
            ip[..2].copy_from_slice(&mark.to_be_bytes());
            ip[2..4].copy_from_slice(&index.to_be_bytes());
            let record = EndpointRecord { family: 4, health: 1, port: mark, slot: u32::from(mark), ip };
            let at = bytes.len();
            bytes.resize(at + EndpointRecord::SIZE, 0);
            record.write(&mut bytes[at..]);
        }
        bytes.extend((0..endpoints).rev().flat_map(u16::to_le_bytes));
        bytes
    }

    fn reader(arena: &Arena) -> Endpoints {
        Endpoints::new(Arc::new(ReadMapping::map(arena.fd().as_fd(), at::ENDPOINTS_BYTES).unwrap()))
    }

    /// The mark of a set that a reader sees whole; panics on a mixture.
    fn whole(endpoints: &Endpoints, id: u32) -> Option<(u16, u32)> {
        let set = endpoints.set(id)?;
        let mark = set.slot() as u16;
        for ticket in 0..set.len() {
            let picked = set.pick(ticket).unwrap();
            assert_eq!(picked.index, set.len() - 1 - ticket);
            assert_eq!((picked.addr.port(), picked.slot), (mark, u32::from(mark)));
            let ip = [mark.to_be_bytes(), (picked.index as u16).to_be_bytes()].concat();
            assert_eq!(picked.addr.ip(), std::net::IpAddr::from(<[u8; 4]>::try_from(ip).unwrap()));
        }
        assert_eq!(set.sequence_len(), set.len());
        assert!(set.endpoint(set.len()).is_none());
        Some((mark, set.len()))
    }

    #[test]
    fn a_set_is_seen_replaced_and_gone() {
        let mut arena = Arena::create().unwrap();
        let endpoints = reader(&arena);
        let before = arena.free_bytes();
        assert!(endpoints.set(5).is_none());
        assert_eq!(arena.set(5, &block(7, 3), u64::MAX), Ok(1));
        assert_eq!((whole(&endpoints, 5), endpoints.epoch()), (Some((7, 3)), 1));
        assert_eq!(arena.set(5, &block(8, 0), u64::MAX), Ok(2));
        assert_eq!(whole(&endpoints, 5), Some((8, 0)));
        assert!(endpoints.set(5).unwrap().pick(1).is_none());
        arena.remove(5, u64::MAX);
        assert!(endpoints.set(5).is_none());
        assert_eq!(arena.free_bytes(), before);
        arena.remove(5, u64::MAX);
        assert_eq!(endpoints.epoch(), 3);
    }

    #[test]
    fn a_block_that_contradicts_itself_is_refused_and_the_old_one_stays() {
        let mut arena = Arena::create().unwrap();
        let endpoints = reader(&arena);
        arena.set(1, &block(4, 2), 0).unwrap();
        let good = block(5, 2);
        let mut bad_family = good.clone();
        bad_family[EndpointBlock::SIZE] = 5;
        let mut bad_sequence = good.clone();
        let last = bad_sequence.len() - 1;
        bad_sequence[last] = 1;
        let mut bad_count = good.clone();
        bad_count[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        for bad in [&good[..good.len() - 1], &[], &bad_family, &bad_sequence, &bad_count] {
            assert!(arena.set(1, bad, 0).is_err());
        }
        assert_eq!(arena.set(at::MAX_SETS as u32, &good, 0), Err(ArenaError::UnknownSet { id: at::MAX_SETS as u32 }));
        assert_eq!(whole(&endpoints, 1), Some((4, 2)));
        assert!(endpoints.set(at::MAX_SETS as u32).is_none() && endpoints.set(u32::MAX).is_none());
    }

    #[test]
    fn a_full_arena_says_so_and_serves_again_once_workers_have_passed() {
        let mut arena = Arena::create().unwrap();
        let big = block(1, u16::MAX);
        let error = (0..1000).find_map(|id| arena.set(id, &big, 0).err()).unwrap();
        assert!(matches!(error, ArenaError::Full { .. }));
        let epoch = arena.set(0, &block(2, 1), 0).unwrap();
        assert!(arena.set(1, &big, epoch - 1).is_err(), "a worker may still read the old block");
        assert!(arena.set(1, &big, epoch).is_ok());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn blocks_never_overlap_and_none_that_may_be_read_is_overwritten(
            steps in prop::collection::vec((0u32..8, 0u16..40, 0u8..4), 1..200)
        ) {
            let mut arena = Arena::create().unwrap();
            let endpoints = reader(&arena);
            let everything = arena.free_bytes();
            // A slow worker: holds what it saw when it last passed, and passes at its own pace.
            let mut passed = 0;
            let mut held: Vec<(u32, u16, u32)> = Vec::new();
            let mut current: BTreeMap<u32, (u16, u32)> = BTreeMap::new();
            for (mark, (id, size, what)) in steps.into_iter().enumerate() {
                match what {
                    0 => {
                        arena.remove(id, passed);
                        current.remove(&id);
                    }
                    1 => {
                        passed = endpoints.epoch();
                        held = current.keys().map(|&id| {
                            let at = endpoints.set(id).unwrap();
                            (directory(&arena, id), at.slot() as u16, at.len())
                        }).collect();
                    }
                    _ => {
                        arena.set(id, &block(mark as u16, size), passed).unwrap();
                        current.insert(id, (mark as u16, u32::from(size)));
                    }
                }
                for id in 0..8 {
                    prop_assert_eq!(whole(&endpoints, id), current.get(&id).copied());
                }
                for &(entry, mark, size) in &held {
                    let mut head = [0; EndpointBlock::SIZE];
                    arena.region.map().read(entry as usize * at::ENDPOINT_BLOCK_ALIGN, &mut head);
                    let head = EndpointBlock::read(&head);
                    prop_assert_eq!((head.slot, head.endpoints), (u32::from(mark), size), "a held block was reused");
                }
                let mut used: Vec<(usize, usize)> = arena.sets.values().copied().collect();
                used.extend(arena.retired.iter().map(|&(_, offset, length)| (offset, length)));
                used.extend(arena.free.by_offset.iter().map(|(&offset, &length)| (offset, length)));
                used.sort_unstable();
                let mut next = at::ENDPOINT_ARENA_OFFSET;
                for (offset, length) in used {
                    prop_assert_eq!(offset, next, "gap or overlap");
                    next = offset + length;
                }
                prop_assert_eq!(next, at::ENDPOINTS_BYTES);
            }
            for id in 0..8 {
                arena.remove(id, u64::MAX);
            }
            prop_assert_eq!(arena.free_bytes(), everything);
        }
    }

    fn directory(arena: &Arena, id: u32) -> u32 {
        arena.region.map().u32_at(at::ENDPOINT_DIRECTORY_OFFSET + id as usize * 4).unwrap().load(Ordering::Relaxed)
    }

    #[test]
    fn a_reader_in_another_thread_always_sees_a_whole_block() {
        let mut arena = Arena::create().unwrap();
        let endpoints = reader(&arena);
        arena.set(0, &block(1, 1), u64::MAX).unwrap();
        let passed = std::sync::atomic::AtomicU64::new(0);
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut turns = 0u64;
                while !done.load(Ordering::Relaxed) || turns == 0 {
                    passed.store(endpoints.epoch(), Ordering::Release);
                    whole(&endpoints, 0).unwrap();
                    turns += 1;
                }
            });
            for mark in 0..20_000u16 {
                arena.set(0, &block(mark, mark % 50), passed.load(Ordering::Acquire)).unwrap();
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}
