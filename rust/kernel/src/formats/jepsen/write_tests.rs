//! Writing events.

use super::event_order::{unwritable, unwritable_json};
use super::tests::{COMPLETIONS, SMALL, columns, history, ids, values};
use super::write::{write, write_json};
use crate::formats::testing;

#[test]
fn what_is_written_is_read_back_as_the_same_history() {
    for text in [
        SMALL,
        COMPLETIONS,
        "",
        "[{:type :ok :process 0 :value [[:r 1 nil] [:append 1 2]]}]",
        "{:type :ok :process 3 :index 5 :value [[:r 1 nil]]} {:type :ok :process 3 :index 5 :value []}",
        "{:type :invoke :process 1 :value [[:append 1 1]] :transaction \"a b\"}",
        "{:type :ok :value [[:w :x [1 2]] [:r :x [1 2]] [:r :y {:a 1}]] :transaction 17}",
        "{:type :info :process 99999999999999999999 :value [[:r 1 [3]] [:r 1 nil] [:w 2 \\a]] :time 1700000000000000000}",
    ] {
        let before = history(text);
        let mut edn_text = Vec::new();
        write(&before, &mut edn_text).unwrap();
        let edn_text = String::from_utf8(edn_text).unwrap();
        assert_eq!(columns(&history(&edn_text)), columns(&before), "{edn_text}");
    }
}

#[test]
fn a_history_without_positions_is_written_transaction_by_transaction() {
    let mut before = history(SMALL);
    before.transactions.positions = crate::history::Optional::default();
    let mut text = Vec::new();
    write(&before, &mut text).unwrap();
    let after = history(std::str::from_utf8(&text).unwrap());
    assert_eq!(ids(&after), ids(&before));
    assert_eq!(after.transactions.statuses, before.transactions.statuses);
    assert_eq!(values(&after), values(&before));
}

#[test]
fn the_initial_value_of_another_format_is_written_as_nil() {
    let plume = testing::read_blocks("plume", b"r(1,0,0,1)\nw(1,5,0,1)\nr(1,5,1,2)\n", 100).unwrap();
    let mut text = Vec::new();
    write(&plume, &mut text).unwrap();
    assert_eq!(values(&history(std::str::from_utf8(&text).unwrap())), ["nil", "5", "5"]);
}

#[test]
fn json_has_one_object_per_line() {
    let mut text = Vec::new();
    write_json(&history(COMPLETIONS), &mut text).unwrap();
    let expected = "[{\"type\":\"ok\",\"f\":\"txn\",\"value\":[[\"w\",1,1],[\"r\",2,1]],\"index\":0},\n\
                    {\"type\":\"fail\",\"f\":\"txn\",\"value\":[[\"w\",1,2],[\"r\",3,null]],\"index\":1},\n\
                    {\"type\":\"info\",\"f\":\"txn\",\"value\":[[\"w\",1,3]],\"index\":2}]\n";
    assert_eq!(String::from_utf8(text).unwrap(), expected);
}

#[test]
fn json_holds_a_history_whose_skipped_events_it_could_not_hold() {
    let nemesis = "{:type :info :f :start :process :nemesis :value [:isolated {\"n1\" #{:a 1e999}}]}";
    let long = "{:type :info :process :nemesis :value 123456789012345678901234567890}";
    let text = |key: &str| format!("{nemesis}\n{long}\n{{:type :ok :process 0 :value [[:w {key} 2]]}}");
    assert_eq!(unwritable_json(&history(&text("1"))), Vec::<&str>::new());
    assert!(!crate::evidence::features(&history(&text("1"))).contains(&"integers beyond 64 bits"));
    assert_eq!(
        unwritable_json(&history(&text(":k"))),
        ["keywords, symbols and other terms: written as strings"]
    );
}

#[test]
fn rows_that_the_clock_orders_otherwise_are_written_by_the_clock() {
    let mut before = history(
        "{:type :ok :process 0 :value [[:w 1 1]]}\n{:type :ok :process 0 :value [[:w 1 2]]}\n\
         {:type :ok :process 1 :value [[:w 1 3]]}",
    );
    before.transactions.positions = crate::history::Optional::default();
    for (transaction, (from, to)) in [(1, 4), (7, 9), (2, 6)].into_iter().enumerate() {
        let interval = crate::history::Interval::new(Some(from), Some(to));
        before.transactions.intervals.set(transaction, interval);
    }
    assert_eq!(unwritable(&before), Vec::<&str>::new());
    let mut text = Vec::new();
    write(&before, &mut text).unwrap();
    let after = history(std::str::from_utf8(&text).unwrap());
    assert_eq!(
        (ids(&after), values(&after)),
        (["0", "2", "1"].map(String::from).to_vec(), ["1", "3", "2"].map(String::from).to_vec())
    );
    before.transactions.intervals.set(1, crate::history::Interval::new(Some(3), Some(9)));
    assert_eq!(unwritable(&before).len(), 1);
}
