//! Reads of a register: the writes that each of them may show.

use super::{Ambiguity, KeyOperations, Premise, Refusal, RegisterRead, Sites};
use crate::by_key::{Operation, Writers, external_reads};
use crate::observations::{ABSENT, INITIAL};
use crate::value::Value;

impl Ambiguity<'_> {
    /// What a register may have held before the first write; nothing equals no value.
    pub(super) fn initial_values(&self, of_key: &KeyOperations, counted: &[bool]) -> Vec<Option<Value>> {
        let initial = &self.history.initial;
        let value = initial.of(of_key.key);
        if self.is_born(of_key.key) {
            // A read showed the state before the first transaction only if nothing else explains it.
            let is_only = value != Value::UNKNOWN && of_key.writes.of(value).is_empty();
            return vec![is_only.then_some(value)];
        }
        if value != Value::UNKNOWN {
            let writes = of_key.writes.of(value);
            let is_replaced = initial.replaceable && writes.iter().any(|w| counted[w.transaction as usize]);
            return vec![Some(value).filter(|_| !is_replaced)];
        }
        let reads = external_reads(&of_key.gathered, counted).filter(|read| !read.is_unmatched);
        let reads: Vec<&Operation> = reads.collect();
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
        // A key that some transaction deletes may not have existed: that explains whatever another value, which no
        // read shows, would.
        let may_be_nil = !of_key.writes.of(Value::NIL).is_empty();
        if may_be_nil && reads.iter().any(|read| read.value == Value::NIL && writers(read).good.is_none()) {
            return vec![Some(Value::NIL)];
        }
        let first = may_be_nil.then_some(Value::NIL);
        values.retain(|&value| Some(value) != first);
        [first].into_iter().chain(values.into_iter().map(Some)).collect()
    }

    /// Whether a first transaction inserts the key, so that no read shows its initial state.
    fn is_born(&self, key: u32) -> bool {
        self.born.get(key as usize) == Some(&true)
    }

    pub(super) fn register_reads(
        &self,
        of_key: &KeyOperations,
        premise: &Premise,
        initial: Option<Value>,
        sites: &mut Sites,
    ) -> Result<(), Refusal> {
        let runs = of_key.gathered.chunk_by(|a, b| a.transaction == b.transaction);
        for run in runs.filter(|run| premise.effective[run[0].transaction as usize]) {
            for (place, read) in run.iter().enumerate().filter(|(_, operation)| operation.is_known_read()) {
                let is_own = run[..place].iter().any(|operation| operation.kind.installs());
                let (options, is_wrong) = if is_own {
                    (vec![self.own_write(run, place)], false)
                } else if read.is_unmatched {
                    let Some(options) = self.unmatched_options(of_key, premise, initial, read) else {
                        sites.has_misses = true;
                        continue;
                    };
                    (options, false)
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
                let key = of_key.key;
                sites.reads.push(RegisterRead { read, transaction, key, options, is_wrong, is_own });
            }
        }
        Ok(())
    }

    /// The writes that leave the key in a state which does not match; nothing if there are none.
    fn unmatched_options(
        &self,
        of_key: &KeyOperations,
        premise: &Premise,
        initial: Option<Value>,
        read: &Operation,
    ) -> Option<Vec<u32>> {
        let matches = |value: Value| self.predicates.matches(self.history, read.number, value);
        let is_initial = match initial {
            Some(value) => !matches(value) && !self.is_born(of_key.key),
            None => self.history.initial.of(of_key.key) == Value::UNKNOWN && !self.is_born(of_key.key),
        };
        let mut good = self.predicates.unmatched(self.history, read, &of_key.writes);
        good.retain(|write| write.transaction != read.transaction);
        if !is_initial && good.is_empty() {
            return None;
        }
        let counted = good.into_iter().filter(|write| premise.counted[write.transaction as usize]);
        let counted = counted.map(|write| write.operation);
        Some(is_initial.then_some(INITIAL).into_iter().chain(counted).collect())
    }

    /// The own write that an own read shows: the last of the value before the read, or else the first after it.
    fn own_write(&self, run: &[Operation], place: usize) -> u32 {
        let read = &run[place];
        let mut before = run[..place].iter().rev().filter(|operation| operation.kind.installs());
        if read.is_unmatched {
            let matches = |own: &&Operation| self.predicates.matches(self.history, read.number, own.value);
            return before.next().filter(|own| !matches(own)).map_or(ABSENT, |own| own.number);
        }
        let writes_it = |operation: &&Operation| operation.kind.installs() && operation.value == read.value;
        let before = before.find(writes_it);
        before.or_else(|| run[place..].iter().find(writes_it)).map_or(ABSENT, |write| write.number)
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
