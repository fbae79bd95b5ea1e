//! Reads that may show an initial value: what becomes of them is known when all writes were seen.

use crate::clock::NOTHING;
use crate::clock::found::{Stale, Unequal};
use crate::history::Timestamp;
use crate::value::Value;

/// Bytes of one of them.
pub const SIZE: usize = 64;

/// A read of a register, and the place of a stale one among all that are stale.
pub struct Spilled {
    pub place: Option<u64>,
    pub stale: Stale,
}

impl Spilled {
    /// A read that is no stale one.
    pub fn unequal(unequal: &Unequal) -> Self {
        let &Unequal { transaction, read, key, found, .. } = unequal;
        Self { place: None, stale: Stale { transaction, read, key, found, ..Stale::REGISTER } }
    }

    /// Writes it.
    pub fn push(&self, bytes: &mut Vec<u8>) {
        let Stale { transaction, start, commit, read, key, found, expected, .. } = self.stale;
        bytes.extend_from_slice(&self.place.unwrap_or(u64::MAX).to_le_bytes());
        bytes.extend_from_slice(&found.word().to_le_bytes());
        for time in [start, commit] {
            let (physical, logical) = time.parts().unwrap_or((i64::MIN, 0));
            bytes.extend_from_slice(&physical.to_le_bytes());
            bytes.extend_from_slice(&logical.to_le_bytes());
        }
        for number in [transaction, read, key, expected] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }

    /// Reads all of them.
    pub fn all(bytes: &[u8]) -> impl Iterator<Item = Self> {
        bytes.chunks_exact(SIZE).map(|chunk| {
            let word =
                |place: usize| chunk[8 * place..8 * place + 8].try_into().map_or(0, u64::from_le_bytes);
            let half = |place: usize| {
                chunk[48 + 4 * place..52 + 4 * place].try_into().map_or(NOTHING, u32::from_le_bytes)
            };
            let time = |place: usize| Timestamp::new(word(place) as i64, word(place + 1) as i64);
            let stale = Stale {
                transaction: half(0),
                start: time(2),
                commit: time(4),
                read: half(1),
                key: half(2),
                found: Value::from_word(word(1)),
                expected: half(3),
                ..Stale::REGISTER
            };
            Self { place: Some(word(0)).filter(|&place| place != u64::MAX), stale }
        })
    }
}
