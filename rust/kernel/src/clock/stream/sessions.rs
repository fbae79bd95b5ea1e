//! Sessions in the order in which they appear, each with its latest transaction.

use crate::history::Timestamp;
use crate::index::DenseIndex;
use crate::value::Value;

/// A transaction and its times.
type Timed = (u32, (Timestamp, Timestamp));

/// A session that the input names.
#[derive(Debug, Default, Clone)]
struct Session {
    lane: u32,
    transactions: u32,
    sequence: Option<i64>,
    latest: Option<Timed>,
}

/// All sessions; those without a name have one transaction and are only counted.
#[derive(Debug, Default)]
pub struct Sessions {
    index: DenseIndex,
    named: Vec<Session>,
    count: u32,
}

impl Sessions {
    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Counts the next transaction of a session; false if its sequence number is not the next.
    pub fn follow(&mut self, id: Value, sequence: Option<i64>) -> bool {
        if id == Value::NIL {
            self.count += 1;
            return true;
        }
        let number = self.index.number(id) as usize;
        if number == self.named.len() {
            self.named.push(Session { lane: self.count, ..Session::default() });
            self.count += 1;
        }
        let session = &mut self.named[number];
        let is_first = session.transactions == 0;
        let follows = is_first
            || sequence.is_some() == session.sequence.is_some() && {
                sequence.is_none() || sequence > session.sequence
            };
        session.transactions += 1;
        session.sequence = sequence;
        follows
    }

    /// Makes a transaction the latest of its session; the number of the session, and the latest before.
    pub fn replace_latest(
        &mut self,
        id: Value,
        transaction: u32,
        times: (Timestamp, Timestamp),
    ) -> Option<(u32, Timed)> {
        let number = self.index.get(id).filter(|_| id != Value::NIL)?;
        let session = &mut self.named[number as usize];
        let before = session.latest.replace((transaction, times))?;
        Some((session.lane, before))
    }
}
