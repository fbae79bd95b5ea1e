//! The two spellings of an event.

use crate::formats::{edn, json};
use crate::predicates::Predicate;
use crate::value::Value;

/// How events are spelt.
#[derive(Clone, Copy)]
pub(super) enum Syntax {
    Edn,
    Json,
}

impl Syntax {
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
            Self::Json => json::write_string(word, out),
        }
    }

    pub(super) fn value(self, spelling: &json::Spelling<'_>, value: Value, out: &mut Vec<u8>) {
        match self {
            Self::Edn => edn::write_scalar(spelling.values, value, out),
            Self::Json => spelling.value(value, out),
        }
    }

    /// A map of keys and values, which in JSON is an array of pairs: its objects have strings as keys.
    pub(super) fn rows(
        self,
        spelling: &json::Spelling<'_>,
        rows: impl Iterator<Item = [Value; 2]>,
        out: &mut Vec<u8>,
    ) {
        let (open, close): (&[u8], &[u8]) = match self {
            Self::Edn => (b"", b""),
            Self::Json => (b"[", b"]"),
        };
        out.push(if matches!(self, Self::Edn) { b'{' } else { b'[' });
        for (number, [key, value]) in rows.enumerate() {
            if number > 0 {
                out.extend_from_slice(self.comma());
            }
            out.extend_from_slice(open);
            self.value(spelling, key, out);
            out.extend_from_slice(self.separator());
            self.value(spelling, value, out);
            out.extend_from_slice(close);
        }
        out.push(if matches!(self, Self::Edn) { b'}' } else { b']' });
    }

    pub(super) fn predicate(self, predicate: &Predicate, out: &mut Vec<u8>) {
        let text = match (self, predicate) {
            // Elle has no sets of values: the format refuses them before.
            (Self::Edn, _) | (_, Predicate::In(_)) => predicate.to_string(),
            (Self::Json, Predicate::Any) => "\"true\"".to_owned(),
            (Self::Json, Predicate::Equal(number)) => format!("[\"=\",{number}]"),
            (Self::Json, Predicate::Remainder { modulus, remainder }) => {
                format!("[\"mod\",{modulus},{remainder}]")
            }
        };
        out.extend_from_slice(text.as_bytes());
    }
}
