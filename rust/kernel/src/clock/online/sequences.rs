//! Explicit places in sessions: transactions have to arrive in their order.

use super::Engine;
use super::intake::Translation;
use crate::history::History;
use crate::value::Value;
use hashbrown::HashMap;

/// The explicit place of the last transaction of a session, if it has one; None: the session has no transaction.
pub(super) type LastPlace = Option<Option<i64>>;

/// The sessions of a batch that is not taken yet, by their numbers in the batch.
#[derive(Default)]
pub(super) struct BatchPlaces {
    last: HashMap<u32, LastPlace>,
}

impl BatchPlaces {
    /// Notes a transaction that is new; an error if it comes before another that is there already.
    pub(super) fn follow(
        &mut self,
        engine: &Engine,
        history: &History,
        transaction: usize,
        translation: &Translation,
    ) -> Result<(), String> {
        let columns = &history.transactions;
        let session = columns.sessions[transaction];
        let id = history.session_ids[session as usize];
        if id == Value::NIL {
            return Ok(());
        }
        let place = columns.sequences.get(transaction).number();
        let last = self.last.entry(session).or_insert_with(|| engine.last_place(translation.of(id)));
        if last.is_some_and(|last| last.is_some() != place.is_some() || place.is_some() && place <= last) {
            return Err(
                "its sequence number is not above that of the transaction before it in its session, \
                        and online they have to arrive in order"
                    .to_owned(),
            );
        }
        *last = Some(place);
        Ok(())
    }
}

impl Engine {
    fn last_place(&self, session: Value) -> LastPlace {
        let number = self.sessions.get(session)?;
        self.sequences.get(number as usize).copied().flatten()
    }
}
