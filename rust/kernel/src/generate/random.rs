//! Random numbers that are the same on every machine.

/// SplitMix64 (Steele, Lea and Flood 2014): small, fast, integers only.
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.wide_below(u64::from(bound)) as u32
    }

    pub(crate) fn wide_below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A number between these two, both included.
    pub(crate) fn between(&mut self, (least, most): (u32, u32)) -> u32 {
        least + self.below(most.saturating_sub(least) + 1)
    }
}
