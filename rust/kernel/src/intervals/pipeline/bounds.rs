//! What clients said of what is still to come, and the watermark that follows.

use serde::{Deserialize, Serialize};

/// For a client that nobody waits for.
const NOBODY_WAITS: i64 = i64::MAX;

/// Why an item was refused: what would have to be dispatched after it may be gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TooLate {
    /// Whose item it is.
    pub client: u32,
    /// Its time.
    pub before: i64,
    /// The earliest time that would have been taken.
    pub earliest: i64,
}

/// The earliest time at which each client may still say something.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Bounds {
    /// That time, by client; for those who are not waited for it is none.
    next: Vec<i64>,
    /// What those who are not waited for said last.
    left_at: Vec<i64>,
    /// Everything before it may have been dispatched.
    floor: i64,
}

impl Bounds {
    pub(super) fn new() -> Self {
        Self { next: Vec::new(), left_at: Vec::new(), floor: i64::MIN }
    }

    /// Takes note of an item, or says that it comes too late.
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

    /// The first item of a client that nobody waits for yet, or one that comes too late.
    #[cold]
    fn join(&mut self, client: u32, before: i64) -> Result<(), TooLate> {
        let earliest = self.earliest(client);
        if before < earliest {
            return Err(TooLate { client, before, earliest });
        }
        self.next[client as usize] = before;
        Ok(())
    }

    /// Nothing before `time` will come from this client, who is waited for from now on.
    pub(super) fn heartbeat(&mut self, client: u32, time: i64) {
        let earliest = self.earliest(client);
        self.next[client as usize] = earliest.max(time);
    }

    /// The earliest time that is taken from this client.
    fn earliest(&mut self, client: u32) -> i64 {
        let place = client as usize;
        if place >= self.next.len() {
            self.next.resize(place + 1, NOBODY_WAITS);
            self.left_at.resize(place + 1, i64::MIN);
        }
        let bound = self.next[place];
        if bound == NOBODY_WAITS { self.floor.max(self.left_at[place]) } else { bound }
    }

    /// Nobody waits for this client any longer.
    pub(super) fn finish(&mut self, client: u32) {
        let earliest = self.earliest(client);
        self.left_at[client as usize] = earliest;
        self.next[client as usize] = NOBODY_WAITS;
    }

    /// Everything before it is known; none if nobody is waited for.
    pub(super) fn watermark(&self) -> Option<i64> {
        self.next.iter().copied().min().filter(|&bound| bound != NOBODY_WAITS)
    }

    /// The first of those who hold the watermark back.
    pub(super) fn hungry(&self) -> Option<u32> {
        let watermark = self.watermark()?;
        self.next.iter().position(|&bound| bound == watermark).map(|client| client as u32)
    }

    /// The newest time that can be dispatched, if any can.
    pub(super) fn last(&self) -> Option<i64> {
        self.watermark().map_or(Some(i64::MAX), |watermark| watermark.checked_sub(1))
    }

    /// Everything that is known was dispatched, and the newest of it is this.
    pub(super) fn passed(&mut self, newest: Option<i64>) {
        self.floor = self.floor.max(self.watermark().or(newest).unwrap_or(i64::MIN));
    }
}
