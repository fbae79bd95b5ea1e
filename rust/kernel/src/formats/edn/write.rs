//! Values as EDN text, the inverse of [`super::parse_value`].

use super::SCALAR_TAG;
use crate::value::{AtomKind, Value, Values};

/// Appends `value` so that [`super::parse_value`] gives it back; an unknown value is written as nil.
///
/// A term that looks like a list is tagged, since a bare vector is a list.
pub fn write_value(values: &Values, value: Value, out: &mut Vec<u8>) {
    if let Some((AtomKind::Term, text)) = value.atom_index().map(|index| values.atom(index))
        && (text.starts_with('[') || text.strip_prefix('#').is_some_and(|tag| tag.starts_with(SCALAR_TAG)))
    {
        out.extend_from_slice(format!("#{SCALAR_TAG} ").as_bytes());
    }
    write_scalar(values, value, out);
}

/// Appends `value` as a plain form, for a place that says whether a vector is a list or a scalar.
pub fn write_scalar(values: &Values, value: Value, out: &mut Vec<u8>) {
    if let Some(number) = value.as_small() {
        return write_integer(number, out);
    }
    if let Some(elements) = values.as_list(value) {
        out.push(b'[');
        for (place, &element) in elements.iter().enumerate() {
            if place > 0 {
                out.push(b' ');
            }
            write_atom(values, element, out);
        }
        return out.push(b']');
    }
    write_atom(values, value, out);
}

fn write_atom(values: &Values, value: Value, out: &mut Vec<u8>) {
    if let Some(number) = value.as_small() {
        return write_integer(number, out);
    }
    let Some(index) = value.atom_index() else {
        return out.extend_from_slice(b"nil");
    };
    let mut text = String::new();
    match values.atom(index) {
        (AtomKind::Nil, _) => text.push_str("nil"),
        (AtomKind::Float, number) => write_float(number, &mut text),
        (AtomKind::Text, string) => write_quoted(string, &mut text),
        (AtomKind::Boolean | AtomKind::Integer | AtomKind::Term, plain) => text.push_str(plain),
    }
    out.extend_from_slice(text.as_bytes());
}

pub(in crate::formats) fn write_integer(number: i64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    let mut magnitude = number.unsigned_abs();
    loop {
        start -= 1;
        digits[start] = b'0' + (magnitude % 10) as u8;
        magnitude /= 10;
        if magnitude == 0 {
            break;
        }
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[start..]);
}

/// A float, given as Rust writes it.
pub(super) fn write_float(text: &str, out: &mut String) {
    out.push_str(match text {
        "NaN" => "##NaN",
        "inf" => "##Inf",
        "-inf" => "##-Inf",
        finite => finite,
    });
}

fn hexadecimal(number: u32) -> char {
    char::from_digit(number & 0xf, 16).unwrap_or_default()
}

pub(super) fn write_quoted(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control.is_control() => {
                out.push_str("\\u");
                out.extend((0..4).rev().map(|place| hexadecimal(u32::from(control) >> (4 * place))));
            }
            plain => out.push(plain),
        }
    }
    out.push('"');
}
