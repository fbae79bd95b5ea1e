//! Transactions in any order become columns.

use super::*;

fn number(value: i64) -> Value {
    Value::small(value).unwrap()
}

#[test]
fn interleaved_transactions_are_grouped_in_program_order() {
    let mut builder = Builder::new();
    let session = builder.session(number(0));
    let first = builder.transaction(number(10), session, Status::Committed, 1).unwrap();
    let second = builder.transaction(number(11), session, Status::Committed, 2).unwrap();
    let key = builder.key(number(1));
    for (transaction, value) in [(first, 1), (second, 2), (first, 3)] {
        builder.operation(transaction, Kind::Write, key, number(value), value as u32);
    }
    let history = builder.finish().unwrap();
    assert_eq!(history.operation_offsets, [0, 2, 3]);
    assert_eq!(history.operations.values, [1, 3, 2].map(number));
    assert_eq!(history.operations.lines, [1, 3, 2]);
}

#[test]
fn explicit_sequence_numbers_order_a_session() {
    let mut builder = Builder::new();
    let session = builder.session(number(0));
    for (id, place) in [(10, 2), (11, 1)] {
        let transaction = builder.transaction(number(id), session, Status::Committed, 1).unwrap();
        builder.sequence(transaction, place);
    }
    assert_eq!(builder.finish().unwrap().transactions_of(0), [1, 0]);
}

#[test]
fn a_repeated_or_missing_sequence_number_is_an_error() {
    for places in [[Some(1), Some(1)], [Some(1), None]] {
        let mut builder = Builder::new();
        let session = builder.session(number(0));
        for (id, place) in places.into_iter().enumerate() {
            let id = number(id as i64);
            let transaction = builder.transaction(id, session, Status::Committed, 1).unwrap();
            if let Some(place) = place {
                builder.sequence(transaction, place);
            }
        }
        assert!(builder.finish().is_err());
    }
}

#[test]
fn a_nil_read_of_a_list_key_is_the_empty_list() {
    let mut builder = Builder::new();
    let session = builder.nameless_session();
    let only = builder.transaction(number(0), session, Status::Committed, 1).unwrap();
    let (list, register) = (builder.key(number(1)), builder.key(number(2)));
    builder.operation(only, Kind::Append, list, number(5), 1);
    builder.operation(only, Kind::Read, list, Value::NIL, 1);
    builder.operation(only, Kind::Read, register, Value::NIL, 1);
    let history = builder.finish().unwrap();
    assert_eq!(history.values.as_list(history.operations.values[1]), Some(&[][..]));
    assert_eq!(history.operations.values[2], Value::NIL);
}

#[test]
fn places_order_the_operations_of_a_transaction() {
    let mut builder = Builder::new();
    let session = builder.session(number(0));
    let [first, second] =
        [10, 11].map(|id| builder.transaction(number(id), session, Status::Committed, 1).unwrap());
    let key = builder.key(number(1));
    for (transaction, value) in [(first, 1), (second, 2), (first, 3), (first, 4)] {
        builder.operation(transaction, Kind::Write, key, number(value), value as u32);
    }
    builder.order_operations(&[2, 0, 1, 1]);
    let history = builder.finish().unwrap();
    assert_eq!(history.operations.values, [3, 4, 1, 2].map(number));
}

#[test]
fn a_slice_holds_its_transactions_and_the_initial_values_from_a_place_on() {
    let mut builder = Builder::new();
    builder.initial.default = number(0);
    for (key, value) in [(1, 5), (2, 6)] {
        let key = builder.key(number(key));
        builder.initial.of_key.push((key, number(value)));
    }
    let session = builder.session(number(0));
    for (id, value) in [(10, 7), (11, 8), (12, 9)] {
        let transaction = builder.transaction(number(id), session, Status::Committed, 0).unwrap();
        let key = builder.key(number(2));
        let operation = builder.operation(transaction, Kind::Write, key, number(value), 0);
        let interval = Interval::new(Some(value), Some(value + 1));
        builder.details(operation, Details { interval, ..Details::default() });
        let row = [(key, number(value))];
        builder.range_read(transaction, (number(1), number(3)), &row, &[], 0);
    }
    let slice = builder.slice(&[1, 2], Some(1));
    assert_eq!(slice.transactions.ids, [11, 12].map(number));
    assert_eq!(slice.operation_offsets, [0, 2, 4]);
    assert_eq!(slice.operations.values[0], number(8));
    assert_eq!(slice.operations.intervals.get(2), Interval::new(Some(9), Some(10)));
    assert_eq!(slice.rows_of(3).collect::<Vec<_>>(), [(0, number(9))]);
    assert_eq!(slice.keys, [number(2)]);
    assert_eq!((slice.initial.of(0), slice.initial.default), (number(6), number(0)));
    assert_eq!(builder.slice(&[0], None).initial.default, Value::UNKNOWN);
    assert_eq!(builder.finish().unwrap().transaction_count(), 3);
}
