//! Items of sources that can be pulled from, put in order by a sorter.

use super::bounds::TooLate;
use super::{Options, Pipeline};

/// The clients to fetch from next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fetch {
    /// So many items of one client.
    From(u32, usize),
    /// So many items of every client.
    Each(usize),
    /// All items of every client.
    Everything,
}

/// One way of putting items of many clients in order; [`Pipeline`] is the one to use.
pub trait Sorter<T> {
    /// Takes the next item of a client.
    ///
    /// # Errors
    ///
    /// If items that belong after it may have been dispatched.
    fn push(&mut self, client: u32, before: i64, item: T) -> Result<(), TooLate>;
    /// All later items of this client are at `time` or later.
    fn heartbeat(&mut self, client: u32, time: i64);
    /// No more items come from this client.
    fn finish(&mut self, client: u32);
    /// Dispatches all items before the watermark, in order.
    fn dispatch(&mut self, each: impl FnMut(u32, &[(i64, T)]));
    /// The clients to fetch from next; None if no client is waited for.
    fn fetch(&self) -> Option<Fetch>;
    /// The largest number of items that waited at once.
    fn max_waiting(&self) -> usize;
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
        self.client_to_fetch_from()
            .map(|client| if adaptive { Fetch::From(client, capacity) } else { Fetch::Each(capacity) })
    }

    fn max_waiting(&self) -> usize {
        self.max_waiting()
    }
}

/// Dispatches the items of all sources, one source for each client, in the order of their times.
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
        let (clients, count) = match fetch {
            Fetch::From(client, count) => (client as usize..client as usize + 1, count),
            Fetch::Each(count) => (all, count),
            Fetch::Everything => (all, usize::MAX),
        };
        for client in clients {
            pull(sorter, client as u32, &mut sources[client], count)?;
        }
        sorter.dispatch(&mut each);
    }
    Ok(())
}

fn pull<T>(
    sorter: &mut impl Sorter<T>,
    client: u32,
    source: &mut impl Iterator<Item = (i64, T)>,
    count: usize,
) -> Result<(), TooLate> {
    for _ in 0..count.max(1) {
        let Some((before, item)) = source.next() else {
            sorter.finish(client);
            break;
        };
        sorter.push(client, before, item)?;
    }
    Ok(())
}
