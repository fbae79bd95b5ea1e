//! Reads that may show an initial value: whether they are stale is known when all writes were seen.

use super::NOTHING;
use super::replay_findings::StaleRead;
use crate::history::Timestamp;
use crate::value::Value;

/// A read of a register; a stale one has its place among all stale reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuspectRead {
    /// None: the read only shows that its value may be the initial one.
    pub place: Option<u64>,
    /// The read.
    pub stale: StaleRead,
}

impl SuspectRead {
    /// The bytes of one of them.
    pub const SIZE: usize = 64;

    /// A read (number, key, value) that is not held against a version.
    pub fn of((read, key, found): (u32, u32, Value)) -> Self {
        Self { place: None, stale: StaleRead { read, key, found, ..StaleRead::REGISTER } }
    }

    /// Adds the read to `bytes`.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let StaleRead { transaction, start, commit, read, key, found, expected, .. } = self.stale;
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

    /// All reads in `bytes`.
    pub fn read_all(bytes: &[u8]) -> impl Iterator<Item = Self> {
        bytes.chunks_exact(Self::SIZE).map(|chunk| {
            let word =
                |place: usize| chunk[8 * place..8 * place + 8].try_into().map_or(0, u64::from_le_bytes);
            let half = |place: usize| {
                chunk[48 + 4 * place..52 + 4 * place].try_into().map_or(NOTHING, u32::from_le_bytes)
            };
            let time = |place: usize| Timestamp::new(word(place) as i64, word(place + 1) as i64);
            let stale = StaleRead {
                transaction: half(0),
                start: time(2),
                commit: time(4),
                read: half(1),
                key: half(2),
                found: Value::from_word(word(1)),
                expected: half(3),
                ..StaleRead::REGISTER
            };
            Self { place: Some(word(0)).filter(|&place| place != u64::MAX), stale }
        })
    }
}
