//! Typed views of the memory that primary and workers share, and the words of their channel.
//! Mapping and messages themselves live in `sys`; offsets in the table crate's layout. Serves `host` and `worker`.
pub mod access_record;
mod address;
pub mod control;
pub mod counters;
pub mod endpoints;
pub mod log_ring;
pub mod protocol;
pub mod region;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

pub use access_record::AccessRecord;
pub use control::{ControlColumn, ControlValues};
pub use counters::{Counters, Cursors, Gauges};
pub use endpoints::{Endpoint, EndpointSet, Endpoints};
pub use log_ring::{LogReader, LogRing};

use crate::sys::memory::{Mapping, ReadMapping};

/// All shared memory of one worker.
pub struct Shared {
    /// The worker's column in the per-worker regions.
    pub column: u32,
    pub control: ControlColumn,
    pub counters: Counters,
    pub gauges: Gauges,
    pub cursors: Cursors,
    pub endpoints: Endpoints,
    pub log: LogRing,
}

impl Shared {
    /// Maps the regions of a HELLO: control, counters, gauges, cursors, endpoints, log ring, in this order. The
    /// descriptors are closed; the mappings stay.
    ///
    /// # Errors  InvalidData when there are not six descriptors, the column is unknown, or a region is too short or
    /// not sealed; else those of mmap(2).
    pub fn from_hello(column: u32, fds: Vec<OwnedFd>) -> io::Result<Self> {
        let [control, counters, gauges, cursors, endpoints, log]: [OwnedFd; 6] =
            fds.try_into().map_err(|fds: Vec<OwnedFd>| {
                io::Error::new(io::ErrorKind::InvalidData, format!("HELLO with {} descriptors, 6 expected", fds.len()))
            })?;
        let map = |fd: &OwnedFd, len: usize| Mapping::map(fd.as_fd(), len).map(Arc::new);
        let control = ControlColumn::new(map(&control, region::CONTROL_BYTES)?, column).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, format!("HELLO for column {column}, below 64 expected"))
        })?;
        Ok(Self {
            column,
            control,
            counters: Counters::new(map(&counters, region::COUNTERS_BYTES)?),
            gauges: Gauges::new(map(&gauges, region::GAUGES_BYTES)?),
            cursors: Cursors::new(map(&cursors, region::CURSORS_BYTES)?),
            endpoints: Endpoints::new(Arc::new(ReadMapping::map(endpoints.as_fd(), region::ENDPOINTS_BYTES)?)),
            log: LogRing::new(map(&log, region::LOG_BYTES)?),
        })
    }
}
