//! Reads of a register: the writes that each of them may show.

use super::{Ambiguity, KeyOperations, Premise, Refusal, RegisterRead};
use crate::by_key::{Operation, Writers};
use crate::history::Kind;
use crate::observations::{ABSENT, INITIAL};
use crate::value::Value;

impl Ambiguity<'_> {
    /// What a register may have held before the first write; nothing equals no value.
    pub(super) fn initial_values(&self, of_key: &KeyOperations, counted: &[bool]) -> Vec<Option<Value>> {
        let initial = &self.history.initial;
        let value = initial.of(of_key.key);
        if value != Value::UNKNOWN {
            let writes = of_key.writes.of(value);
            let is_replaced = initial.replaceable && writes.iter().any(|w| counted[w.transaction as usize]);
            return vec![Some(value).filter(|_| !is_replaced)];
        }
        let reads: Vec<&Operation> = external_reads(&of_key.gathered, counted).collect();
        if let Some(read) = reads.iter().find(|read| of_key.writes.of(read.value).is_empty()) {
            return vec![Some(read.value)];
        }
        let writers = |read: &Operation| {
            Writers::of(self.history, of_key.writes.of(read.value), read.transaction, read.number)
        };
        let is_repeated = |read: &&&Operation| writers(read).count > 1;
        let mut values: Vec<Value> = reads.iter().filter(is_repeated).map(|read| read.value).collect();
        values.sort_unstable();
        values.dedup();
        values.retain(|&value| {
            reads.iter().filter(|read| read.value == value).all(|read| writers(read).good.is_some())
        });
        [None].into_iter().chain(values.into_iter().map(Some)).collect()
    }

    pub(super) fn register_reads(
        &self,
        of_key: &KeyOperations,
        premise: &Premise,
        initial: Option<Value>,
        found: &mut Vec<RegisterRead>,
    ) -> Result<(), Refusal> {
        let runs = of_key.gathered.chunk_by(|a, b| a.transaction == b.transaction);
        for run in runs.filter(|run| premise.effective[run[0].transaction as usize]) {
            for (place, read) in run.iter().enumerate().filter(|(_, operation)| is_known_read(operation)) {
                let is_own = run[..place].iter().any(|operation| operation.kind.installs());
                let (options, is_wrong) = if is_own {
                    (vec![own_write(run, place)], false)
                } else {
                    self.external_options(of_key, premise, initial, read)
                };
                let allowed = premise.restrictions.get(&read.number);
                let is_allowed = |write: &u32| allowed.is_none_or(|allowed| allowed.contains(write));
                let options: Vec<u32> = options.into_iter().filter(is_allowed).collect();
                if options.is_empty() {
                    return Err(Refusal::NoWriter);
                }
                let &Operation { number: read, transaction, .. } = read;
                found.push(RegisterRead { read, transaction, key: of_key.key, options, is_wrong, is_own });
            }
        }
        Ok(())
    }

    /// The possible writes, and whether all of them are bad.
    fn external_options(
        &self,
        of_key: &KeyOperations,
        premise: &Premise,
        initial: Option<Value>,
        read: &Operation,
    ) -> (Vec<u32>, bool) {
        let writes = of_key.writes.of(read.value);
        let counts = |transaction: u32| premise.counted[transaction as usize];
        let good: Vec<_> = writes
            .iter()
            .filter(|w| w.is_final && w.transaction != read.transaction && !self.is_aborted(w.transaction))
            .collect();
        let is_initial = initial == Some(read.value);
        if is_initial || !good.is_empty() {
            let counted = good.into_iter().filter(|write| counts(write.transaction)).map(|w| w.operation);
            return (is_initial.then_some(INITIAL).into_iter().chain(counted).collect(), false);
        }
        let mut seen = Vec::new();
        let mut is_written = false;
        for same in writes.chunk_by(|a, b| a.transaction == b.transaction) {
            let last = same[same.len() - 1];
            if last.transaction == read.transaction && last.operation < read.number {
                continue;
            }
            is_written = true;
            let is_seen = counts(last.transaction) || self.is_aborted(last.transaction);
            seen.extend(is_seen.then_some(last.operation));
        }
        (if is_written { seen } else { vec![ABSENT] }, true)
    }
}

fn is_known_read(operation: &Operation) -> bool {
    operation.kind == Kind::Read && operation.value != Value::UNKNOWN
}

/// Reads of transactions that count, of what they have not written themselves before.
fn external_reads<'o>(gathered: &'o [Operation], counted: &[bool]) -> impl Iterator<Item = &'o Operation> {
    let runs = gathered.chunk_by(|a, b| a.transaction == b.transaction);
    let counted = runs.filter(|run| counted[run[0].transaction as usize]);
    let external = counted.flat_map(|run| run.iter().take_while(|operation| !operation.kind.installs()));
    external.filter(|operation| is_known_read(operation))
}

/// The own write of the value: the last before the read, or else the first after it.
fn own_write(run: &[Operation], place: usize) -> u32 {
    let value = run[place].value;
    let writes_it = |operation: &&Operation| operation.kind.installs() && operation.value == value;
    let before = run[..place].iter().rev().find(writes_it);
    before.or_else(|| run[place..].iter().find(writes_it)).map_or(ABSENT, |write| write.number)
}
