//! Numbers that look random and are the same in every run, so that what was found can be found again.

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub fn next(&mut self) -> u64 {
        // xorshift64*.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Less than `most`.
    pub fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() >> 16).unwrap_or_default() % most.max(1)
    }

    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// `text` with its last `count` characters replaced by hexadecimal digits.
    pub fn hex_tail(&mut self, text: &str, count: usize) -> String {
        let mut changed = text[..text.len() - count].to_owned();
        changed.extend((0..count).map(|_| char::from(b"0123456789abcdef"[self.below(16)])));
        changed
    }
}
