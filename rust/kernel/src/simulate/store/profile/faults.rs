//! The faults of a profile, each with its rate.

use crate::generate::random::Random;
use crate::simulate::store::{Fault, StoredVersion};
use hashbrown::HashMap;

/// One occasion at which a fault struck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StruckFault {
    /// The fault.
    pub fault: Fault,
    /// The number of the transaction.
    pub transaction: u32,
    /// The number of the operation.
    pub operation: u32,
    /// Whether clients of committed transactions can have seen it.
    pub is_visible: bool,
}

/// The faults that may strike, and the data that they need.
pub(crate) struct Faults {
    random: Random,
    rates: [u32; Fault::ALL.len()],
    /// By row: the last version that was rolled back, and the last that its own transaction overwrote.
    pub(super) aborted: HashMap<u32, StoredVersion>,
    pub(super) intermediate: HashMap<u32, StoredVersion>,
    /// Rows whose newest version got lost: the place of the fault in `struck`, and when.
    pub(super) lost: HashMap<u32, (usize, u64)>,
    pub(super) struck: Vec<StruckFault>,
}

impl Faults {
    pub(super) fn new(seed: u64, rates: &[(Fault, u32)]) -> Self {
        let mut faults = Self {
            random: Random(seed),
            rates: [0; Fault::ALL.len()],
            aborted: HashMap::new(),
            intermediate: HashMap::new(),
            lost: HashMap::new(),
            struck: Vec::new(),
        };
        for &(fault, rate) in rates {
            faults.rates[fault as usize] = rate;
        }
        faults
    }

    pub(crate) fn may(&self, fault: Fault) -> bool {
        self.rates[fault as usize] > 0
    }

    pub(crate) fn strikes(&mut self, fault: Fault) -> bool {
        self.may(fault) && self.random.below(1_000_000) < self.rates[fault as usize]
    }

    /// Marks the loss of a version as visible if a read at this instant should have shown it.
    pub(super) fn show_lost(&mut self, key: u32, at: u64) {
        if let Some(&(struck, lost)) = self.lost.get(&key)
            && at > lost
        {
            self.struck[struck].is_visible = true;
        }
    }

    /// One of so many.
    pub(super) fn one_of(&mut self, many: usize) -> usize {
        self.random.below(many as u32) as usize
    }
}
