//! Events in JSON, compared with the same events in EDN.

use crate::equality::same;
use crate::formats::testing::read_blocks;

const JSON: &str = r#"[{"type":"invoke","f":"txn","process":0,"index":0,"time":5,"value":[["append",1,2],["r",3,null]]},
{"type":"info","f":"start","process":"nemesis","value":["isolated",{"a":["b"]}]},
{"type":"ok","f":"txn","process":0,"index":1,"time":9,"value":[["append",1,2],["r",3,[4,5]]]},
{"type":"invoke","process":1,"index":2,"value":[["append",3,4],["append",3,5]]}]"#;
const EDN: &str =
    "[{:type :invoke, :f :txn, :process 0, :index 0, :time 5, :value [[:append 1 2] [:r 3 nil]]}
{:type :info, :f :start, :process :nemesis}
{:type :ok, :f :txn, :process 0, :index 1, :time 9, :value [[:append 1 2] [:r 3 [4 5]]]}
{:type :invoke, :process 1, :index 2, :value [[:append 3 4] [:append 3 5]]}]";

#[test]
fn json_and_edn_of_one_history_are_equal() {
    let edn = read_blocks("jepsen", EDN.as_bytes(), 1000).unwrap();
    for size in [1, 2, 7, 1000] {
        let json = read_blocks("jepsen-json", JSON.as_bytes(), size).unwrap();
        assert!(same(&json, &edn));
        assert_eq!(json.notes, edn.notes);
    }
}

const PREDICATES: [&str; 2] = [
    r#"{"process":0,"type":"ok","value":[["x",0],["y",1]],"f":"init"}
{"process":1,"type":"ok","value":[["rp",["mod",2,1],[["y",1]]],["delete","y",null],["insert","z",3],["rp","true",null]]}
{"process":1,"type":"fail","value":[["rp",["=",1],null],["delete","x"]]}
{"process":"nemesis","type":"info","f":"init","value":5}"#,
    r#"{:process 0, :type :ok, :value {"x" 0, "y" 1}, :f :init}
{:process 1, :type :ok, :value [[:rp [:mod 2 1] {"y" 1}] [:delete "y"] [:insert "z" 3] [:rp :true]]}
{:process 1, :type :fail, :value [[:rp [:= 1] nil] [:delete "x" nil]]}
{:process :nemesis, :type :info, :f :init, :value 5}"#,
];

#[test]
fn predicates_in_json_and_edn_are_equal() {
    let json = read_blocks("jepsen-json", PREDICATES[0].as_bytes(), 5).unwrap();
    let edn = read_blocks("jepsen", PREDICATES[1].as_bytes(), 5).unwrap();
    assert!(same(&json, &edn));
    assert_eq!(json.notes, edn.notes);
    let noted =
        ["operations that are not a client's, skipped", "predicate reads whose rows are unknown, left out"];
    assert_eq!(json.notes, noted.map(|note| (note.to_owned(), 1)));
}

#[test]
fn a_text_cut_anywhere_gives_a_history_or_an_error() {
    for end in 0..JSON.len() {
        let whole = read_blocks("jepsen-json", &JSON.as_bytes()[..end], 9);
        assert!(end == 0 || whole.is_err(), "cut at {end}");
    }
}

#[test]
fn errors_name_what_is_wrong() {
    for (text, expected) in [
        (
            r#"{"type":"ok","process":1,"value":[["bank",1,2]]}"#,
            "`r`, `w`, `append`, `insert`, `delete` or `rp`",
        ),
        (r#"{"type":"ok","process":1,"value":{"a":1}}"#, "an array of micro-operations"),
        (r#"{"type":"ok","process":1,"value":[["w",1]]}"#, "a value behind the key"),
        (r#"{"type":"ok","process":1,"value":[["rp","false",[]]]}"#, "a predicate that is"),
        (r#"{"type":"ok","process":1,"value":[["rp",["mod",0,0],[]]]}"#, "a predicate that is"),
        (r#"{"type":"ok","process":1,"value":[["rp","true",[["x"]]]]}"#, "an array of keys and values"),
        (r#"{"type":"ok","process":1,"value":[["rp","true",[["x",1,2]]]]}"#, "an array of keys and values"),
        (r#"{"type":"ok","process":1,"value":[["rp","true",{}]]}"#, "an array of keys and values"),
        (r#"{"type":"ok","process":1,"value":[["delete","x",1]]}"#, "nothing behind the key"),
        (r#"{"type":"ok","process":1,"value":[["insert","x"]]}"#, "a value behind the key"),
        (r#"{"value":[["append","x",1]],"type":"ok","process":1,"f":"init"}"#, "an array of keys and values"),
        (r#"{"type":"ok","process":1,"value":[["w",1,2,3]]}"#, "behind kind, key and value"),
        (r#"{"process":1,"value":[]}"#, "a type"),
        ("x", "an operation such as"),
    ] {
        let error = read_blocks("jepsen-json", text.as_bytes(), 1000).unwrap_err();
        assert!(error.expected.contains(expected), "{text}: {}", error.expected);
    }
}
