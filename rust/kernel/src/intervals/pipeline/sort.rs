//! Sources that can be pulled from, and what puts them in order.

use super::bounds::TooLate;
use super::{Options, Pipeline};

/// From whom to fetch next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fetch {
    /// So many items of one client.
    From(u32, usize),
    /// So many items of every client.
    Each(usize),
    /// All that there is.
    Everything,
}

/// One way of putting items of many clients in order; [`Pipeline`] is the one to use.
pub trait Sorter<T> {
    /// Takes what a client says next.
    ///
    /// # Errors
    ///
    /// If what would have to come after it may be gone.
    fn push(&mut self, client: u32, before: i64, item: T) -> Result<(), TooLate>;
    /// Nothing before `time` will come from this client.
    fn heartbeat(&mut self, client: u32, time: i64);
    /// Nothing more will come from this client.
    fn finish(&mut self, client: u32);
    /// Hands out all that can go, in order.
    fn dispatch(&mut self, each: impl FnMut(u32, &[(i64, T)]));
    /// From whom to fetch next; none if nobody is waited for.
    fn fetch(&self) -> Option<Fetch>;
    /// The most items that ever waited.
    fn most(&self) -> usize;
}

impl<T> Sorter<T> for Pipeline<T> {
    #[inline]
    fn push(&mut self, client: u32, before: i64, item: T) -> Result<(), TooLate> {
        self.push(client, before, item)
    }

    fn heartbeat(&mut self, client: u32, time: i64) {
        self.heartbeat(client, time);
    }

    fn finish(&mut self, client: u32) {
        self.finish(client);
    }

    fn dispatch(&mut self, each: impl FnMut(u32, &[(i64, T)])) {
        self.dispatch(each);
    }

    fn fetch(&self) -> Option<Fetch> {
        let Options { adaptive, capacity, .. } = self.options;
        self.hungry()
            .map(|client| if adaptive { Fetch::From(client, capacity) } else { Fetch::Each(capacity) })
    }

    fn most(&self) -> usize {
        self.most()
    }
}

/// Hands out the items of all sources, one for each client, in the order of their times.
///
/// # Errors
///
/// If a source is not in order itself.
pub fn sort<T>(
    sorter: &mut impl Sorter<T>,
    sources: &mut [impl Iterator<Item = (i64, T)>],
    mut each: impl FnMut(u32, &[(i64, T)]),
) -> Result<(), TooLate> {
    for client in 0..sources.len() as u32 {
        sorter.heartbeat(client, i64::MIN);
    }
    while let Some(fetch) = sorter.fetch() {
        let all = 0..sources.len();
        let (clients, most) = match fetch {
            Fetch::From(client, most) => (client as usize..client as usize + 1, most),
            Fetch::Each(most) => (all, most),
            Fetch::Everything => (all, usize::MAX),
        };
        for client in clients {
            pull(sorter, client as u32, &mut sources[client], most)?;
        }
        sorter.dispatch(&mut each);
    }
    Ok(())
}

fn pull<T>(
    sorter: &mut impl Sorter<T>,
    client: u32,
    source: &mut impl Iterator<Item = (i64, T)>,
    most: usize,
) -> Result<(), TooLate> {
    for _ in 0..most.max(1) {
        let Some((before, item)) = source.next() else {
            sorter.finish(client);
            break;
        };
        sorter.push(client, before, item)?;
    }
    Ok(())
}
