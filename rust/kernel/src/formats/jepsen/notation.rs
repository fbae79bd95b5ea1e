//! The two spellings of an event.

use crate::formats::edn;
use crate::value::{AtomKind, Value, Values};

/// How events are spelt.
#[derive(Clone, Copy)]
pub(super) enum Notation {
    Edn,
    Json,
}

impl Notation {
    pub(super) fn comma(self) -> &'static [u8] {
        match self {
            Self::Edn => b", ",
            Self::Json => b",",
        }
    }

    pub(super) fn separator(self) -> &'static [u8] {
        match self {
            Self::Edn => b" ",
            Self::Json => b",",
        }
    }

    pub(super) fn field(self, name: &str, out: &mut Vec<u8>) {
        self.word(name, out);
        out.push(match self {
            Self::Edn => b' ',
            Self::Json => b':',
        });
    }

    pub(super) fn word(self, word: &str, out: &mut Vec<u8>) {
        match self {
            Self::Edn => {
                out.push(b':');
                out.extend_from_slice(word.as_bytes());
            }
            Self::Json => write_json_string(word, out),
        }
    }

    pub(super) fn value(self, values: &Values, value: Value, out: &mut Vec<u8>) {
        match (self, values.as_list(value)) {
            (Self::Edn, _) => edn::write_scalar(values, value, out),
            (Self::Json, None) => write_json_scalar(values, value, out),
            (Self::Json, Some(elements)) => {
                out.push(b'[');
                for (place, &element) in elements.iter().enumerate() {
                    out.extend_from_slice(if place > 0 { b"," } else { b"" });
                    write_json_scalar(values, element, out);
                }
                out.push(b']');
            }
        }
    }
}

fn write_json_scalar(values: &Values, value: Value, out: &mut Vec<u8>) {
    match value.atom_index().map(|index| values.atom(index)) {
        None | Some((AtomKind::Nil | AtomKind::Boolean | AtomKind::Integer, _)) => {
            let start = out.len();
            edn::write_scalar(values, value, out);
            if &out[start..] == b"nil" {
                out.truncate(start);
                out.extend_from_slice(b"null");
            }
        }
        // JSON has no infinities: they become strings rather than text that no parser takes.
        Some((AtomKind::Float, text)) if text.ends_with(|end: char| end.is_ascii_digit()) => {
            out.extend_from_slice(text.as_bytes());
        }
        Some((_, text)) => write_json_string(text, out),
    }
}

fn write_json_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text.as_bytes() {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            control if control < b' ' => out.extend_from_slice(format!("\\u{control:04x}").as_bytes()),
            plain => out.push(plain),
        }
    }
    out.push(b'"');
}
