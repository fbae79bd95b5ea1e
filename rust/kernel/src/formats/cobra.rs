//! Cobra's client logs: one file a session, records back to back, numbers of 64 bits, big endian.
//!
//! ```text
//! S transaction [time]              starts       W write key value                 writes
//! C transaction [time]              commits      R writer write key value          reads
//! A transaction [time]              aborts
//! ```
//!
//! All logs of a history have times or none has, and no field says which: both layouts are tried at once,
//! and the wrong one is dropped at its first mistake, which is seldom later than its third record.
//!
//! Writes have ids, and a read names the write that it saw: so the value of an operation is that id, the
//! key is the hash of the key. The hash of the value is used only where ids were taken out of the logs.

mod log;

use super::{Reader, Stream, StreamReader};
use crate::error::ParseError;
use crate::history::History;
use log::Log;

/// Both layouts of the logs; a layout that failed keeps its error, which counts only if the other fails too.
pub struct Cobra {
    plain: Layout,
    timed: Layout,
}

type Layout = Box<Result<Box<StreamReader<Log>>, Failure>>;

/// Why a layout was given up, and after how many records.
#[derive(Debug, Clone)]
struct Failure {
    error: ParseError,
    records: u64,
}

impl Default for Cobra {
    fn default() -> Self {
        let layout = |times| Box::new(Ok(Box::new(StreamReader::new(Log::new(times)))));
        Self { plain: layout(false), timed: layout(true) }
    }
}

impl Stream for Cobra {
    fn take(&mut self, bytes: &[u8], _at: u64) -> Result<usize, ParseError> {
        self.both(|layout| layout.feed(bytes))?;
        Ok(bytes.len())
    }

    fn start_of_file(&mut self, name: &str) -> Result<(), ParseError> {
        self.both(|layout| layout.start_of_file(name))
    }

    fn end_of_file(&mut self, _rest: &[u8], _at: u64) -> Result<(), ParseError> {
        self.both(|layout| layout.end_of_file().map(|_| ()))
    }

    fn into_history(self) -> Result<History, ParseError> {
        match (*self.plain, *self.timed) {
            (Ok(plain), Ok(_)) => {
                let mut history = plain.into_history()?;
                if !history.transactions.ids.is_empty() {
                    history.notes.push(("logs that fit with and without times, read without".to_owned(), 1));
                }
                Ok(history)
            }
            (Ok(layout), Err(_)) | (Err(_), Ok(layout)) => layout.into_history(),
            (Err(plain), Err(timed)) => Err(likelier(&plain, &timed)),
        }
    }
}

impl Cobra {
    fn both(
        &mut self,
        mut step: impl FnMut(&mut StreamReader<Log>) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        for layout in [&mut self.plain, &mut self.timed] {
            if let Ok(log) = layout.as_mut()
                && let Err(error) = step(log)
            {
                **layout = Err(Failure { error, records: log.stream().records() });
            }
        }
        match (self.plain.as_ref(), self.timed.as_ref()) {
            (Err(plain), Err(timed)) => Err(likelier(plain, timed)),
            _ => Ok(()),
        }
    }
}

/// The error of the layout that made more of the input: the other one never was it.
fn likelier(plain: &Failure, timed: &Failure) -> ParseError {
    let likelier = if timed.records > plain.records { timed } else { plain };
    likelier.error.clone()
}

#[cfg(test)]
mod tests;
