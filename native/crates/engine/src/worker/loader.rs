//! Parses a table on a thread of its own: the loop only swaps a pointer.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use table::Table;

use super::core::LoadedTable;
use crate::sys::memory::SealedMemory;

/// Generation, and the table or why it is refused.
pub type Loaded = (u64, Result<Arc<LoadedTable>, String>);

pub struct Loader {
    /// Readable when something has been loaded.
    pub wake: OwnedFd,
    results: Receiver<Loaded>,
    sender: Sender<Loaded>,
}

/// Parsing yields to the loop that shares its core.
const NICE: i32 = 10;

impl Loader {
    pub fn new() -> Result<Self, Errno> {
        let (sender, results) = channel();
        Ok(Self { wake: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?, results, sender })
    }

    /// Starts to map, check and pre-fault a table.
    pub fn start(&self, generation: u64, fd: OwnedFd) {
        let (sender, wake) = (self.sender.clone(), self.wake.try_clone());
        let work = move || {
            // Without the right to a lower priority it just runs at the loop's.
            let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE);
            // The receiver is gone only when the loop is.
            let _ = sender.send((generation, load(&fd)));
            if let Ok(wake) = wake {
                let _ = rustix::io::write(&wake, &1u64.to_ne_bytes());
            }
        };
        if let Err(error) = std::thread::Builder::new().name("weirgate-table".into()).spawn(work) {
            let _ = self.sender.send((generation, Err(format!("no thread to parse the table: {error}"))));
            let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
        }
    }

    /// Takes what has been loaded.
    pub fn take(&self) -> Option<Loaded> {
        let mut count = [0u8; 8];
        let _ = rustix::io::read(&self.wake, &mut count[..]);
        self.results.try_recv().ok()
    }
}

fn load(fd: &OwnedFd) -> Result<Arc<LoadedTable>, String> {
    use std::os::fd::AsFd;
    let memory = SealedMemory::map(fd.as_fd()).map_err(|e| format!("the table cannot be mapped: {e}"))?;
    memory.prefault();
    Table::parse(memory).map(Arc::new).map_err(|e| e.to_string())
}
