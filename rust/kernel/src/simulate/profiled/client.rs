//! A transaction as its client knows it: the plan, and the answers.

use crate::history::Kind;
use crate::intervals::profile::Statement;
use crate::simulate::store::Request;

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
    pub(super) request: Request,
    pub(super) value: i64,
    pub(super) invoke: u64,
    /// Zero if the answer got lost.
    pub(super) complete: u64,
    /// Whether the client did not learn what it read.
    pub(super) is_unknown: bool,
    /// The end of its rows in those of the transaction.
    pub(super) rows: u32,
}

/// The transaction in a slot of the server.
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
    pub(super) plan: Vec<Request>,
    pub(super) next: usize,
    pub(super) rolls_back: bool,
    pub(super) lost: Lost,
    /// Decides when the server takes the snapshot.
    pub(super) moment: u32,
    /// When the client sent the current request.
    pub(super) invoke: u64,
    pub(super) done: Vec<Done>,
    /// The rows that range reads showed.
    pub(super) rows: Vec<(u32, i64)>,
}

impl Transaction {
    /// Prepares for another transaction; memory is kept.
    pub(super) fn clear(&mut self) {
        let Self { mut plan, mut done, mut rows, .. } = std::mem::take(self);
        plan.clear();
        done.clear();
        rows.clear();
        *self = Self { plan, done, rows, ..Self::default() };
    }

    /// The server has done a begin or an end.
    pub(super) fn marked(&mut self, kind: Kind) {
        self.did(Request { kind, statement: Statement::Select, low: 0, high: 0 }, 0, false);
    }

    /// The server has done a statement.
    pub(super) fn did(&mut self, request: Request, value: i64, is_unknown: bool) {
        let (invoke, rows) = (self.invoke, self.rows.len() as u32);
        self.done.push(Done { request, value, invoke, complete: 0, is_unknown, rows });
    }
}
