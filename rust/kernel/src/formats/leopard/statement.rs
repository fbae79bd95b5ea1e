//! Kinds of statements, by the names that traces give them.

use crate::history::Kind;

/// The effect of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Select,
    Insert,
    Update,
    Delete,
    Begin,
    Commit,
    Abort,
    /// Something that the test itself did.
    Aside,
}

impl Verb {
    /// The effect of a statement called `name`, in small letters: its first word.
    pub(super) fn named(name: &str) -> Option<Self> {
        if let "set_snapshot" | "ddl" | "distributeschedule" | "fault" = name {
            return Some(Self::Aside);
        }
        let word = name.find(|c: char| !c.is_ascii_lowercase()).map_or(name, |end| &name[..end]);
        Some(match word {
            "select" => Self::Select,
            "insert" => Self::Insert,
            "update" => Self::Update,
            "delete" => Self::Delete,
            "start" | "begin" => Self::Begin,
            "commit" => Self::Commit,
            "abort" | "rollback" => Self::Abort,
            _ => return None,
        })
    }

    /// The kind of its writes, or of the marker that it is.
    pub(super) fn kind(self) -> Option<Kind> {
        match self {
            Self::Select | Self::Aside => None,
            Self::Insert => Some(Kind::Insert),
            Self::Update => Some(Kind::Write),
            Self::Delete => Some(Kind::Delete),
            Self::Begin => Some(Kind::Begin),
            Self::Commit => Some(Kind::Commit),
            Self::Abort => Some(Kind::Abort),
        }
    }

    pub(super) fn is_marker(self) -> bool {
        matches!(self, Self::Begin | Self::Commit | Self::Abort)
    }

    /// Whether operations of this kind can be part of it.
    pub(super) fn fits(self, kind: Kind) -> bool {
        match kind {
            Kind::Read | Kind::RangeRead => {
                matches!(self, Self::Select | Self::Insert | Self::Update | Self::Delete)
            }
            _ => self.kind() == Some(kind),
        }
    }
}

/// The name of an operation of this kind if the trace has no other.
pub(super) fn usual_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Read | Kind::RangeRead => "SELECT",
        Kind::Insert => "INSERT",
        Kind::Write | Kind::Append => "UPDATE",
        Kind::Delete => "DELETE",
        Kind::Begin => "BEGIN",
        Kind::Commit => "COMMIT",
        Kind::Abort => "ABORT",
    }
}

/// The statement kind of operations in a statement called `name`, in small letters: a marker with its usual
/// name has none.
pub(super) fn implied(verb: Verb, name: &str) -> Option<&str> {
    let says_nothing = verb.is_marker() && matches!(name, "begin" | "commit" | "abort");
    (!says_nothing).then_some(name)
}
