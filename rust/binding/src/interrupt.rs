//! Long calls that Ctrl-C can stop.

use isoscope_kernel::cancel::Cancel;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often a signal is looked for.
const PATIENCE: Duration = Duration::from_millis(50);

/// The result of `work`, which runs without the GIL on a thread of its own and is told to stop when Python
/// has a signal to handle.
pub fn interruptible<T: Send>(py: Python<'_>, work: impl FnOnce(&Cancel) -> T + Send) -> PyResult<T> {
    let cancel = Cancel::default();
    std::thread::scope(|scope| {
        let (sender, mut receiver) = channel();
        let worker = &cancel;
        scope.spawn(move || sender.send(work(worker)));
        loop {
            let (back, received) = py.detach(move || {
                let received = receiver.recv_timeout(PATIENCE);
                (receiver, received)
            });
            receiver = back;
            match received {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| cancel.now())?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(pyo3::exceptions::PyRuntimeError::new_err("the native core stopped"));
                }
            }
        }
    })
}
