//! Mutates seeds for a number of seconds on any toolchain: `stress SECONDS [SEED-FILE-OR-FOLDER...]`.
//!
//! The same seed of the generator gives the same inputs. A failure prints the target and the input, which is
//! also left in `rust/fuzz/artifacts/`, and stops with status 1.

use isoscope_fuzz::{TARGETS, Target};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const SAMPLES: [&[u8]; 16] = [
    b"w(1,5,0,7)\nw(9,1,3,-1)\nr(1,5,2,8)\nr(18446744073709551615,-4,2,9)\n",
    b"[{:type :invoke :value [[:r \"k\" nil] [:append 1 2]] :process 0 :index 0 :time 5}\n#op{:process 1 :type :info :value [[:w :x 1.5] [:r {:a #{1}} [1 \\a]]]} ; x\n{:type :ok :value [[:r \"k\" (1 \"\\u00e9\")] [:append 1 2]] :process 0 :transaction #_2 3}]",
    b"[{\"type\":\"invoke\",\"f\":\"txn\",\"value\":[[\"r\",\"k\",null],[\"append\",1,2]],\"process\":0,\"index\":0},\n{\"type\":\"ok\",\"value\":[[\"r\",\"k\",[1,\"\\u00e9\",-2.5e3]],[\"append\",1,2]],\"process\":0,\"index\":2,\"x\":{\"y\":[true]}}]",
    b"[{\"tid\":1,\"sid\":\"s\",\"sno\":2,\"sts\":{\"p\":5,\"l\":1},\"cts\":7,\"ops\":[{\"t\":\"w\",\"k\":\"x\",\"v\":1.5}]},\n{\"tid\":\"two\",\"status\":\"aborted\",\"ops\":[{\"t\":\"r\",\"k\":3,\"v\":[1,\"\\n\"]},{\"t\":\"append\",\"k\":3,\"v\":null}]}]",
    b"{\"tick\":\"94\",\"type\":2200,\"tid\":\"137\"}\n{\"type\":2300,\"tid\":\"137\",\"data\":{\"_key\":\"1\",\"rwAttr\":2}}\n{\"type\":2201,\"tid\":\"137\"}",
    b"[nil true -7 2.5 1.5M 22/7 :ns/k sym \"a\\n\" \\newline #{1 2} {:a (1 2)} #inst \"x\" ##NaN #_x ^:m y]",
    b"w 0 0\nw 18446744073709551615 7\n=====\nw 0 1\n-----\nr 0 1\r\n\n--- r 1 0\n==-==\nw 1 1",
    b"// first\n[x:=1 0:=2] [y==2 x:=0]!\n\n[x==? y==?] // end\n---\n---\n [ 07_\xc3\xa9:=18446744073709551615 ]\n",
    b"{\"params\":{\"id\":12},\"info\":\"\",\"data\":[[{\"events\":[{\"Write\":{\"variable\":0,\"version\":0}},[\"r\",0,null]],\"committed\":true},\n{\"committed\":false,\"x\":[1],\"events\":[[\"w\",18446744073709551615,7]]}],[]],\"end\":12}",
    b"\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\n\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\n\x00\x00\x00\x00\x00\x00\x00PostgreSQL\x1b\x00\x00\x00\x00\x00\x00\x002020-01-01T00:00:00.5+08:00\x1b\x00\x00\x00\x00\x00\x00\x002020-01-01T00:00:00.5+08:00\x03\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x01\x01\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x01\x01\x03\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00",
    b"---\n- - events:\n      - write: true\n        variable: 5\n        value: 1\n        success: true\n      - {write: false, variable: 18446744073709551615, value: 0, success: true}\n    success: true\n  - events: []   # nothing\n    success: false\n- []\n",
    b"S\x00\x00\x00\x00\x00\x00\x00\x01W\x00\x00\x00\x00\x00\x00\x00\n\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x07C\x00\x00\x00\x00\x00\x00\x00\x01S\x00\x00\x00\x00\x00\x00\x00\x02R\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\n\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x07R\x00\x00\x00\x00\xbe\xbe\xeb\xee\x00\x00\x00\x00\xbe\xbe\xeb\xee\x80\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00A\x00\x00\x00\x00\x00\x00\x00\x02S\x00\x00\x00\x00\x00\x00\x00\x03W\x00\x00\x00\x00\x00\x00\x00\x0b\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x07",
    br#"[{"threadID":"0","transactionID":"0,0","operationID":"0,0,1","operationTraceType":"UPDATE","startTimestamp":5,"finishTimestamp":"9","predicateLock":"x","traceLockMode":"SHARE_LOCK","readTupleList":[{"table":"t","primaryKey":7,"valueMap":{"v":1.5,"w":null}}],"writeTupleList":[{"primaryKey":null,"valueMap":{"value":true}}]},
{"threadID":"0","transactionID":"0,0","operationID":0,"operationTraceType":"delete","statement":null,"writeTupleList":[{"table":"t","primaryKey":"a/b","valueMap":{}}]},{"transactionID":"0,0","operationTraceType":"rollback","startTimestamp":-1}]"#,
    br#"{"value":[["range","nil",4,[{"id":1,"val":7}],[{"id":2,"val":8}],true]],"isInitial":true}
{"preBeginTS":5,"value":[["r",1,null,true],["w",1,5,false],["i","k",9,8,true,true,true,"w"],{"opType":"d","key":1,"value":4,"readValue":5,"succ":true},["append",3,1],["r",3,[1]]]}"#,
    br#"{:type :ok :isInitial true :value [[:range nil nil [{:id 1 :val 7}] ({:id 2 :val 8})]]} {:type :fail :value [[:w 1 99 true]]}
{:process 1 :value: [[:r, 1, 7, false] [:d 1 4 5 false true] [:append 3 1] [:r 3 [1]]]}"#,
    br#"[{"_key":"1","_id":"txn/1"},{"_id":"txn/2"},{"_key":"x"},{"_from":"txn/1","_to":"txn/2","from_evt":"w_evt/1,1","to_evt":"a_evt/2,1","type":"ww"},
{"_from":"txn/1","from_evt":"w_evt/1,1","to_evt":"r_evt/x,5","type":"wr"},{"from_evt":"r_evt/x,5","to_evt":"a_evt/2,1","type":"rw"},{"_to":"txn/1","type":"so"}]"#,
];
const WORDS: [&[u8]; 29] = [
    b"nil",
    b"null",
    b"[",
    b"]",
    b"{",
    b"}",
    b"(",
    b")",
    b"\"",
    b"\\",
    b"#",
    b"#_",
    b"^",
    b";",
    b",",
    b":",
    b"\n",
    b"\r\n",
    b"-",
    b"9223372036854775808",
    b"1e999",
    b"\xef\xbb\xbf",
    b"==",
    b":=",
    b"?",
    b"!",
    b"---\n",
    b"\x00",
    b"\xff",
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(60);
    let mut seeds: Vec<Vec<u8>> = SAMPLES.iter().map(|sample| sample.to_vec()).collect();
    arguments.for_each(|path| collect(Path::new(&path), &mut seeds));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut inputs = 0_u64;
    while Instant::now() < end {
        let target = TARGETS[random.below(TARGETS.len())];
        // Half of the inputs start from the target's own sample, the others from anything.
        let place = TARGETS.iter().position(|known| known.0 == target.0).unwrap_or(0);
        let seed = if random.below(2) == 0 { place } else { random.below(seeds.len()) };
        run(target, &mutated(&seeds, seed, &mut random));
        inputs += 1;
    }
    println!("{inputs} inputs, {} seeds, no failure", seeds.len());
}

fn run((name, target): Target, input: &[u8]) {
    if catch_unwind(|| target(input)).is_ok() {
        return;
    }
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("artifacts");
    let path = folder.join(format!("{name}-failure"));
    let kept = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, input));
    println!("{name} failed on {:?}\nkept in {}: {kept:?}", String::from_utf8_lossy(input), path.display());
    std::process::exit(1);
}

/// All files below `path` that are short enough to be mutated often.
fn collect(path: &Path, seeds: &mut Vec<Vec<u8>>) {
    if let Ok(entries) = std::fs::read_dir(path) {
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        paths.iter().for_each(|path| collect(path, seeds));
    } else if let Ok(content) = std::fs::read(path)
        && content.len() < 1 << 14
    {
        seeds.push(content);
    }
}

/// One of `seeds` with a few bytes flipped, cut, doubled, replaced by words or joined to another seed.
fn mutated(seeds: &[Vec<u8>], seed: usize, random: &mut Random) -> Vec<u8> {
    let mut input = seeds[seed].clone();
    for _ in 0..random.below(5) {
        let at = random.below(input.len() + 1);
        let to = (at + random.below(16)).min(input.len());
        match random.below(7) {
            0 => input.truncate(at),
            1 if at < input.len() => input[at] ^= 1 << random.below(8),
            2 => drop(input.drain(at..to)),
            3 => {
                let part = input[at..to].to_vec();
                input.splice(at..at, part);
            }
            4 => drop(input.splice(at..to, WORDS[random.below(WORDS.len())].iter().copied())),
            5 => {
                let other = &seeds[random.below(seeds.len())];
                let from = random.below(other.len() + 1);
                input.splice(at.., other[from..].iter().copied());
            }
            _ => drop(input.splice(at..at, WORDS[random.below(WORDS.len())].iter().copied())),
        }
    }
    input
}

/// A small generator (xorshift), so that a run can be repeated anywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}
