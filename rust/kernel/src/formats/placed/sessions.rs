//! Transactions in the order of such a file: session by session.

use crate::history::History;
use crate::value::{AtomKind, Value};

/// The transactions that `is_kept` keeps, session by session; sessions without any are left out.
pub(in crate::formats) fn sessions(
    history: &History,
    is_kept: impl Fn(usize) -> bool,
) -> impl Iterator<Item = Vec<usize>> {
    (0..history.session_ids.len()).filter_map(move |session| {
        let transactions = history.transactions_of(session).iter().map(|&number| number as usize);
        let kept: Vec<usize> = transactions.filter(|&number| is_kept(number)).collect();
        (!kept.is_empty()).then_some(kept)
    })
}

/// Names of the ids that such a file would change; ids that are no integers are features of their own.
pub(in crate::formats) fn misplaced_ids(history: &History) -> Vec<&'static str> {
    let columns = &history.transactions;
    let (mut wrong_session, mut wrong_transaction, mut place) = (false, false, 0);
    for (session, transactions) in (1..).zip(sessions(history, |_| true)) {
        let id = history.session_ids[columns.sessions[transactions[0]] as usize];
        wrong_session |= is_another(history, id, session);
        for transaction in transactions {
            place += 1;
            wrong_transaction |= is_another(history, columns.ids[transaction], place);
        }
    }
    let lost = [
        ("session ids other than 1, 2, 3, ... in this order", wrong_session),
        ("transaction ids other than 1, 2, 3, ... session by session", wrong_transaction),
    ];
    lost.into_iter().filter(|&(_, is_lost)| is_lost).map(|(name, _)| name).collect()
}

/// Whether `id` is an integer, and not `place`.
fn is_another(history: &History, id: Value, place: i64) -> bool {
    let is_long = || id.atom_index().is_some_and(|index| history.values.atom(index).0 == AtomKind::Integer);
    id.as_small().map_or_else(is_long, |number| number != place)
}
