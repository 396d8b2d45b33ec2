//! The hash of both indexes: 32-bit FNV-1a over the bytes, finished by murmur3's mixer. `src/compile/hash.ts` computes the same.
//! Not keyed against flooding: clients only look up, and the writer of a table chooses a seed that keeps probes short.

/// Running FNV-1a state; `Copy`, so that a prefix can be finished while the whole goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State(u32);

const PRIME: u32 = 0x0100_0193;
const BASIS: u32 = 0x811c_9dc5;

impl State {
    /// A fresh state for keys below `scope` (parent node or virtual host).
    #[inline(always)]
    pub(crate) fn new(seed: u32, scope: u32) -> Self {
        State((BASIS ^ seed).wrapping_add(scope.wrapping_mul(0x9e37_79b1)))
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, byte: u8) {
        self.0 = (self.0 ^ u32::from(byte)).wrapping_mul(PRIME);
    }

    #[inline(always)]
    pub(crate) fn extend(mut self, bytes: &[u8]) -> Self {
        for &byte in bytes {
            self.push(byte);
        }
        self
    }

    /// The hash of what was pushed, apart for each `kind`.
    #[inline(always)]
    pub(crate) fn finish(self, kind: u32) -> u32 {
        let mut h = self.0 ^ kind.wrapping_mul(0x85eb_ca77);
        h ^= h >> 16;
        h = h.wrapping_mul(0x85eb_ca6b);
        h ^= h >> 13;
        h = h.wrapping_mul(0xc2b2_ae35);
        h ^ (h >> 16)
    }
}
