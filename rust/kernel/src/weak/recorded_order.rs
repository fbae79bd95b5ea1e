//! Order of versions that a log, a declaration or commit timestamps record, as demands on the commit order.

use super::{Judgement, Question, judge_in_order};
use crate::cancel::Cancel;
use crate::history::History;
use crate::observations::{INITIAL, Observations};
use crate::predicates::first_transactions;
use crate::versions::orders::{Extra, Orders, Source};
use crate::versions::recorded_by;
use crate::versions::transaction_times::TransactionTimes;

/// One transaction's version came before another's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub struct Recorded {
    pub before: u32,
    pub after: u32,
    pub key: u32,
    /// The writes of the two versions.
    pub operations: [u32; 2],
    pub source: Source,
}

/// What sources say, beside values.
#[derive(Debug, Default, Clone)]
pub struct RecordedOrder {
    /// Sorted.
    pub pairs: Vec<Recorded>,
    /// Whether reads of lists are not believed, because another source is heard alone.
    pub without_lists: bool,
}

impl RecordedOrder {
    pub(super) fn new(orders: &Orders, believed: Option<Source>) -> Self {
        let mut pairs = Vec::new();
        for (order, key) in orders.keys.iter().zip(0..) {
            let source = order.source;
            let chain = order.chain().skip(1).map(|after| Extra { before: after - 1, after, source });
            let before = order.before_tail();
            let tail = order.tail().map(|after| Extra { before, after, source });
            let further = orders.extras_of(order).iter().copied();
            for Extra { before, after, source } in chain.chain(tail).chain(further) {
                let [first, second] = [before, after].map(|version| orders.writers[version as usize]);
                let is_told = matches!(source, Source::Log | Source::Declared | Source::Timestamps);
                if is_told && first != INITIAL && first != second {
                    let operations = [before, after].map(|version| orders.operations[version as usize]);
                    pairs.push(Recorded { before: first, after: second, key, operations, source });
                }
            }
        }
        pairs.sort_unstable();
        Self { pairs, without_lists: believed.is_some_and(|source| source != Source::ListRead) }
    }

    /// The same, with the versions of first transactions before those of all others.
    pub(super) fn with_first_state(mut self, history: &History, counted: &[bool]) -> Self {
        let first = first_transactions(history);
        if first.is_empty() {
            return self;
        }
        let inserts = first.iter().flat_map(|&before| history.operations_of(before as usize));
        let keys = &history.operations.keys;
        let mut inserted: Vec<(u32, u32)> = inserts.map(|insert| (keys[insert], insert as u32)).collect();
        inserted.sort_unstable();
        let others = (0..counted.len()).filter(|&t| counted[t] && first.binary_search(&(t as u32)).is_err());
        let owners = history.transaction_of_operation();
        for write in others.flat_map(|transaction| history.operations_of(transaction)) {
            if !history.operations.kinds[write].installs() {
                continue;
            }
            let from = inserted.partition_point(|&(key, _)| key < keys[write]);
            for &(key, insert) in inserted[from..].iter().take_while(|&&(key, _)| key == keys[write]) {
                let (before, after) = (owners[insert as usize], owners[write]);
                let (operations, source) = ([insert, write as u32], Source::Initial);
                self.pairs.push(Recorded { before, after, key, operations, source });
            }
        }
        self.pairs.sort_unstable();
        self
    }

    /// How it is known that one transaction's version came before another's.
    #[must_use]
    pub fn between(&self, before: u32, after: u32) -> Option<&Recorded> {
        let place = self.pairs.partition_point(|pair| (pair.before, pair.after) < (before, after));
        self.pairs.get(place).filter(|pair| (pair.before, pair.after) == (before, after))
    }
}

/// Judges the levels up to the strongest one asked for by all that is recorded of the order of versions. If
/// sources contradict each other, each is heard alone: a level has an answer if all give the same.
#[must_use]
pub fn judge_by_recorded_order(
    history: &History,
    observations: &Observations,
    question: Question,
    cancel: &Cancel,
) -> Judgement {
    let times = TransactionTimes::new(history, &observations.counted);
    let orders = recorded_by(None, history, observations, &times, cancel);
    let judge = |orders: &Orders, believed: Option<Source>| {
        judge_in_order(history, observations, question, RecordedOrder::new(orders, believed), cancel)
    };
    if orders.contradictions.is_empty() {
        return judge(&orders, None);
    }
    let mut alone = orders.speaking.iter().map(|&source| {
        judge(&recorded_by(Some(source), history, observations, &times, cancel), Some(source))
    });
    let Some(mut first) = alone.next() else { return judge(&orders, None) };
    for other in alone {
        for (level, is_contradictory) in first.contradictory.iter_mut().enumerate() {
            *is_contradictory |= first.violated.get(level) != other.violated.get(level);
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;
    use crate::history::{Kind, Status, VersionSource};
    use crate::value::Value;
    use crate::weak::reader::WeakLevel;

    fn number(value: i64) -> Value {
        Value::small(value).unwrap()
    }

    /// The third transaction reads y from the second, and x from the first.
    fn violated(log: &[i64], declared: &[i64]) -> (Vec<bool>, Vec<bool>) {
        let mut builder = Builder::new();
        let [x, y] = [0, 1].map(|key| builder.key(number(key)));
        let operations: [&[(Kind, u32, i64)]; 3] = [
            &[(Kind::Write, x, 1)],
            &[(Kind::Write, x, 2), (Kind::Write, y, 2)],
            &[(Kind::Read, y, 2), (Kind::Read, x, 1)],
        ];
        for (id, operations) in (1..).zip(operations) {
            let session = builder.session(number(id));
            let transaction = builder.transaction(number(id), session, Status::Committed, 1).unwrap();
            for &(kind, key, value) in operations {
                builder.operation(transaction, kind, key, number(value), 1);
            }
        }
        for (source, values) in [(VersionSource::Log, log), (VersionSource::Declared, declared)] {
            for &value in values {
                builder.version(source, x, number(value));
            }
        }
        let (history, cancel) = (builder.finish().unwrap(), Cancel::default());
        let (_, observations) = crate::reads::judge(&history, &cancel);
        let question = Question::new(WeakLevel::Causal, 1);
        let found = judge_by_recorded_order(&history, &observations, question, &cancel);
        (found.violated, found.contradictory)
    }

    #[test]
    fn a_commit_order_contains_what_is_recorded() {
        assert_eq!(violated(&[], &[]).0, [false; 3]);
        assert_eq!(violated(&[2, 1], &[]).0, [false; 3]);
        assert_eq!(violated(&[1, 2], &[]).0, [true; 3]);
        assert_eq!(violated(&[], &[1, 2]).0, [true; 3]);
    }

    #[test]
    fn sources_that_lead_to_different_answers_contradict_each_other() {
        assert_eq!(violated(&[1, 2], &[1, 2]).1, [false; 3]);
        assert_eq!(violated(&[1, 2], &[2, 1]).1, [true; 3]);
    }
}
