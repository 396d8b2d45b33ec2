//! A queue of bytes that owns memory only while it holds something.

/// Bytes in arrival order; taken from the front without moving the rest.
#[derive(Default, Debug)]
pub struct Bytes {
    data: Vec<u8>,
    start: usize,
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
        *self = Self { data, start: 0 };
        self.consume(used);
    }

    /// Takes the content out as one vector.
    pub fn take(&mut self) -> Vec<u8> {
        let mut data = std::mem::take(&mut self.data);
        data.drain(..self.start);
        self.start = 0;
        data
    }
}
