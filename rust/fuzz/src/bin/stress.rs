//! Mutates seeds for a number of seconds on any toolchain: `stress SECONDS [SEED-FILE-OR-FOLDER...]`.
//!
//! The same seed of the generator gives the same inputs. A failure prints the target and the input, which is
//! also left in `rust/fuzz/artifacts/`, and stops with status 1.

use isoscope_fuzz::{Target, targets};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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
    let targets = targets();
    // The seed of each target stands at its place; others follow.
    let mut seeds: Vec<Vec<u8>> = targets.iter().map(seed).collect();
    arguments.for_each(|path| collect(Path::new(&path), &mut seeds));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut inputs = 0_u64;
    while Instant::now() < end {
        let place = random.below(targets.len());
        // Half of the inputs start from the target's own seed, the others from any.
        let seed = if random.below(2) == 0 { place } else { random.below(seeds.len()) };
        run(&targets[place], &mutated(&seeds, seed, &mut random));
        inputs += 1;
    }
    println!("{inputs} inputs, {} targets, {} seeds, no failure", targets.len(), seeds.len());
}

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// A small input that the target understands.
fn seed(target: &Target) -> Vec<u8> {
    let path = folder("seeds").join(target.name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("each parser has a seed: {}: {error}", path.display()))
}

fn run(target: &Target, input: &[u8]) {
    if catch_unwind(|| target.run(input)).is_ok() {
        return;
    }
    let name = target.name;
    let path = folder("artifacts").join(format!("{name}-failure"));
    let saved = std::fs::create_dir_all(folder("artifacts")).and_then(|()| std::fs::write(&path, input));
    println!("{name} failed on {:?}\nsaved in {}: {saved:?}", String::from_utf8_lossy(input), path.display());
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
