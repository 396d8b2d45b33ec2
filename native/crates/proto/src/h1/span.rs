//! A range of the caller's bytes, so that a head borrows nothing.
//! Not here: meaning of the bytes.
//! Serves the parsers and writers of this module.

/// Start and length within the bytes that were parsed; heads are far below 4 GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    pub start: u32,
    pub len: u32,
}

impl Span {
    /// The span `start..end`; `end < start` gives an empty span.
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, len: end.saturating_sub(start) as u32 }
    }

    /// The bytes it names; empty when `bytes` is shorter than what was parsed.
    #[inline]
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start as usize..self.end()).unwrap_or(&[])
    }

    /// Offset of the byte after the last.
    #[inline]
    pub fn end(self) -> usize {
        self.start as usize + self.len as usize
    }

    /// Whether it names no byte.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}
