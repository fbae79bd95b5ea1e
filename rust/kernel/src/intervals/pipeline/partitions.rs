//! Several pipelines side by side, each with a part of the items, on as many threads as there are.

use super::Options;
use super::bounds::{Bounds, TooLate};
use super::runs::Runs;
use rayon::prelude::*;

/// Items go to the partition that their key says; each is dispatched in order to a verifier of its own.
///
/// The watermark is that of all clients, so that none holds a partition back to which it says nothing.
#[derive(Debug, Clone)]
pub struct Partitions<T, V, K> {
    bounds: Bounds,
    parts: Vec<(Runs<T>, V)>,
    key: K,
    most: usize,
}

impl<T: Send, V: Send, K: Fn(&T) -> usize> Partitions<T, V, K> {
    /// A partition for each verifier, of which there is one at least; an item belongs to the one with the
    /// number `key`, which may be larger than there are.
    pub fn new(options: Options, verifiers: Vec<V>, key: K) -> Self {
        let parts = verifiers.into_iter().map(|verifier| (Runs::new(options), verifier)).collect();
        Self { bounds: Bounds::new(), parts, key, most: 0 }
    }

    /// Takes what a client says next.
    ///
    /// # Errors
    ///
    /// As for [`super::Pipeline::push`].
    pub fn push(&mut self, client: u32, before: i64, item: T) -> Result<(), TooLate> {
        self.bounds.push(client, before)?;
        let part = (self.key)(&item) % self.parts.len();
        self.parts[part].0.push(client, before, item);
        Ok(())
    }

    /// Nothing before `time` will come from this client; it is waited for from now on.
    pub fn heartbeat(&mut self, client: u32, time: i64) {
        self.bounds.heartbeat(client, time);
    }

    /// Nothing more will come from this client, or it joins anew.
    pub fn finish(&mut self, client: u32) {
        self.bounds.finish(client);
    }

    /// The client that holds the watermark back: the one to fetch from next.
    #[must_use]
    pub fn client_to_fetch_from(&self) -> Option<u32> {
        self.bounds.client_to_fetch_from()
    }

    /// Hands out all that can go, in order for each partition; partitions run at the same time.
    pub fn dispatch(&mut self, each: impl Fn(&mut V, u32, &[(i64, T)]) + Sync) {
        self.most = self.most();
        let Some(last) = self.bounds.last() else { return };
        let parts = self.parts.par_iter_mut();
        let newest = parts
            .map(|(runs, verifier)| runs.dispatch(last, |client, items| each(verifier, client, items)))
            .max();
        self.bounds.passed(newest.flatten());
    }

    /// The most items that ever waited.
    #[must_use]
    pub fn most(&self) -> usize {
        self.most.max(self.parts.iter().map(|(runs, _)| runs.len()).sum())
    }

    /// The verifiers, by partition.
    #[must_use]
    pub fn into_verifiers(self) -> Vec<V> {
        self.parts.into_iter().map(|(_, verifier)| verifier).collect()
    }
}
