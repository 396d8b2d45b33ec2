//! A hashed timer wheel, lazily rearmed: a connection has one entry, and moving its deadline later costs nothing,
//! because the entry that comes up too early is put back by its owner.

/// Length of one slot. Deadlines are met up to this much late, never early.
const SLOT_MS: u64 = 16;
/// 4,096 slots of 16 ms: entries up to 65 s ahead lie in their own slot, later ones are put back when they come up.
const SLOTS: usize = 4096;
const WORDS: usize = SLOTS / 64;

pub struct Wheel<T> {
    slots: Vec<Vec<(u64, T)>>,
    /// A bit for each slot that is not empty.
    used: [u64; WORDS],
    /// The slot number (not reduced) up to which everything has come up.
    done: u64,
    len: usize,
}

impl<T: Copy> Wheel<T> {
    pub fn new(now_ms: u64) -> Self {
        Self { slots: (0..SLOTS).map(|_| Vec::new()).collect(), used: [0; WORDS], done: now_ms / SLOT_MS, len: 0 }
    }

    /// Adds an entry. Returns the time at which it will come up: `at_ms`, or earlier if that is beyond the wheel.
    pub fn add(&mut self, at_ms: u64, what: T) -> u64 {
        let slot = at_ms.div_ceil(SLOT_MS).clamp(self.done + 1, self.done + SLOTS as u64 - 1);
        let due = at_ms.min(slot * SLOT_MS);
        let place = slot as usize % SLOTS;
        self.slots[place].push((due, what));
        self.used[place / 64] |= 1 << (place % 64);
        self.len += 1;
        due
    }

    /// Milliseconds until the next entry can come up; `None` when there is none.
    pub fn next_in(&self, now_ms: u64) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        let start = (self.done + 1) as usize % SLOTS;
        let mut word = start / 64;
        let mut bits = self.used[word] & (!0 << (start % 64));
        for step in 0..=WORDS {
            if bits != 0 {
                let place = word * 64 + bits.trailing_zeros() as usize;
                let ahead = (place + SLOTS - start) % SLOTS;
                return Some(((self.done + 1 + ahead as u64) * SLOT_MS).saturating_sub(now_ms));
            }
            word = (word + 1) % WORDS;
            bits = self.used[word];
            if step + 1 == WORDS {
                bits &= !(!0 << (start % 64));
            }
        }
        None
    }

    /// Moves everything whose slot has passed into `out` as (time it was added for, what).
    pub fn expire(&mut self, now_ms: u64, out: &mut Vec<(u64, T)>) {
        let until = now_ms / SLOT_MS;
        let steps = until.saturating_sub(self.done).min(SLOTS as u64);
        if self.len > 0 {
            for slot in until + 1 - steps..=until {
                let place = slot as usize % SLOTS;
                let bit = 1 << (place % 64);
                if self.used[place / 64] & bit != 0 {
                    self.used[place / 64] &= !bit;
                    self.len -= self.slots[place].len();
                    out.append(&mut self.slots[place]);
                }
            }
        }
        self.done = self.done.max(until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn entries_come_up_after_their_time_and_soon() {
        let mut wheel = Wheel::new(1_000_000);
        wheel.add(1_000_100, 'a');
        let mut out = Vec::new();
        wheel.expire(1_000_099, &mut out);
        assert!(out.is_empty());
        wheel.expire(1_000_100 + SLOT_MS, &mut out);
        assert_eq!(out, vec![(1_000_100, 'a')]);
        assert_eq!(wheel.next_in(1_000_120), None);
    }

    proptest! {
        #[test]
        fn no_entry_is_lost_early_or_late(start in 0u64..1 << 40, steps in prop::collection::vec((0u64..200_000, 0u64..5_000), 1..60)) {
            let mut now = start;
            let mut wheel = Wheel::new(now);
            let mut open = std::collections::HashMap::new();
            let mut out = Vec::new();
            for (id, (ahead, pass)) in steps.iter().enumerate() {
                let due = wheel.add(now + ahead, id);
                prop_assert!(due <= now + ahead);
                open.insert(id, due);
                now += pass;
                wheel.expire(now, &mut out);
                for (due, id) in out.drain(..) {
                    prop_assert!(due <= now);
                    prop_assert_eq!(open.remove(&id), Some(due));
                }
                prop_assert!(open.values().all(|due| *due + 2 * SLOT_MS > now));
                if let Some(wait) = wheel.next_in(now) {
                    let first = open.values().min().unwrap();
                    prop_assert!(now + wait <= first + 2 * SLOT_MS);
                } else {
                    prop_assert!(open.is_empty());
                }
            }
        }
    }
}
