//! What a read shows, rightly or by a fault.

use super::Isolation;
use super::client::Client;
use super::engine::Engine;
use super::faults::{Axiom, Bug};
use super::key::Shown;
use crate::generate::Model;
use crate::history::Kind;

impl Engine<'_> {
    pub(super) fn read(&mut self, client: &mut Client, key: u32) {
        let place = client.touch(key);
        let is_register = self.simulation.model == Model::Register;
        self.forget(client, place);
        let touched = &client.touched[place];
        let value = match touched.own.last() {
            Some(&own) if is_register && touched.forgotten == 0 => self.initial_or(own),
            _ => {
                self.observe(client, place);
                let touched = &client.touched[place];
                let shown = touched.shown.clone().unwrap_or_default();
                let own = &touched.own[touched.forgotten.min(touched.own.len())..];
                self.value(key, &shown, own)
            }
        };
        self.record(client, Kind::Read, key, value);
    }

    /// Finds out what others wrote; a transaction with a snapshot does so once for each key.
    fn observe(&mut self, client: &mut Client, place: usize) {
        let touched = &client.touched[place];
        let key = touched.key;
        if touched.shown.is_some() && self.simulation.isolation.has_snapshots() {
            self.observe_again(client, place);
        } else {
            let is_first = touched.shown.is_none() && touched.forgotten == 0;
            let (shown, foreign) = self.external(client, key);
            let touched = &mut client.touched[place];
            touched.first = if is_first { Some(shown.clone()) } else { touched.first.take() };
            touched.shown = Some(shown);
            touched.foreign = foreign;
            self.clock.show(key, client.start);
        }
        self.suspect(client, place);
    }

    fn observe_again(&mut self, client: &mut Client, place: usize) {
        if !self.strikes(client, Bug::NonRepeatableRead) {
            return;
        }
        let touched = &mut client.touched[place];
        let newest = self.keys[touched.key as usize].shown(u64::MAX, self.now, self.simulation.model);
        let before = touched.shown.replace(newest.clone()).unwrap_or_default();
        if before != newest {
            let read = client.done.len() as u32;
            self.log.add((client.id, Axiom::Int, touched.key, read), before, newest);
        }
    }

    /// A fault: a transaction does not find what it wrote itself.
    fn forget(&mut self, client: &mut Client, place: usize) {
        let touched = &client.touched[place];
        if touched.own.len() == touched.forgotten || !self.strikes(client, Bug::ForgottenWrite) {
            return;
        }
        let own = touched.own.clone();
        let left_out = touched.forgotten;
        let shown = touched.shown.clone().unwrap_or_else(|| self.external(client, touched.key).0);
        let touched = &mut client.touched[place];
        touched.forgotten = touched.own.len();
        let key = touched.key;
        // What was never read before was not found by its first access.
        touched.shown.get_or_insert_with(|| shown.clone());
        let (expected, found) = match self.simulation.model {
            Model::Register => (Shown::plain(own[own.len() - 1]), shown),
            Model::List => {
                let mut whole = self.keys[key as usize].elements(&shown).to_vec();
                whole.extend_from_slice(&own[left_out..]);
                (Shown { value: 0, list: Some(whole.into()) }, shown)
            }
        };
        if expected != found {
            self.log.add((client.id, Axiom::OwnInt, key, client.done.len() as u32), expected, found);
        }
    }

    /// What is found of others' writes; and who wrote it if it was not committed, and how many writes of his.
    fn external(&mut self, client: &Client, key: u32) -> (Shown, Option<(u32, u32)>) {
        let (model, now) = (self.simulation.model, self.now);
        let snapshot = match self.simulation.isolation {
            Isolation::Serializable | Isolation::Snapshot if !self.strikes(client, Bug::MovingSnapshot) => {
                client.snapshot
            }
            _ => u64::MAX,
        };
        let shown = self.keys[key as usize].shown(snapshot, now, model);
        let Some((writer, own)) = self.uncommitted(client, key) else { return (shown, None) };
        let found = match model {
            Model::Register => Shown::plain(own[own.len() - 1]),
            Model::List => {
                let mut list = self.keys[key as usize].elements(&shown).to_vec();
                list.extend_from_slice(&own);
                Shown { value: 0, list: Some(list.into()) }
            }
        };
        (found, Some((writer, own.len() as u32)))
    }

    /// Writes of another transaction that are shown although it did not commit.
    fn uncommitted(&mut self, client: &Client, key: u32) -> Option<(u32, Vec<u32>)> {
        if self.strikes(client, Bug::AbortedRead) {
            return self.keys[key as usize].rare.as_mut()?.ghost.take();
        }
        if self.simulation.isolation != Isolation::ReadUncommitted && !self.strikes(client, Bug::DirtyRead) {
            return None;
        }
        let holder = self.holder(key, client)?;
        Some((holder.id, holder.own(key).to_vec()))
    }
}
