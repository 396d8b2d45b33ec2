//! Endpoint sets as a worker sees them: immutable blocks in a region that only the primary writes.
//! Allocation and replacement of blocks is `host::arena`'s business. Serves the worker loop.
//!
//! Reading is total: every number in the region is checked against the region, and what does not fit is no endpoint.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use table::layout::{EndpointRecord, Record};

use super::address::ip_from;
use super::region as at;
use crate::sys::memory::ReadMapping;

/// The endpoints region, read-only.
#[derive(Clone)]
pub struct Endpoints {
    map: Arc<ReadMapping>,
}

impl Endpoints {
    /// Views a read-only mapping of the endpoints region.
    pub fn new(map: Arc<ReadMapping>) -> Self {
        Self { map }
    }

    /// Grows with every change. Read it at the start of a loop turn and store it with
    /// [`super::ControlColumn::set_epoch`] before the first [`Endpoints::set`] of that turn; no [`EndpointSet`] may be
    /// kept over turns.
    pub fn epoch(&self) -> u64 {
        self.map.load_u64(at::ENDPOINTS_EPOCH, Ordering::Acquire).unwrap_or(0)
    }

    /// The set with this id as it is now; None when there is none. Cost: five loads.
    #[inline]
    pub fn set(&self, id: u32) -> Option<EndpointSet<'_>> {
        if id as usize >= at::MAX_SETS {
            return None;
        }
        let entry = self.map.load_u32(at::ENDPOINT_DIRECTORY_OFFSET + id as usize * 4, Ordering::Acquire)?;
        let base = entry as usize * at::ENDPOINT_BLOCK_ALIGN;
        if base < at::ENDPOINT_ARENA_OFFSET {
            return None;
        }
        let word = |offset: usize| self.map.load_u32(base + offset, Ordering::Relaxed);
        let set = EndpointSet {
            map: &self.map,
            base,
            slot: word(at::BLOCK_SLOT)?,
            len: word(at::BLOCK_ENDPOINTS)?,
            sequence_len: word(at::BLOCK_SEQUENCE)?,
        };
        let end = set.sequence_start().checked_add(set.sequence_len as usize * 2)?;
        (set.len as usize <= at::MAX_ENDPOINTS && end <= self.map.len()).then_some(set)
    }
}

/// One immutable set of endpoints. Valid until the loop turn ends.
#[derive(Clone, Copy)]
pub struct EndpointSet<'a> {
    map: &'a ReadMapping,
    base: usize,
    slot: u32,
    len: u32,
    sequence_len: u32,
}

/// One address of a set, copied out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint {
    /// Position in its set.
    pub index: u32,
    /// Counter, gauge and resting slot.
    pub slot: u32,
    pub addr: SocketAddr,
}

impl EndpointSet<'_> {
    /// The cursor slot of the set.
    pub fn slot(&self) -> u32 {
        self.slot
    }

    /// All endpoints, usable or not.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// True when the set has no endpoint at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Entries of the weighted sequence; 0: no endpoint is usable.
    pub fn sequence_len(&self) -> u32 {
        self.sequence_len
    }

    /// The endpoint that a ticket of the set's cursor falls on; None when none is usable.
    #[inline]
    pub fn pick(&self, ticket: u32) -> Option<Endpoint> {
        let position = ticket.checked_rem(self.sequence_len)? as usize;
        let offset = self.sequence_start() + position * 2;
        // The sequence is made of u16; a 32-bit word holds the even one low and the odd one high.
        let word = self.map.load_u32(offset & !3, Ordering::Relaxed)?;
        let index = (word >> ((offset & 2) * 8)) & 0xffff;
        self.endpoint(index)
    }

    /// The endpoint at a position; None past the end or when its family is unknown.
    #[inline]
    pub fn endpoint(&self, index: u32) -> Option<Endpoint> {
        if index >= self.len {
            return None;
        }
        let base = self.base + at::BLOCK_HEAD + index as usize * at::ENDPOINT;
        let mut bytes = [0u8; at::ENDPOINT];
        if !self.map.read(base, &mut bytes) {
            return None;
        }
        let record = EndpointRecord::read(&bytes);
        let ip = ip_from(record.family, record.ip)?;
        Some(Endpoint { index, slot: record.slot, addr: SocketAddr::new(ip, record.port) })
    }

    fn sequence_start(&self) -> usize {
        self.base + at::BLOCK_HEAD + self.len as usize * at::ENDPOINT
    }
}
