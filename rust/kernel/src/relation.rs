//! How one transaction comes to precede another.

use crate::named_enum::named_enum;

named_enum! {
    /// Why one transaction precedes another.
    pub enum Relation {
        /// Both ran in one session.
        Session => "session",
        /// The later one read what the earlier one wrote.
        WriteRead => "wr",
        /// The later one overwrote what the earlier one wrote.
        WriteWrite => "ww",
        /// A transaction read a key from the later one although the earlier one, which wrote it too, was in
        /// its sight.
        CommitOrder => "cm",
        /// The later one overwrote what the earlier one read.
        ReadWrite => "rw",
        /// The earlier one had completed before the later one was invoked.
        RealTime => "real-time",
    }
}
