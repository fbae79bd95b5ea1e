use super::write::{write, write_json};
use super::*;
use crate::formats::edn;
use crate::formats::testing;
use crate::history::{Status, VersionSource};

fn read(text: &str) -> Result<History, ParseError> {
    read_blocks(text.as_bytes(), text.len().max(1))
}

fn read_blocks(text: &[u8], size: usize) -> Result<History, ParseError> {
    testing::read_blocks("jepsen", text, size)
}

pub(super) fn history(text: &str) -> History {
    read(text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn shown(history: &History, value: Value) -> String {
    if value == Value::UNKNOWN {
        return "?".to_owned();
    }
    let mut out = Vec::new();
    edn::write_value(&history.values, value, &mut out);
    String::from_utf8(out).unwrap()
}

/// Everything in a history but lines and notes, one line per transaction.
pub(super) fn columns(history: &History) -> String {
    let transactions = &history.transactions;
    let mut text = String::new();
    for transaction in 0..history.transaction_count() {
        let session = transactions.sessions[transaction];
        let operations: Vec<String> = history
            .operations_of(transaction)
            .map(|place| {
                let operations = &history.operations;
                let key = history.keys[operations.keys[place] as usize];
                let (key, value) = (shown(history, key), shown(history, operations.values[place]));
                format!("{:?} {key} {value}", operations.kinds[place])
            })
            .collect();
        let line = format!(
            "{} {:?} {session}={} {:?} {:?} {operations:?}\n",
            shown(history, transactions.ids[transaction]),
            transactions.statuses[transaction],
            shown(history, history.session_ids[session as usize]),
            transactions.intervals.get(transaction),
            transactions.positions.get(transaction),
        );
        text.push_str(&line);
    }
    text
}

/// Values of all operations.
pub(super) fn values(history: &History) -> Vec<String> {
    history.operations.values.iter().map(|&value| shown(history, value)).collect()
}

pub(super) fn ids(history: &History) -> Vec<String> {
    history.transactions.ids.iter().map(|&id| shown(history, id)).collect()
}

pub(super) const SMALL: &str = r#"{:type :invoke, :f :txn, :value [[:r 4 nil] [:append 3 1]], :time 18, :process 7, :index 0}
{:index 2 :process 2 :type :invoke :value [[:r :x] [:append 4 "a"]] :op-timing {:a #{1 [2]}}}
{:type :info, :f :start, :process :nemesis, :value [:isolated {"192.168.56.105" #{"a" "b"}}], :index 3}
{:type :ok, :f :txn, :value [[:r 4 [1 2]] [:append 3 1]], :time 25, :process 7, :index 4}
#jepsen.history.Op{:type :invoke, :value [["w" [:anti 5] 1] (r y ())], :process 7,
  :index 10, :error "é {"} ; comment {

{:type :fail, :value nil, :process 2, :index 11, :exception #object[Foo 0x1f "x"]}
{:type :invoke, :value [[:r 4 nil]], :process 9, :index 12, :time 30}
{:type :info, :value [[:w [:anti 5] 1] [:r y nil]], :process 7, :index 13, :time -1}
"#;

pub(super) const COMPLETIONS: &str = "{:type :ok, :value [[:w 1 1] [:r 2 1]]}\n{:type :fail, :value [[:w 1 2] [:r 3 nil]]}\n\
                           {:type :info, :value [[:w 1 3]]}\n";

#[test]
fn events_become_transactions_in_order_of_completion() {
    let history = history(SMALL);
    assert_eq!(ids(&history), ["4", "11", "13", "12"]);
    assert_eq!(
        history.transactions.statuses,
        [Status::Committed, Status::Aborted, Status::Indeterminate, Status::Indeterminate]
    );
    assert_eq!(history.transactions.lines, [4, 8, 10, 9]);
    assert_eq!(values(&history), ["[1 2]", "1", "?", "\"a\"", "1", "?", "?"]);
    let noted =
        ["operations that are not a client's, skipped", "times that are no natural numbers, not used"];
    assert_eq!(history.notes, noted.map(|note| (note.to_owned(), 1)));
    let first = history.transactions.intervals.get(0);
    assert_eq!((first.invoke(), first.complete()), (Some(18), Some(25)));
    let never = history.transactions.positions.get(3);
    assert_eq!((never.invoke(), never.complete()), (Some(12), None));
    assert_eq!(history.initial.default, Value::NIL);
}

#[test]
fn blocks_of_any_size_give_the_same_columns() {
    for text in
        [SMALL, COMPLETIONS, &format!("[{SMALL}]"), &SMALL.replace(":process 9", ":process 2 :type :ok")]
    {
        let whole = read(text).map(|history| columns(&history));
        for size in 1..80 {
            let parts = read_blocks(text.as_bytes(), size).map(|history| columns(&history));
            match (&whole, &parts) {
                (Err(whole), Err(parts)) => {
                    assert_eq!((whole.line, &whole.expected), (parts.line, &parts.expected), "{size}");
                }
                _ => assert_eq!(whole, parts, "{size}"),
            }
        }
    }
}

#[test]
fn large_blocks_are_shared_by_all_cores_wherever_they_are_cut() {
    for separator in ["\n", "\n  "] {
        let mut text = String::new();
        for number in 0..4_000 {
            let value = format!("[[:append {} {number}]{separator}[:r 1 [1 2 3]]]", number % 9);
            for event_type in ["invoke", "ok"] {
                let event = format!("{{:type :{event_type} :process {} :value {value}}}\n", number % 5);
                text.push_str(&event);
            }
        }
        let whole = columns(&read_blocks(text.as_bytes(), 1_000).unwrap());
        for size in [1 << 17, 1 << 20] {
            let parts = read_blocks(text.as_bytes(), size).unwrap();
            assert_eq!(columns(&parts), whole);
            assert_eq!(parts.transactions.lines.last(), Some(&15_999));
        }
    }
}

#[test]
fn without_processes_every_transaction_is_a_session() {
    let history = history(COMPLETIONS);
    assert_eq!(history.session_ids, [Value::NIL; 3]);
    assert_eq!(values(&history), ["1", "1", "2", "?", "3"]);
}

#[test]
fn a_nil_read_is_nil_or_the_empty_list_or_unknown() {
    let text =
        "{:type :ok :value [[:r 1 nil] [:append 1 5] [:r 2]]}\n{:type :info :value [[:r 1 nil] [:r 2 []]]}";
    assert_eq!(values(&history(text)), ["[]", "5", "[]", "?", "[]"]);
    let text = "{:type :ok :value [[:r 1 nil] [:w 1 5]]}";
    assert_eq!(values(&history(text)), ["nil", "5"]);
}

#[test]
fn indexes_that_do_not_ascend_are_replaced_and_noted() {
    let text = "{:type :ok :index 5 :value []} {:type :ok :index 5 :value []} {:type :ok :value []}";
    let history = history(text);
    assert_eq!(ids(&history), ["0", "1", "2"]);
    assert_eq!(history.notes[0].1, 2);
    assert!(history.notes[0].0.contains("does not ascend"));
}

#[test]
fn indexes_and_times_that_are_no_natural_numbers_are_noted() {
    for (time, index, noted) in [("-5", "nil", 1), ("1.5", "\"x\"", 2), ("nil", "nil", 0), ("2", ":a", 1)] {
        let text = format!("{{:type :ok :process 0 :time {time} :index {index} :value []}}");
        assert_eq!(history(&text).notes.len(), noted, "{text}");
    }
    let json = br#"{"type":"ok","process":0,"time":-1,"index":null,"value":[]}
{"type":"ok","process":0,"time":"7","index":true,"value":[]}"#;
    let history = testing::read_blocks("jepsen-json", json, 50).unwrap();
    let counts: Vec<u64> = history.notes.iter().map(|&(_, count)| count).collect();
    assert_eq!(counts, [1, 2]);
}

#[test]
fn a_completion_that_differs_from_its_invocation_is_used_and_noted() {
    for (completion, noted) in [
        ("[[:r 1 7] [:w 2 3]]", 0),
        ("[[:r 1 7]]", 1),
        ("[[:r 1 7] [:w 2 4]]", 1),
        ("[[:r 2 7] [:w 2 3]]", 1),
        ("[[:w 1 7] [:w 2 3]]", 1),
    ] {
        let invocation = "{:type :invoke :process 0 :value [[:r 1 nil] [:w 2 3]]}";
        let history = history(&format!("{invocation}\n{{:type :ok :process 0 :value {completion}}}"));
        assert_eq!(history.notes.len(), noted, "{completion}");
        assert_eq!(values(&history)[0], "7");
    }
}

#[test]
fn operations_of_the_test_itself_are_skipped_whatever_they_hold() {
    let text = "{:type :info :f :start :value :x}\n{:process :nemesis :value [[:cas 1]]}\n\
                {:type :info :value [1 {}] :process \"nemesis\"}\n{:f :txn :type :ok :value []}";
    let history = history(text);
    assert_eq!((history.transaction_count(), history.notes[0].1), (1, 3));
}

#[test]
fn a_register_of_vectors_compares_them_as_scalars() {
    let history = history("{:type :ok :value [[:w 1 [1 2]]]}\n{:type :ok :value [[:r 1 [1, 2]]]}");
    assert_eq!(history.operations.values[0], history.operations.values[1]);
}

#[test]
fn errors_say_where_and_what() {
    let invocation = "{:type :invoke :process 0 :value []}";
    for (text, line, expected) in [
        ("{:type :ok :value [[:rp :false {}]]}", 1, "a predicate that is"),
        ("{:type :ok :value [[:rp [:mod 2 x] {}]]}", 1, "a predicate that is"),
        ("{:type :ok :value [[:rp :true {:x}]]}", 1, "a value for every key"),
        ("{:type :ok :value [[:rp :true [[:x 1]]]]}", 1, "a map of the rows"),
        ("{:type :ok :value [[:delete :x 1]]}", 1, "nothing behind the key"),
        ("{:type :ok :value [[:insert :x]]}", 1, "a value behind the key"),
        ("{:type :ok :value {:x 1}}", 1, "a vector of micro-operations"),
        ("{:type :ok :value [[:append :x 1]] :f :init}", 1, "a map of keys and values that were inserted"),
        ("{:type :ok :value {:x 1 :y} :f :init}", 1, "a value for every key"),
        ("{:type :ok :value [[:cas 1 2]]}", 1, "`:r`, `:w`, `:append`, `:insert`, `:delete` or `:rp`"),
        ("\n{:type :ok :process 0 :f :read :value {0 5}}", 2, "a vector of micro-operations"),
        ("{:type :ok :process 0}", 1, "a vector of micro-operations"),
        ("{:process 0 :value []}", 1, "a type"),
        ("{:type :ok :type :ok}", 1, "once"),
        ("{:type :ok :value [[:w 1]]}", 1, "a value"),
        ("{:type :ok :value [[:r 1 2 3]]}", 1, "`]`"),
        ("{:type :ok :value [1]}", 1, "a micro-operation"),
        (&format!("{invocation}\n{invocation}"), 2, "line 1"),
        ("[{:type :ok :value []}", 1, "`]` for the `[` of line 1"),
        ("[]\n{:type :ok :value []}", 2, "the end of the file"),
        ("{:type :ok :value []}\n]", 2, "the end of the file"),
        ("[{:type :ok :value []})", 1, "the end of the file"),
        ("{:type :ok :value []}\n[", 2, "a map"),
        ("{:type :ok :value []", 1, "a closing bracket"),
        ("r(1,2,3,4)", 1, "an operation"),
        ("{:type :ok :value [] :transaction 1}\n{:type :ok :value []}", 2, "of its own"),
    ] {
        let error = read(text).err().unwrap_or_else(|| panic!("no error in {text}"));
        assert_eq!(error.line, line, "{text}: {error:?}");
        assert!(error.expected.contains(expected), "{text}: {}", error.expected);
    }
}

#[test]
fn bytes_that_are_no_text_are_an_error_where_they_stand() {
    let error = read_blocks(b"{:type :ok :value []}\n{:a \"\xff\"}", 1_000).unwrap_err();
    assert_eq!((error.line, error.expected.as_str()), (2, "UTF-8 text"));
    for size in 1..8 {
        assert!(read_blocks("{:type :ok :value [] :error \"é😀\"}".as_bytes(), size).is_ok());
    }
}

#[test]
fn the_first_fault_of_the_input_is_told() {
    let invocation = "{:type :invoke :process 0 :value []}\n";
    let error = read(&format!("{invocation}{invocation}{{:type :ok :value [[:cas 1 2]]}}")).unwrap_err();
    assert_eq!(error.line, 2);
}

#[test]
fn a_log_gives_the_order_of_versions() {
    let rows = [("3", 0), ("3", 2), ("3", 1), ("x", 0), ("x", 9), ("unread", 1)];
    let row = |(key, value)| {
        format!("{{\"type\":2300,\"tid\":\"0\",\"data\":{{\"_key\":\"{key}\",\"rwAttr\":{value}}}}}\n")
    };
    let log: String = rows.into_iter().map(row).collect();
    let mut reader = crate::formats::reader("jepsen").unwrap();
    reader.log().unwrap().attach(log.as_bytes()).unwrap();
    reader.feed(b"{:type :ok :value [[:w 3 1] [:w 3 2] [:w :x 0] [:w :x 9]]}").unwrap();
    reader.end_of_file().unwrap();
    let history = reader.into_history().unwrap();
    assert_eq!(history.versions[0].source, VersionSource::Log);
    assert_eq!(history.versions[0].of(0), [2, 1].map(|value| Value::small(value).unwrap()));
    assert_eq!(history.versions[0].of(1), [0, 9].map(|value| Value::small(value).unwrap()));
    assert_eq!(history.notes[0].1, 1);
}

#[test]
fn text_cut_anywhere_gives_a_result_or_an_error() {
    for end in 0..SMALL.len() {
        let _ = read_blocks(&SMALL.as_bytes()[..end], 64);
    }
}

#[test]
fn mutated_text_never_panics() {
    let mut state = 0x5eed_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..4_000 {
        let mut text = SMALL.as_bytes().to_vec();
        for _ in 0..=random(4) {
            let at = random(text.len());
            match random(4) {
                0 => text[at] ^= 1 << random(8),
                1 => text[at] = b"[](){}#_^;\"\\:nN/.-+0 \n,\xff"[random(24)],
                2 => drop(text.remove(at)),
                _ => text.insert(at, b"[](){}#_^;\"\\:nN/.-+0 \n,\xc3"[random(24)]),
            }
        }
        let size = 1 + random(300);
        if let Ok(history) = read_blocks(&text, size) {
            write(&history, &mut std::io::sink()).unwrap();
            write_json(&history, &mut std::io::sink()).unwrap();
        }
    }
}

#[test]
fn deep_nesting_and_long_lists_cost_no_stack() {
    for open in ["[", "{:a ", "#_", "^", "#t "] {
        let deep = open.repeat(100_000);
        for text in [
            deep.clone(),
            format!("{{:type :ok :value {deep}"),
            format!("{{:type :ok :value [[:r {deep}"),
            format!("{{:type :ok :x {deep}"),
        ] {
            assert!(read(&text).is_err());
        }
    }
    let long = format!("{{:type :ok :value [[:r 1 [{}]]]}}", "12 ".repeat(1_000_000));
    assert_eq!(history(&long).values.list(0).len(), 1_000_000);
}
