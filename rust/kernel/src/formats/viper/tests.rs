use super::*;
use crate::equality::same;
use crate::formats::testing;

fn read(format: &str, files: &[&str], size: usize) -> Result<History, ParseError> {
    let files: Vec<&[u8]> = files.iter().map(|file| file.as_bytes()).collect();
    testing::read_files(format, &files, size)
}

const JSON: &str = r#"{"value":[["range","nil","nil",[{"id":1,"sk":1,"val":7}],[{"id":2,"val":8}]]],"isInitial":true,"isFinal":false}
{"value":[["r",1,7,false],["w",1,5,true],["w",2,6,false],["i",3,9,8,true,true,true,"w"],["d",1,4,5,false,true,false]]}
{"value":[["range",1,-9223372036854775808,[],[{"id":1,"val":4}],true],["range",-9223372036854775808,9223372036854775807,[{"id":3,"val":9},{"id":3,"val":9}],[]],["r",5,null]]}
"#;
const EDN: &str = r"{:type :ok, :f :txn, :isInitial true, :value [[:range nil nil [{:id 1, :sk 1, :val 7}] [{:id 2, :val 8}]]]}
{:type :fail, :f :txn, :value [[:w 1 99 true]]}
{:type :ok, :f :txn, :value [[:r 1 7 false] [:w 1 5 true] [:w 2 6 false] [:i 3 9 8 true true true w] (:d, 1, 4, 5, false, true, false)]}
{:value: [[:range 1 -9223372036854775808 [] [{:id 1 :val 4}] true] [:range nil nil ({:id 3 :val 9} {:id 3 :val 9}) []] [:r 5 nil]]}
";

#[test]
fn json_and_edn_of_one_history_are_equal_whatever_the_blocks() {
    let whole = read("viper", &[JSON], 1 << 20).unwrap();
    for size in [1, 7, 50, 1000] {
        assert!(same(&whole, &read("viper", &[JSON], size).unwrap()));
        assert!(same(&whole, &read("viper-edn", &[EDN], size).unwrap()));
    }
    let notes: Vec<_> = whole.notes.iter().map(|note| note.1).collect();
    assert_eq!(notes, [1, 1]);
}

#[test]
fn a_conditional_write_reads_first_and_writes_if_it_succeeded() {
    let history = read("viper", &[JSON], 100).unwrap();
    let first = history.operations_of(0);
    assert_eq!(
        history.operations.kinds[first.clone()],
        [Kind::Read, Kind::Write, Kind::Read, Kind::Insert, Kind::Read, Kind::Delete]
    );
    let dead: Vec<bool> = first.map(|at| history.operations.tombstones.get(at)).collect();
    assert_eq!(dead, [false, false, true, false, false, true]);
}

#[test]
fn ranges_keep_bounds_rows_and_tombstones() {
    let history = read("viper", &[JSON], 100).unwrap();
    let [first, second] = [history.ranges.ranges[0], history.ranges.ranges[1]];
    // The least integer is an open lower bound, but no upper one.
    assert_ne!(first.high, Value::NIL);
    assert_eq!((first.live, first.dead), (0, 1));
    assert_eq!((second.low, second.high, second.live), (Value::NIL, Value::NIL, 2));
}

#[test]
fn a_file_is_a_session_and_nil_is_zero() {
    let line = "{\"value\":[[\"r\",1,null]]}\n";
    let history = read("viper", &[line, line], 9).unwrap();
    assert_eq!(history.session_ids, [0, 1].map(|file| Value::small(file).unwrap()));
    assert_eq!(history.operations.values, [null(), null()]);
    let lists = read("viper-edn", &["{:value [[:append 1 2] [:r 1 nil] [:r 1 []] [:r 1 [2]]]}"], 9).unwrap();
    let list = |at: usize| lists.values.as_list(lists.operations.values[at]).unwrap().len();
    assert_eq!([list(1), list(2), list(3)], [0, 0, 1]);
}

#[test]
fn objects_say_the_same_as_arrays() {
    let objects = r#"{"preBeginTS":5,"postCommitTS":9,"value":[{"opType":"r","key":1,"value":7,"isDead":true,"reqTS":6,"resTS":7},
{"opType":"w","key":1,"value":5,"succ":true},{"opType":"i","key":3,"value":9,"readValue":8,"isDead":true,"succ":true},
{"opType":"range","key1":-9223372036854775808,"key2":4,"liveKVs":[{"id":1,"val":5}],"deadKVs":[]}]}"#;
    let arrays =
        r#"{"value":[["r",1,7,true],["w",1,5],["i",3,9,8,true,true],["range","nil",4,[{"id":1,"val":5}]]]}"#;
    let [left, right] = [objects, arrays].map(|text| read("viper", &[text], 1000).unwrap());
    assert_eq!(left.operations.kinds, right.operations.kinds);
    assert_eq!(left.operations.values, right.operations.values);
    assert_eq!(left.operations.intervals.get(0).complete(), Some(7));
    assert_eq!(left.transactions.intervals.get(0).invoke(), Some(5));
}

#[test]
fn what_is_wrong_is_named() {
    for (text, expected) in [
        (r#"{"value":[["x",1,2]]}"#, "`r`, `w`, `i`, `d`, `range` or `append`"),
        (r#"{"value":[["w",1]]}"#, "one value to write"),
        (r#"{"value":[["w",1,2,3]]}"#, "flags are true or false"),
        (r#"{"value":[["w",1,2,true,1]]}"#, "without further parts"),
        (r#"{"value":[["range",1,2,3,4]]}"#, "its rows in brackets"),
        (r#"{"value":[["range",1,2,[{"id":1}],[]]]}"#, "a row with `id` and `val`"),
        (r#"{"value":[["r",1,[1,{"id":1,"val":2}]]]}"#, "rows only, or values only"),
        (r#"{"value":[["r",[1],2]]}"#, "a scalar as its key"),
        (r#"{"isInitial":true,"value":[["append",1,2]]}"#, "an initial transaction of writes"),
        (r#"{"x":1}"#, "a transaction with its `value`"),
        (r#"{"isInitial":true,"value":[]}{"isInitial":true,"value":[]}"#, "one initial transaction"),
    ] {
        let error = read("viper", &[text], 1000).unwrap_err();
        assert!(error.expected.contains(expected), "{text}: {}", error.expected);
    }
    for (text, expected) in [
        ("{:value [[:x 1 2]]}", "`r`, `w`, `i`, `d`, `range` or `append`"),
        ("{:value 5}", "a vector of micro-operations"),
        ("{:value [5]}", "a micro-operation such as"),
        ("{:value [[:range 1 2 [{:id 1}] []]]}", "a row with `:id` and `:val`"),
        ("{:type :ok}", "a transaction with its `:value`"),
        ("[:r 1 2]", "a transaction such as"),
    ] {
        let error = read("viper-edn", &[text], 1000).unwrap_err();
        assert!(error.expected.contains(expected), "{text}: {}", error.expected);
    }
}

#[test]
fn a_text_cut_anywhere_is_a_history_or_an_error() {
    for end in 0..JSON.len() {
        let (whole, blocks) = (read("viper", &[&JSON[..end]], end), read("viper", &[&JSON[..end]], 9));
        assert_eq!(whole.is_ok(), blocks.is_ok(), "cut at {end}");
    }
    for end in 0..EDN.len() {
        let (whole, blocks) = (read("viper-edn", &[&EDN[..end]], end), read("viper-edn", &[&EDN[..end]], 9));
        assert_eq!(whole.is_ok(), blocks.is_ok(), "cut at {end}");
    }
}
