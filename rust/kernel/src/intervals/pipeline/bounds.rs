//! The earliest time of the next item of each client, and the watermark that follows.

use serde::{Deserialize, Serialize};

/// The time of a client that is not waited for.
const NOT_WAITED_FOR: i64 = i64::MAX;

/// Why an item was refused: items that belong after it may have been dispatched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TooLate {
    /// The client of the item.
    pub client: u32,
    /// Its time.
    pub before: i64,
    /// The earliest time that would have been taken.
    pub earliest: i64,
}

/// The earliest time of the next item of each client.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Bounds {
    /// That time, by client.
    next: Vec<i64>,
    /// The last time of clients that are not waited for.
    left_at: Vec<i64>,
    /// All items before it may have been dispatched.
    floor: i64,
}

impl Bounds {
    pub(super) fn new() -> Self {
        Self { next: Vec::new(), left_at: Vec::new(), floor: i64::MIN }
    }

    /// Notes an item; an error if it comes too late.
    #[inline]
    pub(super) fn push(&mut self, client: u32, before: i64) -> Result<(), TooLate> {
        match self.next.get_mut(client as usize) {
            Some(bound) if *bound <= before => {
                *bound = before;
                Ok(())
            }
            _ => self.join(client, before),
        }
    }

    /// The first item of a client that is not waited for, or one that comes too late.
    #[cold]
    fn join(&mut self, client: u32, before: i64) -> Result<(), TooLate> {
        let earliest = self.earliest(client);
        if before < earliest {
            return Err(TooLate { client, before, earliest });
        }
        self.next[client as usize] = before;
        Ok(())
    }

    /// All later items of this client are at `time` or later; it is waited for from now on.
    pub(super) fn heartbeat(&mut self, client: u32, time: i64) {
        let earliest = self.earliest(client);
        self.next[client as usize] = earliest.max(time);
    }

    /// The earliest time that is taken from this client.
    fn earliest(&mut self, client: u32) -> i64 {
        let place = client as usize;
        if place >= self.next.len() {
            self.next.resize(place + 1, NOT_WAITED_FOR);
            self.left_at.resize(place + 1, i64::MIN);
        }
        let bound = self.next[place];
        if bound == NOT_WAITED_FOR { self.floor.max(self.left_at[place]) } else { bound }
    }

    /// This client is no longer waited for.
    pub(super) fn finish(&mut self, client: u32) {
        let earliest = self.earliest(client);
        self.left_at[client as usize] = earliest;
        self.next[client as usize] = NOT_WAITED_FOR;
    }

    /// All items before it are known; None if no client is waited for.
    pub(super) fn watermark(&self) -> Option<i64> {
        self.next.iter().copied().min().filter(|&bound| bound != NOT_WAITED_FOR)
    }

    /// The first client that holds the watermark back.
    pub(super) fn client_to_fetch_from(&self) -> Option<u32> {
        let watermark = self.watermark()?;
        self.next.iter().position(|&bound| bound == watermark).map(|client| client as u32)
    }

    /// The newest time that can be dispatched, if any can.
    pub(super) fn last(&self) -> Option<i64> {
        self.watermark().map_or(Some(i64::MAX), |watermark| watermark.checked_sub(1))
    }

    /// All known items were dispatched; `newest` is the time of the last one.
    pub(super) fn passed(&mut self, newest: Option<i64>) {
        self.floor = self.floor.max(self.watermark().or(newest).unwrap_or(i64::MIN));
    }
}
