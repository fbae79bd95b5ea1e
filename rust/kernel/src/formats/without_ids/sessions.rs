//! Transactions in the order of such a file: session by session.

use crate::history::{History, Status};
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

/// Names of the ids that a file of the transactions that `is_kept` keeps would change.
///
/// Ids that are no integers are features of their own, but for those that readers make up.
pub(in crate::formats) fn misplaced_ids(
    history: &History,
    is_kept: impl Fn(usize) -> bool,
) -> Vec<&'static str> {
    let columns = &history.transactions;
    let (mut wrong_session, mut wrong_transaction, mut made_up, mut place) = (false, false, false, 0);
    for (session, transactions) in (1..).zip(sessions(history, is_kept)) {
        let id = history.session_ids[columns.sessions[transactions[0]] as usize];
        wrong_session |= is_another(history, id, session);
        for transaction in transactions {
            place += 1;
            wrong_transaction |= is_another(history, columns.ids[transaction], place);
            made_up |= columns.statuses[transaction] == Status::Aborted
                && is_made_up(history, columns.ids[transaction]);
        }
    }
    let lost = [
        ("session ids other than 1, 2, 3, ... in this order: renumbered", wrong_session),
        ("transaction ids other than 1, 2, 3, ... session by session: renumbered", wrong_transaction),
        ("ids of aborted transactions: renumbered", made_up),
    ];
    lost.into_iter().filter(|&(_, is_lost)| is_lost).map(|(name, _)| name).collect()
}

/// Whether the reader of a format in which aborted transactions have no ids may have made up `id`.
fn is_made_up(history: &History, id: Value) -> bool {
    let named = id.atom_index().map(|index| history.values.atom(index));
    named.is_some_and(|(kind, text)| kind == AtomKind::Text && text.starts_with("aborted-"))
}

/// Whether `id` is an integer, and not `place`.
fn is_another(history: &History, id: Value, place: i64) -> bool {
    let is_long = || id.atom_index().is_some_and(|index| history.values.atom(index).0 == AtomKind::Integer);
    id.as_small().map_or_else(is_long, |number| number != place)
}
