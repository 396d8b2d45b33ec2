//! Weighted choice among the backends of an action: exact over any run of tickets, and global, for tickets come from shared memory.

use crate::layout::{ActionRecord, BACKEND_CLUSTER, BackendRecord, Record, Section, SequenceEntry};
use crate::table::{ActionIdx, Table};

/// Where one request or connection goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendChoice {
    /// An endpoint set by its id.
    Cluster { set: u32 },
    /// A reference that does not resolve: answer with this status, reset a TCP connection.
    Invalid { status: u16 },
    /// The action has no backend at all.
    None,
}

impl<B: AsRef<[u8]>> Table<B> {
    /// The backend for the next ticket of the action's shared cursor.
    ///
    /// Up to `MAX_SEQUENCE` steps (after division by the gcd of the weights) tickets walk a smooth interleaving; finer
    /// weights use the fraction of ticket × 2³²/φ over the cumulative weights, which is even as well. Cost: O(1), or
    /// O(log backends) for the fine ones.
    #[inline]
    pub fn choose_backend(&self, a: ActionIdx, ticket: u32) -> BackendChoice {
        let action: ActionRecord = self.record(Section::Actions, a.0);
        if action.backend_count == 0 {
            return BackendChoice::None;
        }
        let offset = if action.backend_count == 1 {
            0
        } else if action.sequence_count > 0 {
            let step = action.sequence_first + ticket % action.sequence_count;
            let entry: SequenceEntry = self.record(Section::Sequences, step);
            u32::from(entry.backend)
        } else {
            self.by_fraction(&action, ticket)
        };
        let backend: BackendRecord = self.record(Section::Backends, action.backend_first.wrapping_add(offset));
        if backend.kind == BACKEND_CLUSTER {
            BackendChoice::Cluster { set: backend.value }
        } else {
            BackendChoice::Invalid { status: backend.value as u16 }
        }
    }

    fn by_fraction(&self, action: &ActionRecord, ticket: u32) -> u32 {
        let cumulative = |i: u32| self.record::<BackendRecord>(Section::Backends, action.backend_first + i).cumulative;
        let total = cumulative(action.backend_count - 1);
        let fraction = u64::from(ticket.wrapping_mul(0x9e37_79b9));
        let point = ((fraction * u64::from(total)) >> 32) as u32;
        let (mut low, mut high) = (0, action.backend_count - 1);
        while low < high {
            let middle = low + (high - low) / 2;
            if cumulative(middle) > point { high = middle } else { low = middle + 1 }
        }
        low
    }
}

const _: () = assert!(SequenceEntry::SIZE == 2);
