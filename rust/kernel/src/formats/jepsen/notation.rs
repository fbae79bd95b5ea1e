//! The two spellings of an event.

use crate::formats::{edn, json};
use crate::value::Value;

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
            Self::Json => json::write_string(word, out),
        }
    }

    pub(super) fn value(self, spelling: &json::Spelling<'_>, value: Value, out: &mut Vec<u8>) {
        match self {
            Self::Edn => edn::write_scalar(spelling.values, value, out),
            Self::Json => spelling.value(value, out),
        }
    }
}
