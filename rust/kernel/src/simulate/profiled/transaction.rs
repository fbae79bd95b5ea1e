//! An open transaction, and the plan of its client.

use super::faults::Fault;
use crate::history::Kind;
use crate::intervals::profile::{Lock, Statement};

/// A statement that a client is going to send: rows `low` to `high`, equal but for a range read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) kind: Kind,
    pub(super) statement: Statement,
    pub(super) low: u32,
    pub(super) high: u32,
}

/// The next action of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Stage {
    #[default]
    Begin,
    Statement,
    End,
    /// It holds the locks of its commit.
    Committing,
    /// A statement failed and the writes are undone; the client rolls back.
    Failed,
}

/// The message of a commit that gets lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Lost {
    #[default]
    Nothing,
    Request,
    Answer,
}

/// An operation that the server has done; a range read has its rows elsewhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    pub(super) kind: Kind,
    pub(super) statement: Statement,
    pub(super) low: u32,
    pub(super) high: u32,
    pub(super) value: i64,
    pub(super) invoke: u64,
    /// Zero if the answer got lost.
    pub(super) complete: u64,
    /// Whether the client did not learn what it read.
    pub(super) is_unknown: bool,
    /// The end of its rows in those of the transaction.
    pub(super) rows: u32,
}

/// A read of a version of another transaction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) key: u32,
    /// When the version appeared.
    pub(super) from: u64,
    pub(super) writer: u32,
    pub(super) value: i64,
    /// The true instant that the read looked at.
    pub(super) at: u64,
    /// The place of the operation in its transaction.
    pub(super) place: u32,
}

/// The last write of a transaction to a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own {
    pub(super) key: u32,
    pub(super) value: i64,
    /// When it wrote the row first, and last.
    pub(super) at: u64,
    pub(super) last: u64,
    /// Whether the first write was an insertion: no snapshot is compared.
    pub(super) is_insertion: bool,
    /// The write before the last.
    pub(super) before: Option<i64>,
}

/// A lock on rows `low` to `high`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub(super) place: u32,
    pub(super) low: u32,
    pub(super) high: u32,
    pub(super) mode: Lock,
    pub(super) taken: u64,
    pub(super) is_predicate: bool,
    /// When it was released too early; zero if it was not.
    pub(super) released: u64,
}

#[derive(Debug, Default)]
pub(super) struct Transaction {
    pub(super) id: u32,
    pub(super) slot: u32,
    pub(super) client: u32,
    pub(super) session: u32,
    pub(super) is_active: bool,
    /// Its client has given up waiting for its end.
    pub(super) is_orphan: bool,
    pub(super) stage: Stage,
    pub(super) plan: Vec<Step>,
    pub(super) next: usize,
    pub(super) rolls_back: bool,
    pub(super) lost: Lost,
    /// When the client sent the current request.
    pub(super) invoke: u64,
    /// True instants.
    pub(super) begun: u64,
    pub(super) snapshot: Option<u64>,
    /// Decides at which of begin, first statement and first read the database takes the snapshot.
    pub(super) moment: u32,
    pub(super) done: Vec<Done>,
    /// The rows that range reads showed.
    pub(super) rows: Vec<(u32, i64)>,
    pub(super) seen: Vec<Seen>,
    pub(super) writes: Vec<Own>,
    pub(super) held: Vec<Held>,
    /// The transaction that it waits for.
    pub(super) blocker: Option<u32>,
    /// Faults, the place of the operation, and whether they are visible.
    pub(super) struck: Vec<(Fault, u32, bool)>,
}

impl Transaction {
    /// Prepares for another transaction; memory is kept.
    pub(super) fn clear(&mut self) {
        let old = std::mem::take(self);
        *self = Self {
            plan: old.plan,
            done: old.done,
            rows: old.rows,
            seen: old.seen,
            writes: old.writes,
            held: old.held,
            struck: old.struck,
            ..Self::default()
        };
        self.plan.clear();
        self.done.clear();
        self.rows.clear();
        self.seen.clear();
        self.writes.clear();
        self.held.clear();
        self.struck.clear();
    }

    pub(super) fn own(&self, key: u32) -> Option<&Own> {
        self.writes.iter().find(|own| own.key == key)
    }

    /// The place of the current operation.
    pub(super) fn place(&self) -> u32 {
        self.done.len() as u32
    }

    /// The server has done a begin or an end.
    pub(super) fn marked(&mut self, kind: Kind) {
        self.did(Step { kind, statement: Statement::Select, low: 0, high: 0 }, 0);
    }

    /// The server has done a statement.
    pub(super) fn did(&mut self, step: Step, value: i64) {
        let Step { kind, statement, low, high } = step;
        let (invoke, rows) = (self.invoke, self.rows.len() as u32);
        let done = Done { kind, statement, low, high, value, invoke, complete: 0, is_unknown: false, rows };
        self.done.push(done);
    }

    pub(super) fn strike(&mut self, fault: Fault, is_visible: bool) {
        let place = self.place();
        self.struck.push((fault, place, is_visible));
    }
}
