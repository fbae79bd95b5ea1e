use super::*;
use crate::formats::testing;
use crate::history::{Kind, VersionSource};

fn read(text: &str, size: usize) -> Result<History, ParseError> {
    testing::read_blocks("grail", text.as_bytes(), size)
}

fn edge(from: &str, to: &str, kind: &str) -> String {
    let owner = |event: &str| event.split_once('/').unwrap().1.split_once(',').unwrap().0.to_owned();
    format!(
        r#"{{"_from":"txn/{}","_to":"txn/{}","from_evt":"{from}","to_evt":"{to}","type":"{kind}"}}"#,
        owner(from),
        owner(to)
    )
}

fn graph(edges: &[(&str, &str, &str)]) -> String {
    let edges: Vec<String> = edges.iter().map(|(from, to, kind)| edge(from, to, kind)).collect();
    format!("[{}]", edges.join(",\n"))
}

/// Transaction, kind, key and value of every operation.
fn operations(history: &History) -> Vec<(i64, Kind, i64, i64)> {
    let owners = history.transaction_of_operation();
    let small = |value: Value| value.as_small().unwrap();
    (0..history.operation_count())
        .map(|at| {
            let columns = &history.operations;
            let id = small(history.transactions.ids[owners[at] as usize]);
            (id, columns.kinds[at], small(history.keys[columns.keys[at] as usize]), small(columns.values[at]))
        })
        .collect()
}

const CHAIN: [(&str, &str, &str); 6] = [
    ("r_evt/1,1", "w_evt/2,1", "rw"),
    ("w_evt/2,1", "r_evt/3,2", "wr"),
    ("w_evt/2,1", "w_evt/3,1", "ww"),
    ("r_evt/3,2", "w_evt/3,1", "rw"),
    ("r_evt/4,1", "w_evt/3,1", "rw"),
    ("w_evt/4,2", "r_evt/1,5", "wr"),
];

#[test]
fn events_that_dependencies_join_are_one_key_and_writes_are_numbered_along_it() {
    let history = read(&graph(&CHAIN), 1000).unwrap();
    assert_eq!(
        operations(&history),
        [
            (1, Kind::Read, 0, 0),
            (1, Kind::Read, 1, 1),
            (2, Kind::Write, 0, 1),
            (3, Kind::Write, 0, 2),
            (3, Kind::Read, 0, 1),
            (4, Kind::Read, 0, 1),
            (4, Kind::Write, 1, 1),
        ]
    );
    let order = &history.versions[0];
    assert_eq!(order.source, VersionSource::Declared);
    assert_eq!(order.of(0), [1, 2].map(|version| Value::small(version).unwrap()));
    assert_eq!(history.initial.default, Value::small(0).unwrap());
    assert_eq!(history.session_ids, [Value::NIL; 4]);
}

/// Transaction, kind, key and value of every operation, lists as their lengths.
fn lists(history: &History) -> Vec<(i64, Kind, i64, usize)> {
    let owners = history.transaction_of_operation();
    let small = |value: Value| value.as_small().unwrap();
    let length = |value: Value| match history.values.as_list(value) {
        Some(list) => list.len(),
        None => small(value) as usize,
    };
    let columns = &history.operations;
    let told = |at: usize| {
        let id = small(history.transactions.ids[owners[at] as usize]);
        let key = small(history.keys[columns.keys[at] as usize]);
        (id, columns.kinds[at], key, length(columns.values[at]))
    };
    (0..history.operation_count()).map(told).collect()
}

#[test]
fn appends_that_no_read_shows_follow_the_longest_list_in_any_order() {
    let edges = [
        ("a_evt/1,0", "r_evt/2,0", "wr"),
        ("r_evt/2,0", "a_evt/3,0", "rw"),
        ("r_evt/2,0", "a_evt/4,0", "rw"),
        // The export has no other dependency of this read; it saw the same list as the read before.
        ("r_evt/5,0", "a_evt/4,0", "rw"),
    ];
    let history = read(&graph(&edges), 1000).unwrap();
    assert_eq!(
        lists(&history),
        [
            (1, Kind::Append, 0, 1),
            (2, Kind::Read, 0, 1),
            (3, Kind::Append, 0, 2),
            (4, Kind::Append, 0, 3),
            (5, Kind::Read, 0, 1),
        ]
    );
    assert!(history.versions.is_empty());
}

#[test]
fn an_order_of_appends_that_no_list_shows_is_a_key_of_its_own() {
    let edges = [("a_evt/1,0", "a_evt/2,0", "ww"), ("a_evt/1,0", "a_evt/3,0", "ww")];
    let history = read(&graph(&edges), 1000).unwrap();
    assert_eq!(
        lists(&history),
        [
            (1, Kind::Append, 0, 1),
            (1, Kind::Write, 1, 1),
            (1, Kind::Write, 2, 1),
            (2, Kind::Append, 0, 2),
            (2, Kind::Write, 1, 2),
            (3, Kind::Append, 0, 3),
            (3, Kind::Write, 2, 2),
        ]
    );
    assert_eq!(history.versions[0].of(1), [1, 2].map(|version| Value::small(version).unwrap()));
    assert_eq!(history.notes, [("orders of two writes, each as a key of its own".to_owned(), 2)]);
}

#[test]
fn writes_without_an_order_leave_the_register_open() {
    let edges = [("w_evt/1,0", "w_evt/2,0", "ww"), ("w_evt/1,0", "w_evt/3,0", "ww")];
    let history = read(&graph(&edges), 1000).unwrap();
    assert_eq!(history.versions[0].of(0), [Value::small(1).unwrap()]);
    assert_eq!(history.versions[0].of(1).len() + history.versions[0].of(2).len(), 4);
}

#[test]
fn blocks_do_not_matter() {
    let text = graph(&CHAIN);
    let whole = read(&text, text.len()).unwrap();
    for size in [1, 7, 50] {
        assert!(crate::equality::same(&whole, &read(&text, size).unwrap()));
    }
}

#[test]
fn contradictions_are_errors() {
    for (edges, expected, found) in [
        (
            vec![("w_evt/1,1", "r_evt/2,1", "wr"), ("w_evt/3,1", "r_evt/2,1", "wr")],
            "one writer of what event 1 of transaction 2 read",
            "event 1 of transaction 1 and event 1 of transaction 3",
        ),
        (
            vec![("w_evt/1,1", "w_evt/2,1", "ww"), ("w_evt/2,1", "w_evt/1,1", "ww")],
            "versions of each key in one order",
            "event 1 of transaction 1, which comes before itself",
        ),
        (
            vec![
                ("a_evt/1,1", "r_evt/4,1", "wr"),
                ("a_evt/2,1", "r_evt/5,1", "wr"),
                ("r_evt/4,1", "a_evt/3,1", "rw"),
                ("r_evt/5,1", "a_evt/3,1", "rw"),
            ],
            "event 1 of transaction 5 to see the version just before the write",
            "that of event 1 of transaction 2, where another read saw that of event 1 of transaction 1",
        ),
        (
            vec![
                ("a_evt/1,1", "a_evt/3,1", "ww"),
                ("a_evt/2,1", "a_evt/3,1", "ww"),
                ("r_evt/4,1", "a_evt/3,1", "rw"),
            ],
            "one version just before event 1 of transaction 3, which a read saw",
            "event 1 of transaction 1 and event 1 of transaction 2",
        ),
        (
            vec![
                ("w_evt/1,1", "w_evt/2,1", "ww"),
                ("w_evt/2,1", "w_evt/3,1", "ww"),
                ("w_evt/1,1", "r_evt/4,1", "wr"),
                ("r_evt/4,1", "w_evt/3,1", "rw"),
            ],
            "event 1 of transaction 4 to see the version just before the write",
            "version 1, and a dependency on version 3",
        ),
        (
            vec![("w_evt/1,1", "r_evt/2,1", "wr"), ("w_evt/3,1", "w_evt/2,1", "ww")],
            "event 1 of transaction 2, which is a read on line 1",
            "a write",
        ),
    ] {
        let error = read(&graph(&edges), 1000).unwrap_err();
        assert_eq!((error.expected.as_str(), error.found.as_str()), (expected, found));
    }
}

#[test]
fn a_long_chain_needs_no_stack() {
    let length = 100_000;
    let edges: Vec<String> =
        (0..length).map(|n| edge(&format!("w_evt/{n},1"), &format!("w_evt/{},1", n + 1), "ww")).collect();
    let history = read(&edges.join("\n"), 1 << 16).unwrap();
    assert_eq!(history.versions[0].of(0).len(), length + 1);
}
