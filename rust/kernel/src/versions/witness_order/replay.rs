//! A witness is run: every read must show what is current, and writers of a key must not overlap.

use super::super::dependencies::{Dependencies, Order};
use super::super::levels::Level;
use super::super::lookup::Lookup;
use super::super::transaction_times::TransactionTimes;
use super::Form;
use crate::history::History;
use crate::observations::ABSENT;

/// A store that runs transactions in the order of a witness.
pub(super) struct Replay<'r, 'h> {
    pub(super) history: &'r History,
    pub(super) all: &'r Dependencies,
    pub(super) lookup: &'r Lookup<'h>,
    pub(super) level: Level,
}

/// The state of the store.
struct Store {
    /// The current version of each key.
    current: Vec<u32>,
    /// When it was installed, as a place among the events.
    installed: Vec<u32>,
}

impl Replay<'_, '_> {
    /// What is wrong with the events; nothing if all is right.
    pub(super) fn fault(&self, form: Form, events: &[u32]) -> Option<String> {
        let keys = &self.lookup.orders.keys;
        let mut store =
            Store { current: keys.iter().map(|order| order.start).collect(), installed: vec![0; keys.len()] };
        let mut begun = vec![ABSENT; self.history.transaction_count()];
        for (&event, place) in events.iter().zip(1..) {
            let (transaction, begins, commits) = parts(form, event);
            if begins {
                if begun[transaction as usize] != ABSENT {
                    return Some(format!("transaction {transaction} stands twice"));
                }
                begun[transaction as usize] = place;
                if let Some(fault) = self.begin(transaction, &store) {
                    return Some(fault);
                }
            }
            if commits {
                let began = begun[transaction as usize];
                if let Some(fault) = self.commit(transaction, began, place, &mut store) {
                    return Some(fault);
                }
            }
        }
        None
    }

    /// All reads show what is current.
    fn begin(&self, transaction: u32, store: &Store) -> Option<String> {
        let is_stale = |&(_, key, version): &(u32, u32, u32)| {
            let writer = self.lookup.orders.writers[version as usize];
            writer != transaction && store.current[key as usize] != version
        };
        let (read, ..) = self.lookup.observed(transaction).find(is_stale)?;
        Some(format!("operation {read} does not show what is current"))
    }

    /// Installs what a transaction wrote: no other version of the key since it began, but for prefixes.
    fn commit(&self, transaction: u32, began: u32, place: u32, store: &mut Store) -> Option<String> {
        if began == ABSENT {
            return Some(format!("transaction {transaction} commits before it begins"));
        }
        for (_, key, version) in self.lookup.installed(transaction) {
            let at = key as usize;
            if version != store.current[at] + 1 {
                return Some(format!("version {version} of key {key} is not the next"));
            }
            let own = store.installed[at] == place;
            if self.level != Level::Prefix && store.installed[at] >= began && !own {
                return Some(format!("another transaction wrote key {key} since {transaction} began"));
            }
            store.current[at] = version;
            store.installed[at] = place;
        }
        None
    }

    /// What is wrong with the order of the events beside what reads show: each transaction must stand there once, and
    /// none may commit after one begins that follows it in its session, or in real time.
    pub(super) fn disorder(&self, form: Form, events: &[u32], times: &TransactionTimes) -> Option<String> {
        let (order, expected) = (self.level.order(), if form == Form::Snapshots { 2 } else { 1 });
        if form != Form::Versions && events.len() != expected * self.all.len() {
            return Some(format!("{} events of {} transactions", events.len(), self.all.len()));
        }
        let mut latest = i64::MIN;
        let mut last = vec![0; self.history.session_ids.len()];
        for &event in events {
            let (transaction, begins, commits) = parts(form, event);
            let session = self.history.transactions.sessions[transaction as usize] as usize;
            let place = times.place_in_session[transaction as usize] + 1;
            let is_out_of_session = order >= Order::Session && last[session] > place;
            let is_out_of_time =
                order == Order::RealTime && times.complete(transaction).is_some_and(|end| end < latest);
            if commits && (is_out_of_session || is_out_of_time) {
                return Some(format!("transaction {transaction} is out of order"));
            }
            if begins {
                last[session] = place.max(last[session]);
                latest = latest.max(times.invoke(transaction).unwrap_or(i64::MIN));
            }
        }
        None
    }
}

/// The transaction of an event, whether it begins there, and whether it commits.
fn parts(form: Form, event: u32) -> (u32, bool, bool) {
    match form {
        Form::Snapshots => (event / 2, event.is_multiple_of(2), !event.is_multiple_of(2)),
        _ => (event, true, true),
    }
}
