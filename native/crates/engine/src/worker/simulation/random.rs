//! A small seeded generator (splitmix64): the same numbers for the same seed on every machine.

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 for 0.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.next() % n as u64) as usize }
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    /// Mostly small, sometimes large.
    pub fn size(&mut self, most: usize) -> usize {
        let ceiling = match self.below(4) {
            0 => 20,
            1 => 2_000,
            2 => 40_000,
            _ => most,
        };
        self.below(ceiling.min(most) + 1)
    }
}

/// Byte `at` of the stream called `name`: a receiver can tell a lost, doubled or foreign byte.
pub fn byte_of(name: u64, at: usize) -> u8 {
    (name.wrapping_mul(31).wrapping_add(at as u64).wrapping_mul(0x9e37_79b9) >> 16) as u8
}

pub fn bytes_of(name: u64, range: std::ops::Range<usize>) -> Vec<u8> {
    range.map(|at| byte_of(name, at)).collect()
}
