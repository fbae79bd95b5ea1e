//! Which version a read shows, also because of a fault.

use super::row::{ABSENT, Row};
use super::transaction::{Access, Own, Transaction};
use super::{Axiom, Fault, Found, Isolation, Model, Shown, Store};

impl Store {
    /// Reads a row; nothing if no version of a list is allowed for a lagging read.
    #[inline]
    pub(crate) fn read(&mut self, session: u32, row: u32) -> Option<Found<'_>> {
        if self.settings.bug.is_none() && self.settings.isolation.has_snapshots() {
            return Some(self.read_snapshot(session, row));
        }
        let place = self.transactions[session as usize].access(row, &mut self.rows[row as usize].accessed);
        let is_read = self.with(session, |store, transaction| {
            store.forget_own(transaction, place);
            let is_read = transaction.accesses[place].is_own() || store.observe(transaction, place);
            transaction.operations += u32::from(is_read);
            is_read
        });
        let access = &self.transactions[session as usize].accesses[place];
        is_read.then(|| found(&self.rows[row as usize], access, self.settings.model))
    }

    /// The usual case, and the fast one: a snapshot, and no fault.
    #[inline]
    fn read_snapshot(&mut self, session: u32, row: u32) -> Found<'_> {
        let (state, model) = (&mut self.rows[row as usize], self.settings.model);
        let transaction = &mut self.transactions[session as usize];
        let place = transaction.access(row, &mut state.accessed);
        let access = &mut transaction.accesses[place];
        if access.shown.is_none() && !access.is_own() {
            access.shown = Some(state.shown(transaction.snapshot, self.now, model));
            self.clock.show(row, transaction.start);
        }
        found(state, access, model)
    }

    /// Whether the transaction finds a row there.
    pub(crate) fn is_there(&self, session: u32, row: u32) -> bool {
        let transaction = &self.transactions[session as usize];
        match transaction.own(row) {
            Some(own) if own.is_whole => own.value != ABSENT,
            Some(_) => true,
            None => self.committed(transaction, row).value != ABSENT,
        }
    }

    /// Finds the writes of others; a transaction with a snapshot does so once for each row.
    fn observe(&mut self, transaction: &mut Transaction, place: usize) -> bool {
        let access = &transaction.accesses[place];
        let row = access.key;
        if access.shown.is_some() && self.settings.isolation.is_repeatable() {
            self.observe_again(transaction, place);
        } else {
            let is_first = access.shown.is_none() && access.forgotten == 0;
            let Some((shown, foreign)) = self.external(transaction, row) else { return false };
            let access = &mut transaction.accesses[place];
            if is_first && self.settings.bug.is_some() {
                access.first = Some(Box::new(shown.clone()));
            }
            access.shown = Some(shown);
            access.foreign = foreign;
            self.clock.show(row, transaction.start);
        }
        if self.settings.bug.is_some() {
            self.suspect(transaction, place);
        }
        true
    }

    fn observe_again(&mut self, transaction: &mut Transaction, place: usize) {
        if !self.strikes(transaction, Fault::NonRepeatableRead) {
            return;
        }
        let access = &mut transaction.accesses[place];
        let newest = self.rows[access.key as usize].shown(u64::MAX, self.now, self.settings.model);
        let before = access.shown.replace(newest.clone()).unwrap_or_default();
        if before != newest {
            let place = (transaction.id, Axiom::Int, access.key, transaction.operations);
            self.log.add(place, before, newest);
        }
    }

    /// A fault: from now on, reads leave out the own writes of the transaction.
    fn forget_own(&mut self, transaction: &mut Transaction, place: usize) {
        let access = &transaction.accesses[place];
        let count = match self.settings.model {
            Model::Register => access.own.count,
            Model::List => access.own.elements.len() as u32,
        };
        if count == access.forgotten || !self.strikes(transaction, Fault::ForgottenWrite) {
            return;
        }
        let row = access.key;
        let shown = match &access.shown {
            Some(shown) => shown.clone(),
            None => self.external(transaction, row).map(|(shown, _)| shown).unwrap_or_default(),
        };
        let access = &mut transaction.accesses[place];
        let expected = match self.settings.model {
            Model::Register => Shown::plain(access.own.value),
            Model::List => {
                let others = self.rows[row as usize].elements(&shown);
                Shown::list([others, access.appended()].concat())
            }
        };
        access.forgotten = count;
        // A row that was written before its first read has no first access for EXT.
        access.shown.get_or_insert_with(|| shown.clone());
        if expected != shown {
            let place = (transaction.id, Axiom::OwnInt, row, transaction.operations);
            self.log.add(place, expected, shown);
        }
    }

    /// The writes of others that a read finds; and the writer and number of writes if they are not committed.
    fn external(&mut self, transaction: &Transaction, row: u32) -> Option<(Shown, Option<(u32, u32)>)> {
        if let Some(view) = &mut self.view {
            let versions = &self.rows[row as usize];
            let version = view.choose(row, versions, &mut self.random)?;
            view.observe(row, versions, version);
            let value =
                version.checked_sub(1).map_or(versions.initial, |place| versions.versions[place].value);
            return Some((Shown::plain(value), None));
        }
        let shown = self.committed(transaction, row);
        let Some((writer, own)) = self.uncommitted(transaction, row) else { return Some((shown, None)) };
        let found = laid_over(&self.rows[row as usize], &shown, &own, self.settings.model);
        Some((found, Some((writer, own.count))))
    }

    /// What the snapshot of the transaction shows, or the newest version if there is none.
    fn committed(&self, transaction: &Transaction, row: u32) -> Shown {
        let has_snapshot =
            self.settings.isolation.has_snapshots() && !self.strikes(transaction, Fault::MovingSnapshot);
        let snapshot = if has_snapshot { transaction.snapshot } else { u64::MAX };
        self.rows[row as usize].shown(snapshot, self.now, self.settings.model)
    }

    /// Writes of another transaction that a read shows although it has not committed them.
    fn uncommitted(&mut self, transaction: &Transaction, row: u32) -> Option<(u32, Own)> {
        if self.strikes(transaction, Fault::AbortedRead) {
            return self.rows[row as usize].rare.as_mut()?.rolled_back.take();
        }
        let is_dirty = self.settings.isolation == Isolation::ReadUncommitted;
        if !is_dirty && !self.strikes(transaction, Fault::DirtyRead) {
            return None;
        }
        let holder = self.holder(row, transaction.session)?;
        Some((holder.id, holder.own(row)?.clone()))
    }

    /// A scripted read has shown the first `version` versions of a row.
    pub(crate) fn note_read(&mut self, row: u32, version: usize) {
        if let Some(view) = &mut self.view {
            view.observe(row, &self.rows[row as usize], version);
        }
    }
}

/// What the last read of an accessed row shows.
#[inline]
fn found<'s>(row: &'s Row, access: &'s Access, model: Model) -> Found<'s> {
    let is_own = access.is_own();
    let value = match &access.shown {
        _ if is_own => access.own.value,
        Some(shown) => shown.value,
        None => row.initial,
    };
    let appended = || access.appended();
    match (model, &access.shown) {
        (Model::Register, _) if value == ABSENT => Found::Absent,
        (Model::Register, _) => Found::Integer(value),
        (Model::List, _) if value == ABSENT && appended().is_empty() => Found::Absent,
        (Model::List, Some(shown)) if !is_own => Found::List(row.elements(shown), appended()),
        (Model::List, _) => Found::List(&[], appended()),
    }
}

/// A row as it would be if `own` were committed on top of `shown`.
fn laid_over(row: &Row, shown: &Shown, own: &Own, model: Model) -> Shown {
    match model {
        Model::Register => Shown::plain(own.value),
        Model::List if own.is_whole && own.value == ABSENT => Shown::plain(ABSENT),
        Model::List if own.is_whole => Shown::list(own.elements.clone()),
        Model::List => Shown::list([row.elements(shown), &own.elements].concat()),
    }
}
