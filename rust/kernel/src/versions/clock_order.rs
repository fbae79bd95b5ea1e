//! Registers whose versions the commit timestamps alone put in order: no look at reads or at single keys is needed.

use super::orders::Source;
use super::orders::ordered_keys::OrderedKeys;
use crate::history::{History, Kind, Status};
use crate::predicates::first_transactions;
use rayon::prelude::*;

/// How many keys each source orders, in a history of which nothing else than timestamps orders registers, and in which
/// no two transactions commit at the same time; none of any other.
#[must_use]
pub fn ordered_by_clock(history: &History) -> Option<Vec<OrderedKeys>> {
    let is_plain =
        history.versions.is_empty() && first_transactions(history).is_empty() && has_only_registers(history);
    if !is_plain || !commits_at_different_times(history) {
        return None;
    }
    let operations = &history.operations;
    let mut is_written = vec![false; history.keys.len()];
    for (&kind, &key) in operations.kinds.iter().zip(&operations.keys) {
        if kind == Kind::Write {
            is_written[key as usize] = true;
        }
    }
    let keys = is_written.into_iter().filter(|&is_written| is_written).count() as u64;
    let row = OrderedKeys { source: Source::Timestamps, keys, whole: keys };
    Some(if keys > 0 { vec![row] } else { Vec::new() })
}

fn has_only_registers(history: &History) -> bool {
    let operations = &history.operations;
    operations.kinds.par_iter().zip(&operations.values).all(|(&kind, value)| match kind {
        Kind::Write => true,
        Kind::Read => value.list_index().is_none(),
        _ => false,
    })
}

/// Whether all transactions committed, each at a time of its own.
fn commits_at_different_times(history: &History) -> bool {
    let columns = &history.transactions;
    let time = |transaction: usize| {
        let is_committed = columns.statuses[transaction] == Status::Committed;
        columns.commits.get(transaction).parts().filter(|_| is_committed)
    };
    let Some(mut times) = (0..history.transaction_count()).map(time).collect::<Option<Vec<(i64, i64)>>>()
    else {
        return false;
    };
    times.par_sort_unstable();
    times.windows(2).all(|pair| pair[0] != pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;
    use crate::cancel::Cancel;
    use crate::history::Timestamp;
    use crate::reads;
    use crate::value::Value;
    use crate::versions::ordered;
    use crate::versions::orders::Claims;

    /// Numbers that look random (xorshift).
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % end
        }
    }

    fn number(value: u64) -> Value {
        Value::small(value as i64).unwrap()
    }

    /// Transactions at times that may be the same, some of which may be aborted, without a time, or append.
    fn history(seed: u64) -> History {
        let mut random = Random(seed * 0x9e37_79b9 + 1);
        let mut builder = Builder::new();
        let oddity = random.below(6);
        for id in 0..=random.below(6) {
            let session = builder.session(number(random.below(2)));
            let is_aborted = oddity == 1 && random.below(3) == 0;
            let status = if is_aborted { Status::Aborted } else { Status::Committed };
            let transaction = builder.transaction(number(id), session, status, 1).unwrap();
            if oddity != 2 || random.below(3) > 0 {
                let time = if oddity == 3 { random.below(4) } else { 100 - 7 * id };
                builder.timestamps(transaction, Timestamp::default(), Timestamp::new(time as i64, 0));
            }
            for place in 0..random.below(4) {
                let key = builder.key(number(random.below(3)));
                let kind = match random.below(4) {
                    0 if oddity == 4 => Kind::Append,
                    0 if oddity == 5 => Kind::Delete,
                    1 => Kind::Read,
                    _ => Kind::Write,
                };
                let value = if kind == Kind::Read { random.below(20) } else { id * 4 + place };
                builder.operation(transaction, kind, key, number(value), 1);
            }
        }
        builder.finish().unwrap()
    }

    #[test]
    fn it_is_what_a_look_at_every_key_finds() {
        let (mut decided, mut left) = (0, 0);
        for seed in 0..3_000 {
            let (history, cancel) = (history(seed), Cancel::default());
            let Some(found) = ordered_by_clock(&history) else {
                left += 1;
                continue;
            };
            let (_, observations) = reads::judge(&history, &cancel);
            assert_eq!(found, ordered(&history, &observations, Claims::default(), &cancel), "seed {seed}");
            decided += 1;
        }
        assert!(decided > 500 && left > 500, "{decided} and {left}");
    }

    #[test]
    fn transactions_at_the_same_time_are_left_to_the_look_at_every_key() {
        let mut builder = Builder::new();
        let (session, key) = (builder.session(number(0)), builder.key(number(7)));
        for id in 0..2 {
            let transaction = builder.transaction(number(id), session, Status::Committed, 1).unwrap();
            builder.timestamps(transaction, Timestamp::default(), Timestamp::new(5, 1));
            builder.operation(transaction, Kind::Write, key, number(id), 1);
        }
        assert_eq!(ordered_by_clock(&builder.finish().unwrap()), None);
    }
}
