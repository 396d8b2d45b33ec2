//! Idle upstream connections of this worker, by endpoint, last in first out: the set in use stays small and fresh.

use std::collections::HashMap;

use super::super::os::Os;
use super::super::slab::{Key, Slab};
use super::up::Up;

/// An idle connection older than this is closed: endpoints close theirs after a while, and a race costs a retry.
const MOST_IDLE_MS: u64 = 60_000;

#[derive(Default)]
pub struct Pool {
    /// By endpoint slot; oldest first.
    idle: HashMap<u32, Vec<Key>>,
    len: usize,
}

impl Pool {
    pub fn len(&self) -> usize {
        self.len
    }

    /// Takes the freshest idle connection to an endpoint.
    pub fn take(&mut self, endpoint_slot: u32) -> Option<Key> {
        let key = self.idle.get_mut(&endpoint_slot)?.pop()?;
        self.len -= 1;
        Some(key)
    }

    /// Keeps a connection. `Err` gives it back: there are `most` already.
    pub fn put(&mut self, endpoint_slot: u32, key: Key, most: usize) -> Result<(), Key> {
        let idle = self.idle.entry(endpoint_slot).or_default();
        if idle.len() >= most {
            return Err(key);
        }
        idle.push(key);
        self.len += 1;
        Ok(())
    }

    /// Forgets one connection that ended while idle.
    pub fn remove(&mut self, endpoint_slot: u32, key: Key) {
        if let Some(idle) = self.idle.get_mut(&endpoint_slot)
            && let Some(at) = idle.iter().rposition(|k| *k == key)
        {
            idle.remove(at);
            self.len -= 1;
        }
    }

    pub fn sweep<O: Os>(&mut self, ups: &mut Slab<Up<O>>, now_ms: u64) {
        self.idle.retain(|_, idle| {
            let old = idle
                .iter()
                .take_while(|k| ups.get(**k).is_none_or(|u| u.idle_since_ms + MOST_IDLE_MS < now_ms))
                .count();
            for key in idle.drain(..old) {
                ups.remove(key);
            }
            self.len -= old;
            !idle.is_empty()
        });
    }

    pub fn shed<O: Os>(&mut self, ups: &mut Slab<Up<O>>, mut n: usize) {
        self.idle.retain(|_, idle| {
            let some = idle.len().min(n);
            for key in idle.drain(..some) {
                ups.remove(key);
            }
            n -= some;
            self.len -= some;
            !idle.is_empty()
        });
    }

    pub fn clear<O: Os>(&mut self, ups: &mut Slab<Up<O>>) {
        self.shed(ups, usize::MAX);
    }
}
