//! Values as JSON text.

use crate::history::History;
use crate::mentioned::mentions;
use crate::value::{AtomKind, Value, Values};

const HEXADECIMAL: &[u8; 16] = b"0123456789abcdef";

/// What of the scalars of `history` JSON has no way to say.
#[must_use]
pub fn unwritable(history: &History) -> Vec<&'static str> {
    let any = |wanted: fn(AtomKind, &str) -> bool| mentions(history, wanted);
    let lost = [
        ("keywords, symbols and other terms", any(|kind, _| kind == AtomKind::Term)),
        ("numbers that are not finite", any(|kind, text| kind == AtomKind::Float && !is_finite(text))),
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

/// Writes a scalar or a list of scalars.
///
/// What JSON does not have is written as its text in a string (terms, floats that are not finite) or as
/// null (the result that nobody knows).
pub fn write_value(values: &Values, value: Value, out: &mut Vec<u8>) {
    let Some(elements) = values.as_list(value) else {
        return write_scalar(values, value, out);
    };
    out.push(b'[');
    for (place, &element) in elements.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        write_scalar(values, element, out);
    }
    out.push(b']');
}

/// Whether `id` is an integer or a string, as the ids of most formats are; nil is none.
#[must_use]
pub fn is_id(values: &Values, id: Value) -> bool {
    let kind = id.atom_index().map(|index| values.atom(index).0);
    kind.is_none_or(|kind| [AtomKind::Nil, AtomKind::Integer, AtomKind::Text].contains(&kind))
}

/// Writes an id; a scalar that is neither an integer nor a string is written as a string.
pub fn write_id(values: &Values, id: Value, out: &mut Vec<u8>) {
    match id.atom_index().map(|index| values.atom(index)) {
        Some((AtomKind::Nil, _)) => write_string("nil", out),
        Some((AtomKind::Boolean | AtomKind::Float, text)) => write_string(text, out),
        _ => write_value(values, id, out),
    }
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
