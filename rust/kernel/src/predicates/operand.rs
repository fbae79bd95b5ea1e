//! The values that a predicate names: integers of any size, and texts as in JSON.

use crate::value::{AtomKind, Value, Values};
use std::fmt;

/// A value that a predicate names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    /// An integer that fits into a value.
    Small(i64),
    /// Any other integer, by its digits.
    Large(String),
    /// A text.
    Text(String),
}

impl Operand {
    /// Whether a key that holds `value` holds this.
    #[must_use]
    pub fn equals(&self, values: &Values, value: Value) -> bool {
        let is_atom = |kind: AtomKind, text: &str| {
            value.atom_index().is_some_and(|index| values.atom(index) == (kind, text))
        };
        match self {
            Self::Small(number) => value.as_small() == Some(*number),
            Self::Large(digits) => is_atom(AtomKind::Integer, digits),
            Self::Text(text) => is_atom(AtomKind::Text, text),
        }
    }

    /// The operands that stand one after the other, each after a blank.
    #[must_use]
    pub fn all(mut text: &str) -> Option<Vec<Self>> {
        let mut found = Vec::new();
        while !text.is_empty() {
            let (operand, rest) = Self::first(text.strip_prefix(' ')?)?;
            found.push(operand);
            text = rest;
        }
        Some(found)
    }

    /// The first operand, and what follows it.
    fn first(text: &str) -> Option<(Self, &str)> {
        if let Some(quoted) = text.strip_prefix('"') {
            let end = end_of_text(quoted)?;
            return Some((Self::Text(unescaped(&quoted[..end])?), &quoted[end + 1..]));
        }
        let (word, rest) = text.split_at(text.find(' ').unwrap_or(text.len()));
        Some((Self::integer(word)?, rest))
    }

    fn integer(word: &str) -> Option<Self> {
        let digits = word.strip_prefix('-').unwrap_or(word);
        let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_short = digits == "0" || !digits.starts_with('0');
        if !is_plain || !is_short || word == "-0" {
            return None;
        }
        let small = word.parse().ok().filter(|&number| Value::small(number).is_some());
        Some(small.map_or_else(|| Self::Large(word.to_owned()), Self::Small))
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Small(number) => write!(out, "{number}"),
            Self::Large(digits) => out.write_str(digits),
            Self::Text(text) => {
                out.write_str("\"")?;
                for letter in text.chars() {
                    match letter {
                        '"' | '\\' => write!(out, "\\{letter}")?,
                        letter if letter < ' ' => write!(out, "\\u{:04x}", u32::from(letter))?,
                        letter => write!(out, "{letter}")?,
                    }
                }
                out.write_str("\"")
            }
        }
    }
}

/// Where the quote stands that ends a text.
fn end_of_text(quoted: &str) -> Option<usize> {
    let mut is_escaped = false;
    quoted.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })
}

/// The text that is written with escapes as in JSON.
fn unescaped(quoted: &str) -> Option<String> {
    let mut units = Vec::new();
    let mut letters = quoted.chars();
    while let Some(letter) = letters.next() {
        if letter < ' ' {
            return None;
        }
        if letter != '\\' {
            units.extend(letter.encode_utf16(&mut [0; 2]).iter());
            continue;
        }
        units.push(match letters.next()? {
            plain @ ('"' | '\\' | '/') => plain as u16,
            'b' => 8,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'u' => {
                let digits: String = letters.by_ref().take(4).collect();
                let is_plain = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                is_plain.then(|| u16::from_str_radix(&digits, 16).ok()).flatten()?
            }
            _ => return None,
        });
    }
    String::from_utf16(&units).ok()
}
