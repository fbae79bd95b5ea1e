//! Dense numbers for sparse ids: an array where ids are small integers, a hash map elsewhere.

use crate::value::Value;
use hashbrown::HashMap;

/// Ids below this are looked up in an array, which grows only as far as they need.
const DIRECT: usize = 1 << 22;
const NONE: u32 = u32::MAX;

/// Numbers ids 0, 1, 2, ... in the order in which they are first seen.
#[derive(Debug, Clone, Default)]
pub struct DenseIndex {
    direct: Vec<u32>,
    sparse: HashMap<Value, u32>,
    ids: Vec<Value>,
}

impl DenseIndex {
    /// The number of `id`, a new one if it was not seen before.
    #[inline]
    pub fn number(&mut self, id: Value) -> u32 {
        if let Some(known) = self.get(id) {
            return known;
        }
        let number = self.ids.len() as u32;
        self.ids.push(id);
        match direct_slot(id) {
            Some(slot) => {
                if slot >= self.direct.len() {
                    self.direct.resize((slot + 1).next_power_of_two(), NONE);
                }
                self.direct[slot] = number;
            }
            None => {
                self.sparse.insert(id, number);
            }
        }
        number
    }

    /// The number of `id` if it has one.
    #[must_use]
    #[inline]
    pub fn get(&self, id: Value) -> Option<u32> {
        match direct_slot(id) {
            Some(slot) => self.direct.get(slot).copied().filter(|&number| number != NONE),
            None => self.sparse.get(&id).copied(),
        }
    }

    /// All ids, in the order of their numbers.
    #[must_use]
    pub fn into_ids(self) -> Vec<Value> {
        self.ids
    }

    /// All ids, in the order of their numbers.
    #[must_use]
    pub fn ids(&self) -> &[Value] {
        &self.ids
    }
}

#[inline]
fn direct_slot(id: Value) -> Option<usize> {
    let slot = usize::try_from(id.as_small()?).ok()?;
    (slot < DIRECT).then_some(slot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_first_appearance_for_small_large_and_negative_ids() {
        let mut index = DenseIndex::default();
        let ids = [5, 1 << 40, -3, 0, 5, 1 << 40].map(|id| Value::small(id).unwrap());
        let numbers: Vec<u32> = ids.iter().map(|&id| index.number(id)).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 0, 1]);
        assert_eq!(index.get(Value::small(7).unwrap()), None);
        assert_eq!(index.into_ids(), ids[..4]);
    }
}
