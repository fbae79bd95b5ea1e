//! What goes with what.

use super::*;
use crate::builder::Builder;
use crate::cancel::Cancel;
use crate::reads;
use crate::value::Value;

fn number(value: i64) -> Value {
    Value::small(value).unwrap()
}

/// Kind, key and value.
type Row = (Kind, i64, i64);

/// Transactions of one session each.
fn history(transactions: &[(Status, &[Row])]) -> History {
    let mut builder = Builder::new();
    for (id, (status, operations)) in (1..).zip(transactions) {
        let session = builder.session(number(id));
        let transaction = builder.transaction(number(id), session, *status, 1).unwrap();
        for &(kind, key, value) in *operations {
            let key = builder.key(number(key));
            builder.operation(transaction, kind, key, number(value), 1);
        }
    }
    builder.finish().unwrap()
}

/// Ids of transactions, each with how many operations it has, in the part.
fn left(history: &History, transactions: &[u32], without: &[u32]) -> Vec<(i64, usize)> {
    let judged = reads::judge(history, &Cancel::default());
    let part = sub_history(history, &judged, transactions, without);
    let id = |transaction: usize| part.transactions.ids[transaction].as_small().unwrap();
    (0..part.transaction_count()).map(|t| (id(t), part.operations_of(t).len())).collect()
}

#[test]
fn a_read_goes_with_each_of_its_writers() {
    let written = history(&[
        (Status::Committed, &[(Kind::Write, 0, 1)]),
        (Status::Aborted, &[(Kind::Write, 0, 1)]),
        (Status::Committed, &[(Kind::Read, 0, 1), (Kind::Read, 7, 5)]),
    ]);
    assert_eq!(left(&written, &[1, 2], &[]), [(2, 1), (3, 1)]);
    assert_eq!(left(&written, &[0, 1, 2], &[]), [(1, 1), (2, 1), (3, 2)]);
    let judged = reads::judge(&written, &Cancel::default());
    assert_eq!(with_transactions_read_from(&written, &judged, &[2]), [0, 1, 2]);
    assert_eq!(with_transactions_on_same_keys(&written, &[0]), [0, 1, 2]);
}

#[test]
fn a_write_goes_with_the_next_and_a_read_with_its_own_write() {
    let written =
        history(&[(Status::Committed, &[(Kind::Write, 0, 1), (Kind::Write, 0, 2), (Kind::Read, 0, 9)])]);
    assert_eq!(left(&written, &[0], &[1]), [(1, 0)]);
    assert_eq!(left(&written, &[0], &[0]), [(1, 1)]);
    assert_eq!(left(&written, &[0], &[2]), [(1, 2)]);
}

#[test]
fn a_second_initial_value_goes_with_the_first() {
    let written =
        history(&[(Status::Committed, &[(Kind::Read, 0, 1)]), (Status::Committed, &[(Kind::Read, 0, 2)])]);
    assert_eq!(left(&written, &[1], &[]), [(2, 0)]);
    assert_eq!(left(&written, &[0], &[]), [(1, 1)]);
}

#[test]
fn who_counts_because_he_was_seen_goes_when_he_is_not() {
    let written = history(&[
        (Status::Indeterminate, &[(Kind::Write, 0, 1), (Kind::Write, 1, 1)]),
        (Status::Committed, &[(Kind::Read, 0, 1)]),
        (Status::Aborted, &[(Kind::Read, 1, 1)]),
    ]);
    assert_eq!(left(&written, &[0, 2], &[]), [(3, 0)]);
    assert_eq!(left(&written, &[0, 1], &[]), [(1, 2), (2, 1)]);
}
