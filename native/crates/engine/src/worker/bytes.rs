//! A queue of bytes that owns memory only while it holds something, and the account of what all of them own.

use std::cell::Cell;

thread_local! {
    /// Bytes owned by the buffers of this thread, which is a whole worker: no buffer changes threads.
    static OWNED: Cell<usize> = const { Cell::new(0) };
}

/// Bytes that the buffers of this worker own.
pub fn owned() -> usize {
    OWNED.get()
}

/// What one buffer has on the account. Dropping it takes that off.
#[derive(Default, Debug)]
pub struct Tally(usize);

impl Tally {
    /// Notes how much the buffer owns now.
    pub fn set(&mut self, bytes: usize) {
        if bytes != self.0 {
            OWNED.set(OWNED.get().wrapping_add(bytes).wrapping_sub(self.0));
            self.0 = bytes;
        }
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// Bytes in arrival order; taken from the front without moving the rest.
#[derive(Default, Debug)]
pub struct Bytes {
    data: Vec<u8>,
    start: usize,
    tally: Tally,
}

impl Bytes {
    pub fn is_empty(&self) -> bool {
        self.start == self.data.len()
    }

    pub fn len(&self) -> usize {
        self.data.len() - self.start
    }

    pub fn as_slice(&self) -> &[u8] {
        &self.data[self.start..]
    }

    pub fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 && self.start * 2 >= self.data.len() {
            self.data.drain(..self.start);
            self.start = 0;
        }
        self.data.extend_from_slice(bytes);
        self.tally.set(self.data.capacity());
    }

    /// Drops `n` bytes from the front; the memory goes back when nothing is left.
    pub fn consume(&mut self, n: usize) {
        self.start += n;
        debug_assert!(self.start <= self.data.len());
        if self.start >= self.data.len() {
            *self = Self::default();
        }
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Puts back what was taken, without copying, and drops its first `used` bytes. Nothing may have been pushed meanwhile.
    pub fn put_back(&mut self, data: Vec<u8>, used: usize) {
        debug_assert!(self.is_empty());
        self.tally.set(data.capacity());
        self.data = data;
        self.start = 0;
        self.consume(used);
    }

    /// Takes the content out as one vector.
    pub fn take(&mut self) -> Vec<u8> {
        let mut data = std::mem::take(&mut self.data);
        data.drain(..self.start);
        self.start = 0;
        self.tally.set(0);
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_holds_what_buffers_own_and_nothing_once_they_are_gone() {
        let mut one = Bytes::default();
        let mut other = Bytes::default();
        assert_eq!(owned(), 0, "an empty one owns nothing");
        one.push(&[1; 1000]);
        other.push(&[2; 500]);
        assert!((1500..4000).contains(&owned()), "{}", owned());
        one.consume(999);
        assert!(owned() >= 1500, "memory goes back when nothing is left");
        let taken = one.take();
        assert!(taken == [1] && owned() < 1000);
        one.put_back(taken, 0);
        assert!(owned() >= 1500);
        one.consume(1);
        other.clear();
        assert_eq!(owned(), 0);
        one.push(&[3; 10]);
        drop(one);
        assert_eq!(owned(), 0);
    }
}
