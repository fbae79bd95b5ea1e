//! Values as JSON text.

use crate::atom_search::contains_atom;
use crate::history::History;
use crate::value::{AtomKind, Value, Values};
use hashbrown::{HashMap, HashSet};

const HEXADECIMAL: &[u8; 16] = b"0123456789abcdef";

/// Scalars of `history` that JSON cannot hold.
#[must_use]
pub fn unwritable(history: &History) -> Vec<&'static str> {
    let any = |wanted: fn(AtomKind, &str) -> bool| contains_atom(history, wanted);
    let lost = [
        ("keywords, symbols and other terms: written as strings", any(|kind, _| kind == AtomKind::Term)),
        (
            "numbers that are not finite: written as strings",
            any(|kind, text| kind == AtomKind::Float && !is_finite(text)),
        ),
    ];
    lost.into_iter().filter(|&(_, is_lost)| is_lost).map(|(name, _)| name).collect()
}

/// Whether `number`, a float as Rust writes it, is one that JSON has, too.
fn is_finite(number: &str) -> bool {
    number.ends_with(|last: char| last.is_ascii_digit())
}

/// Writes `text` in quotes.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text.as_bytes() {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            0..b' ' => {
                out.extend(b"\\u00");
                out.extend([HEXADECIMAL[usize::from(byte >> 4)], HEXADECIMAL[usize::from(byte & 15)]]);
            }
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// How the values of a history are written: what JSON does not have is a string that the history has not.
pub struct Spelling<'h> {
    /// The values.
    pub values: &'h Values,
    stand_ins: HashMap<usize, String>,
}

impl<'h> Spelling<'h> {
    /// The spelling of `values`: the text of a term, with as many `'` behind it as make it a new string.
    #[must_use]
    pub fn of(values: &'h Values) -> Self {
        let mut taken = HashSet::new();
        let mut stand_ins = HashMap::new();
        for index in 0..values.atom_count() {
            let (kind, text) = values.atom(index);
            if is_said(kind, text) {
                continue;
            }
            let mut stand_in = text.to_owned();
            while values.find(AtomKind::Text, &stand_in).is_some() || !taken.insert(stand_in.clone()) {
                stand_in.push('\'');
            }
            stand_ins.insert(index, stand_in);
        }
        Self { values, stand_ins }
    }

    /// Writes a scalar or a list of scalars.
    pub fn value(&self, value: Value, out: &mut Vec<u8>) {
        write_each(self.values, value, out, &|scalar, out| self.scalar(scalar, out));
    }

    /// Writes an id; a scalar that is neither an integer nor a string is written as a string.
    pub fn id(&self, id: Value, out: &mut Vec<u8>) {
        match id.atom_index().map(|index| self.values.atom(index)) {
            Some((AtomKind::Nil, _)) => write_string("nil", out),
            Some((AtomKind::Boolean | AtomKind::Float, text)) => write_string(text, out),
            _ => self.value(id, out),
        }
    }

    fn scalar(&self, value: Value, out: &mut Vec<u8>) {
        match value.atom_index().and_then(|index| self.stand_ins.get(&index)) {
            Some(stand_in) => write_string(stand_in, out),
            None => write_scalar(self.values, value, out),
        }
    }
}

/// Whether JSON has such scalars.
fn is_said(kind: AtomKind, text: &str) -> bool {
    kind != AtomKind::Term && (kind != AtomKind::Float || is_finite(text))
}

/// Writes a scalar or a list of scalars, for a message: [`Spelling`] is for files.
///
/// A scalar that JSON does not have is written as its text in a string (terms, floats that are not finite) or as
/// null (the result that is unknown).
pub fn write_value(values: &Values, value: Value, out: &mut Vec<u8>) {
    write_each(values, value, out, &|scalar, out| write_scalar(values, scalar, out));
}

fn write_each(values: &Values, value: Value, out: &mut Vec<u8>, write: &dyn Fn(Value, &mut Vec<u8>)) {
    let Some(elements) = values.as_list(value) else {
        return write(value, out);
    };
    out.push(b'[');
    for (place, &element) in elements.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        write(element, out);
    }
    out.push(b']');
}

/// Whether `id` is an integer or a string, as the ids of most formats are; nil is none.
#[must_use]
pub fn is_id(values: &Values, id: Value) -> bool {
    let kind = id.atom_index().map(|index| values.atom(index).0);
    kind.is_none_or(|kind| [AtomKind::Nil, AtomKind::Integer, AtomKind::Text].contains(&kind))
}

fn write_scalar(values: &Values, value: Value, out: &mut Vec<u8>) {
    if let Some(number) = value.as_small() {
        return out.extend(number.to_string().as_bytes());
    }
    let Some(index) = value.atom_index() else {
        return out.extend(b"null");
    };
    match values.atom(index) {
        (AtomKind::Nil, _) => out.extend(b"null"),
        (AtomKind::Boolean | AtomKind::Integer, text) => out.extend(text.as_bytes()),
        (AtomKind::Float, text) if is_finite(text) => {
            out.extend(text.as_bytes());
        }
        (AtomKind::Float | AtomKind::Text | AtomKind::Term, text) => write_string(text, out),
    }
}
