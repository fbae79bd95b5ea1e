//! A request to stop, which long algorithms look at now and then.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set from another thread; what a cancelled algorithm returns means nothing.
#[derive(Debug, Default)]
pub struct Cancel(AtomicBool);

impl Cancel {
    /// Asks to stop.
    pub fn now(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether to stop.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
