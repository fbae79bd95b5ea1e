//! A history as Plume text.

use super::{ABORTED, aborted_name};
use crate::formats::{Writer, without_ids};
use crate::history::{History, Kind, Status};
use crate::value::{AtomKind, Value};

/// The writer of the format.
pub const WRITER: Writer =
    Writer { name: "plume", write, unwritable, leaves_operations: without_ids::leaves_operations };

/// Writes `history` as Plume text.
///
/// Anything that the format cannot hold is left out or numbered: the caller asks [`crate::evidence::features`]
/// first.
///
/// # Errors
/// If `out` fails.
pub fn write(history: &History, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    let numbers = Numbers::of(history);
    let is_written = without_ids::written_transactions(history);
    let mut text = Vec::new();
    for transaction in history.written_order().filter(|&transaction| is_written[transaction]) {
        let session = numbers.session(history, transaction);
        let id = numbers.transaction(history, transaction);
        for operation in history.operations_of(transaction) {
            let kind = match history.operations.kinds[operation] {
                Kind::Read => b'r',
                Kind::Write | Kind::Insert => b'w',
                _ => continue,
            };
            let (key, value) = (history.operations.keys[operation], history.operations.values[operation]);
            let Some(value) = numbers.value(history, value) else { continue };
            text.extend_from_slice(&[kind, b'(']);
            for number in [numbers.key(history, key), value, session] {
                push_number(&mut text, number);
                text.push(b',');
            }
            push_number(&mut text, id);
            text.extend_from_slice(b")\n");
        }
        if text.len() > 1 << 20 {
            out.write_all(&text)?;
            text.clear();
        }
    }
    out.write_all(&text)
}

/// Stand-ins for ids that are no 64-bit integers: where one is not, all of its kind are numbered.
struct Numbers {
    sessions: bool,
    transactions: bool,
    keys: bool,
    values: Option<hashbrown::HashMap<Value, i128>>,
}

impl Numbers {
    fn of(history: &History) -> Self {
        let odd = |ids: &[Value]| ids.iter().any(|&id| number(history, id).is_none());
        let committed = |&t: &usize| history.transactions.statuses[t] != Status::Aborted;
        let mut committed = (0..history.transaction_count()).filter(committed);
        let values = &history.operations.values;
        let is_scalar = |&&value: &&Value| value.list_index().is_none() && value != Value::UNKNOWN;
        let numbered = values.iter().filter(is_scalar).any(|&value| number(history, value).is_none());
        Self {
            sessions: odd(&history.session_ids),
            transactions: committed.any(|transaction| transaction_number(history, transaction).is_none()),
            keys: odd(&history.keys),
            values: numbered.then(|| {
                let mut known = hashbrown::HashMap::from([(history.initial.default, 0)]);
                for &value in values.iter().filter(is_scalar) {
                    let next = known.len() as i128;
                    known.entry(value).or_insert(next);
                }
                known
            }),
        }
    }

    fn session(&self, history: &History, transaction: usize) -> i128 {
        let session = history.transactions.sessions[transaction];
        let id = number(history, history.session_ids[session as usize]);
        id.filter(|_| !self.sessions).unwrap_or(i128::from(session))
    }

    fn transaction(&self, history: &History, transaction: usize) -> i128 {
        if history.transactions.statuses[transaction] == Status::Aborted {
            return i128::from(ABORTED);
        }
        let id = transaction_number(history, transaction);
        id.filter(|_| !self.transactions).unwrap_or(transaction as i128)
    }

    fn key(&self, history: &History, key: u32) -> i128 {
        number(history, history.keys[key as usize]).filter(|_| !self.keys).unwrap_or(i128::from(key))
    }

    fn value(&self, history: &History, value: Value) -> Option<i128> {
        match &self.values {
            // An unknown initial value has a number, but no read shows it.
            Some(known) => known.get(&value).copied().filter(|_| value != Value::UNKNOWN),
            None => number(history, value),
        }
    }
}

/// The integer that `value` is, if it fits 64 bits.
fn number(history: &History, value: Value) -> Option<i128> {
    if let Some(small) = value.as_small() {
        return Some(i128::from(small));
    }
    let (kind, text) = history.values.atom(value.atom_index()?);
    let number: i128 = text.parse().ok().filter(|_| kind == AtomKind::Integer)?;
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&number).then_some(number)
}

fn push_number(text: &mut Vec<u8>, number: i128) {
    match u64::try_from(number) {
        Ok(number) => without_ids::push_number(text, number),
        Err(_) => text.extend_from_slice(number.to_string().as_bytes()),
    }
}

/// Losses of `history` in this format, beyond the features that it does not have.
#[must_use]
pub fn unwritable(history: &History) -> Vec<&'static str> {
    let (ids, statuses) = (&history.transactions.ids, &history.transactions.statuses);
    let is_aborted = |&transaction: &usize| statuses[transaction] == Status::Aborted;
    let renamed = |(transaction, place): (usize, u64)| {
        let id = ids[transaction].atom_index().map(|index| history.values.atom(index));
        id != Some((AtomKind::Text, &aborted_name(place)))
    };
    let unnatural = |transaction: usize| {
        statuses[transaction] != Status::Aborted
            && number(history, ids[transaction]).is_some()
            && transaction_number(history, transaction).is_none()
    };
    let lost = [
        (
            "ids of aborted transactions: renumbered",
            history.written_order().filter(is_aborted).zip(1..).any(renamed),
        ),
        ("transaction ids that are negative or beyond 62 bits: renumbered", (0..ids.len()).any(unnatural)),
    ];
    lost.into_iter().filter(|&(_, is_lost)| is_lost).map(|(name, _)| name).collect()
}

/// The id of `transaction` if the reader takes it for one.
fn transaction_number(history: &History, transaction: usize) -> Option<i128> {
    history.transactions.ids[transaction].as_small().filter(|&id| id >= 0).map(i128::from)
}
