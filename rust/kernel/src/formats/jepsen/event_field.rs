//! The fields of an event.

/// The keys of the map that matter.
#[derive(Clone, Copy)]
pub(super) enum Field {
    Type,
    Function,
    Process,
    Index,
    Time,
    Transaction,
    Value,
}

impl Field {
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"type" => Some(Self::Type),
            b"f" => Some(Self::Function),
            b"value" => Some(Self::Value),
            b"time" => Some(Self::Time),
            b"process" => Some(Self::Process),
            b"index" => Some(Self::Index),
            b"transaction" => Some(Self::Transaction),
            _ => None,
        }
    }
}

/// Which fields a map has shown.
#[derive(Default)]
pub(super) struct Seen(u8);

impl Seen {
    pub(super) fn has(&self, field: Field) -> bool {
        self.0 & 1 << field as u8 != 0
    }

    /// False if `field` was there before.
    pub(super) fn add(&mut self, field: Field) -> bool {
        let bit = 1 << field as u8;
        let is_new = self.0 & bit == 0;
        self.0 |= bit;
        is_new
    }
}
