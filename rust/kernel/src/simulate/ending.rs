//! How transactions end: conflicts, commits, aborts.

use super::Isolation;
use super::client::{Client, Touched};
use super::engine::Engine;
use super::faults::Bug;
use super::key::Version;
use crate::generate::Model;
use crate::history::{Kind, NO_KEY, Status};
use crate::value::Value;

impl Engine<'_> {
    pub(super) fn end(&mut self, client: &mut Client) {
        if client.rolls_back || !self.may_commit(client) {
            return self.abort(client, !client.rolls_back);
        }
        self.record_end(client, Kind::Commit);
        let keys = client.touched.iter().map(|touched| touched.key);
        let now = self.clock.commit(client.session, keys, self.now);
        let (start, commit) = self.recorded(client, now);
        self.judge(client, start, commit);
        self.install(client, commit);
        if commit < now {
            self.judge_late(client, commit);
        }
        self.remember(client, start, commit);
        client.before = (client.id, commit);
        self.flush(client, Status::Committed, start, Some(commit));
    }

    pub(super) fn abort(&mut self, client: &mut Client, is_conflict: bool) {
        self.record_end(client, Kind::Abort);
        if self.simulation.bug == Some(Bug::AbortedRead) {
            for touched in client.writes() {
                let ghost = (client.id, touched.own.clone());
                self.keys[touched.key as usize].rare().ghost = Some(ghost);
            }
        }
        self.flush(client, Status::Aborted, client.start, None);
        client.is_again = is_conflict && self.simulation.conflicts == super::Conflicts::Retry;
    }

    fn record_end(&mut self, client: &mut Client, kind: Kind) {
        if self.simulation.intervals {
            self.record(client, kind, NO_KEY, Value::NIL);
        }
    }

    /// Versions up to here are no conflict.
    pub(super) fn limit(&self, client: &Client) -> u64 {
        // Who is shown an older snapshot by a fault is held to it: so nothing but the timestamp is wrong.
        let is_held = self.simulation.isolation == Isolation::Snapshot;
        if is_held { client.snapshot } else { client.start }
    }

    /// First committer wins; to be serializable, what was read must still be the newest.
    fn may_commit(&self, client: &Client) -> bool {
        let isolation = self.simulation.isolation;
        if !isolation.has_snapshots() {
            return true;
        }
        let limit = self.limit(client);
        let forgives_reads = isolation == Isolation::Snapshot || self.strikes(client, Bug::WriteSkew);
        let is_conflict = |touched: &&Touched| {
            let (is_read, is_written) = (touched.shown.is_some(), !touched.own.is_empty());
            let counts =
                if is_written { !self.ignores_conflicts(client) } else { is_read && !forgives_reads };
            counts && self.keys[touched.key as usize].newest().commit > limit
        };
        !client.touched.iter().any(|touched| is_conflict(&touched))
    }

    fn install(&mut self, client: &Client, commit: u64) {
        let visible = self.instants(client);
        for (touched, visible) in client.writes().zip(visible) {
            let state = &mut self.keys[touched.key as usize];
            let value = match self.simulation.model {
                Model::Register => touched.own[touched.own.len() - 1],
                Model::List => state.extend(&touched.own, visible),
            };
            state.versions.push(Version { commit, value, writer: client.id, visible });
            if state.is_crowded() {
                let horizon = self.horizon(client);
                self.keys[touched.key as usize].forget(horizon, self.now);
            }
        }
    }
}
