//! Sessions as rows; where there are very many, a session that goes on after another shares its row.

use crate::history::History;
use crate::observations::{ABSENT, INITIAL, Observations};

/// Sessions are joined into longer rows only if there are more of them than this: clocks are as wide as
/// there are rows.
const MANY_SESSIONS: usize = 128;

/// Counted transactions in rows.
pub(super) struct Rows {
    pub(super) transactions: Vec<u32>,
    pub(super) sessions: Vec<u32>,
    pub(super) session_starts: Vec<u32>,
    /// The row of each transaction.
    pub(super) numbers: Vec<u32>,
    pub(super) starts: Vec<u32>,
}

impl Rows {
    pub(super) fn new(history: &History, observations: &Observations) -> Self {
        let counted = |&transaction: &u32| observations.counted[transaction as usize];
        let sessions: Vec<Vec<u32>> = (0..history.session_ids.len())
            .map(|session| history.transactions_of(session).iter().copied().filter(counted).collect())
            .collect();
        let next = if sessions.len() > MANY_SESSIONS {
            successors(history, observations, &sessions)
        } else {
            vec![ABSENT; sessions.len()]
        };
        let mut follows = vec![false; sessions.len()];
        for &session in next.iter().filter(|&&session| session != ABSENT) {
            follows[session as usize] = true;
        }
        let mut rows = Self {
            transactions: Vec::with_capacity(history.transaction_count()),
            sessions: Vec::new(),
            session_starts: vec![0; sessions.len()],
            numbers: Vec::new(),
            starts: Vec::new(),
        };
        for first in (0..sessions.len()).filter(|&session| !follows[session] && !sessions[session].is_empty())
        {
            let row = rows.starts.len() as u32;
            rows.starts.push(rows.transactions.len() as u32);
            let mut session = first as u32;
            while session != ABSENT {
                rows.session_starts[session as usize] = rows.transactions.len() as u32;
                rows.transactions.extend(&sessions[session as usize]);
                rows.sessions.resize(rows.transactions.len(), session);
                rows.numbers.resize(rows.transactions.len(), row);
                session = next[session as usize];
            }
        }
        rows.starts.push(rows.transactions.len() as u32);
        rows
    }
}

/// For each session one that starts by reading from its end, so that the two make one row.
fn successors(history: &History, observations: &Observations, sessions: &[Vec<u32>]) -> Vec<u32> {
    let mut next = vec![ABSENT; sessions.len()];
    // The first session of the row that a session is the last of: rows must not close to a ring.
    let mut first: Vec<u32> = (0..sessions.len() as u32).collect();
    let mut last = first.clone();
    for (session, transactions) in sessions.iter().enumerate() {
        let Some(&start) = transactions.first() else { continue };
        let sources = history.operations_of(start as usize).map(|operation| observations.sources[operation]);
        let before = sources
            .filter(|&source| source < INITIAL)
            .map(|source| (source, history.transactions.sessions[source as usize]))
            .find(|&(source, before)| {
                sessions[before as usize].last() == Some(&source)
                    && next[before as usize] == ABSENT
                    && first[before as usize] != session as u32
            });
        let Some((_, before)) = before else { continue };
        next[before as usize] = session as u32;
        let (head, tail) = (first[before as usize], last[session]);
        first[tail as usize] = head;
        last[head as usize] = tail;
    }
    next
}
