//! The two levels: a buffer for each client, and a heap of the runs in them.

use super::Options;
use super::heads::{Head, Heads};
use super::local::Local;
use serde::{Deserialize, Serialize};

/// The waiting items, in order for each client; the owner decides up to which time they are dispatched.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Runs<T> {
    options: Options,
    locals: Vec<Local<T>>,
    heads: Heads,
    len: usize,
}

impl<T> Runs<T> {
    pub(super) fn new(options: Options) -> Self {
        Self { options, locals: Vec::new(), heads: Heads::default(), len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn push(&mut self, client: u32, before: i64, item: T) {
        let place = client as usize;
        if place >= self.locals.len() {
            self.locals.resize_with(place + 1, Local::default);
        }
        let local = &mut self.locals[place];
        if local.is_empty() {
            self.heads.push(Head::new(before, client));
        }
        local.push(before, item);
        self.len += 1;
    }

    /// Hands out everything up to the time `last` in order; the newest time of it.
    pub(super) fn dispatch(&mut self, last: i64, mut each: impl FnMut(u32, &[(i64, T)])) -> Option<i64> {
        let mut newest = None;
        while let Some(head) = self.heads.first().filter(|head| head.before() <= last) {
            let until = self.until(head, last);
            let local = &mut self.locals[head.client() as usize];
            let run = &local.waiting()[..if self.options.batch { local.run(until) } else { 1 }];
            let length = run.len();
            newest = Some(run[length - 1].0);
            each(head.client(), run);
            self.len -= length;
            let next = local.consume(length, self.options.capacity);
            self.heads.replace_first(next.map(|before| Head::new(before, head.client())));
        }
        newest
    }

    /// The newest time that the first client may go to before it is another's turn.
    fn until(&self, head: Head, last: i64) -> i64 {
        match self.heads.second() {
            // At the same time the smaller client goes first.
            Some(second) => last.min(second.before() - i64::from(second.client() < head.client())),
            None => last,
        }
    }
}
