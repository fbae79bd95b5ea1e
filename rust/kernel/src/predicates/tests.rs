use super::*;
use crate::by_key::ByKey;
use crate::formats;
use crate::reads::counted;

/// `reader key writer` of each observation, `reader key` of each miss, and how many states are ambiguous.
fn judged(events: &[&str]) -> (Vec<String>, Vec<String>, u64) {
    let mut reader = formats::reader("jepsen").unwrap();
    for (process, event) in events.iter().enumerate() {
        let (kind, value) = event.split_once(' ').unwrap();
        let (kind, function) = if kind == "init" { ("ok", "init") } else { (kind, "txn") };
        let line = format!("{{:type :{kind} :process {process} :f :{function} :value {value}}}\n");
        reader.feed(line.as_bytes()).unwrap();
    }
    reader.end_of_file().unwrap();
    let history = reader.into_history().unwrap();
    let counted = counted(&history, &history.transaction_of_operation(), &ByKey::new(&history));
    let found = judge(&history, &counted);
    let name = |key: u32| history.values.atom(history.keys[key as usize].atom_index().unwrap()).1;
    let writer = |writer: u32| if writer == INITIAL { "initial".to_owned() } else { writer.to_string() };
    let observed = |o: &Observation| format!("{} {} {}", o.reader, name(o.key), writer(o.writer));
    let missed = |miss: &Miss| format!("{} {}", miss.reader, name(miss.key));
    (
        found.observations.iter().map(observed).collect(),
        found.misses.iter().map(missed).collect(),
        found.ambiguous_states,
    )
}

fn observed(events: &[&str]) -> Vec<String> {
    let (observed, misses, ambiguous) = judged(events);
    assert_eq!((misses, ambiguous), (vec![], 0));
    observed
}

#[test]
fn a_row_was_read_from_its_writer() {
    assert_eq!(observed(&["ok [[:w :x 1]]", "ok [[:rp :true {:x 1}]]"]), ["1 :x 0"]);
    let own = ["ok [[:w :x 1] [:rp :true {:x 1}]]", "ok [[:w :y 1]]"];
    assert_eq!(observed(&own), ["0 :y initial"]);
}

#[test]
fn a_key_that_is_not_shown_was_in_the_only_state_that_does_not_match() {
    assert_eq!(observed(&["ok [[:w :x 1]]", "ok [[:rp :true {}]]"]), ["1 :x initial"]);
    let dead = ["init {:x 1}", "ok [[:delete :x]]", "ok [[:rp :true nil]]"];
    assert_eq!(observed(&dead), ["2 :x 1"]);
    let value = ["init {:x 1}", "ok [[:w :x 2]]", "ok [[:rp [:= 1] {}]]", "ok [[:rp [:mod 2 0] {}]]"];
    assert_eq!(observed(&value), ["2 :x 1", "3 :x 0"]);
}

#[test]
fn a_transaction_does_not_find_what_it_writes_later() {
    assert_eq!(observed(&["init {:x 1}", "ok [[:rp [:= 2] {}] [:w :x 3]]"]), ["1 :x 0"]);
}

#[test]
fn a_key_that_matches_in_every_state_is_missed() {
    let events = ["init {:x 1}", "ok [[:w :x 2]]", "ok [[:rp :true {}]]"];
    assert_eq!(judged(&events), (vec![], vec!["2 :x".to_owned()], 0));
}

#[test]
fn several_possible_states_are_set_aside() {
    for events in [
        vec!["ok [[:w :x 1]]", "ok [[:delete :x]]", "ok [[:rp :true {}]]"],
        vec!["init {:x 1}", "ok [[:delete :x]]", "ok [[:delete :x]]", "ok [[:rp :true {}]]"],
        vec!["ok [[:w :x 1]]", "ok [[:w :x 1]]", "ok [[:rp :true {:x 1}]]"],
        vec!["ok [[:append :x 1]]", "ok [[:rp :true {}]]"],
        vec!["ok [[:rp :true {:x 1}]]"],
    ] {
        assert_eq!(judged(&events), (vec![], vec![], 1), "{events:?}");
    }
}

#[test]
fn a_write_that_may_have_happened_is_a_state_and_one_that_did_not_is_none() {
    let info = ["init {:x 1}", "info [[:delete :x]]", "ok [[:rp :true {}]]"];
    assert_eq!(judged(&info), (vec![], vec![], 1));
    let fail = ["init {:x 1}", "fail [[:delete :x]]", "ok [[:rp :true {}]]"];
    assert_eq!(judged(&fail), (vec![], vec!["2 :x".to_owned()], 0));
}

#[test]
fn a_read_of_nothing_saw_the_only_deletion() {
    let born = ["init {:x 1}", "ok [[:delete :x]]", "ok [[:r :x nil]]", "ok [[:r :x 1]]"];
    assert_eq!(observed(&born), ["2 :x 1", "3 :x 0"]);
    assert_eq!(observed(&["init {:x 1}", "ok [[:r :x nil] [:delete :x]]"]), ["1 :x initial"]);
    assert_eq!(observed(&["init {:x 1}", "ok [[:r :x nil]]"]), [""; 0]);
    assert_eq!(judged(&["ok [[:w :x 1]]", "ok [[:delete :x]]", "ok [[:r :x nil]]"]), (vec![], vec![], 1));
}

#[test]
fn only_transactions_that_insert_nothing_but_first_rows_are_first() {
    let events = ["ok [[:insert :x 1]]", "ok [[:rp [:= 1] {}]]"];
    assert_eq!(observed(&events), ["1 :x initial"]);
}
