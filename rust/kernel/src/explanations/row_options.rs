//! Recorded orders of a key: the write that each row is.

use super::{Ambiguity, KeyOperations, Premise, Refusal, Shown};
use crate::by_key::{Shape, Write};
use crate::history::VersionSource;
use crate::observations::ABSENT;
use crate::value::Value;

impl Ambiguity<'_> {
    /// Adds the options of each recorded order of a key, but no more than `most`.
    pub(super) fn recorded_rows(
        &self,
        of_key: &KeyOperations,
        premise: &Premise,
        initial: Option<Value>,
        most: usize,
        found: &mut Vec<Vec<Vec<Shown>>>,
    ) -> Result<(), Refusal> {
        for (order, recorded) in self.history.versions.iter().enumerate() {
            let rows = recorded.of(of_key.key);
            if rows.is_empty() {
                continue;
            }
            let options = self.row_options(of_key, recorded.source, rows, premise, initial, most)?;
            let key = of_key.key;
            found.push(options.into_iter().map(|writes| vec![Shown::Rows { order, key, writes }]).collect());
        }
        Ok(())
    }

    /// The write of each row that shows one, from the last row to the first: different rows are different writes.
    /// If there are more rows than writes, the first ones say nothing.
    fn row_options(
        &self,
        of_key: &KeyOperations,
        source: VersionSource,
        rows: &[Value],
        premise: &Premise,
        initial: Option<Value>,
        most: usize,
    ) -> Result<Vec<Vec<u32>>, Refusal> {
        let mut chosen: Vec<Vec<u32>> = vec![Vec::new()];
        let is_register = of_key.shape == Shape::Register;
        for (place, &value) in rows.iter().enumerate().rev() {
            let is_start = place == 0 && is_register && initial == Some(value);
            let mut longer = Vec::new();
            for known in &chosen {
                let is_write = !is_start || self.tells_first_rows;
                let mut options = Vec::new();
                if is_write {
                    options = self.writes_of_row(of_key, source, value, premise, known);
                }
                if is_start && !options.contains(&ABSENT) {
                    options.push(ABSENT);
                }
                longer.extend(options.into_iter().map(|write| [known.as_slice(), &[write]].concat()));
                if longer.len() > most {
                    return Err(Refusal::TooMany);
                }
            }
            chosen = longer;
        }
        if chosen.is_empty() {
            return Err(Refusal::NoWriter);
        }
        for writes in &mut chosen {
            writes.reverse();
            writes.retain(|&write| write != ABSENT);
            if is_register {
                take_last(of_key, writes);
            } else {
                in_program_order(of_key, writes);
            }
        }
        chosen.sort_unstable();
        chosen.dedup();
        Ok(chosen)
    }

    /// The writes that a row may be, given those behind it. A log shows no transaction that aborted, and only such
    /// as took effect.
    fn writes_of_row(
        &self,
        of_key: &KeyOperations,
        source: VersionSource,
        value: Value,
        premise: &Premise,
        behind: &[u32],
    ) -> Vec<u32> {
        let is_log = source == VersionSource::Log;
        let by_transaction = of_key.writes.of(value).chunk_by(|a, b| a.transaction == b.transaction);
        let recorded = by_transaction.filter(|same| !is_log || !self.is_aborted(same[0].transaction));
        let unused: Vec<&Write> = recorded
            .filter_map(|same| same.iter().rev().find(|write| !behind.contains(&write.operation)))
            .collect();
        if unused.is_empty() {
            return vec![ABSENT];
        }
        let shown = unused.into_iter().filter(|w| !is_log || premise.counted[w.transaction as usize]);
        shown.map(|write| write.operation).collect()
    }
}

/// A row of a register is the last write of that value by its transaction.
fn take_last(of_key: &KeyOperations, writes: &mut [u32]) {
    for write in writes {
        let Some(one) = of_key.gathered.iter().find(|one| one.number == *write) else { continue };
        let (transaction, value) = (one.transaction, one.value);
        let mut same = of_key.writes.of(value).iter().filter(|other| other.transaction == transaction);
        *write = same.next_back().map_or(*write, |last| last.operation);
    }
}

/// Equal elements of one transaction follow program order, from the first on.
fn in_program_order(of_key: &KeyOperations, writes: &mut [u32]) {
    let every: Vec<&Write> = of_key.writes.by_value().flatten().collect();
    let write_of = |operation: u32| every.iter().find(|write| write.operation == operation);
    let kinds: Vec<Option<(u32, Value)>> =
        writes.iter().map(|&write| write_of(write).map(|w| (w.transaction, w.value))).collect();
    for place in 0..writes.len() {
        let Some((transaction, value)) = kinds[place] else { continue };
        let before = kinds[..place].iter().filter(|&&kind| kind == kinds[place]).count();
        let mut same = of_key.writes.of(value).iter().filter(|write| write.transaction == transaction);
        writes[place] = same.nth(before).map_or(writes[place], |write| write.operation);
    }
}
