"""The history of a run, written while the run goes on: a run that is killed leaves it behind.

A thread adds a frame several times a second (`formats/recording.py`). When the history itself is written, the
log is removed.
"""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from isoscope.formats.recording import MAGIC, deployment_frame, initial_frame, transactions_frame
from isoscope.run.recording import open_transactions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.history import Deployment
    from isoscope.run.recording import Recording

__all__ = ["HistoryLog"]

#: Seconds between two frames.
_PAUSE = 0.25
_SUFFIX = ".recording"


class HistoryLog:
    """The log beside the file `path` of the history. A disk that is full ends the log, not the run."""

    def __init__(self, path: str) -> None:
        self.path, self._file = _created(path)
        self._lock = Lock()
        self._is_over = Event()
        self._recording: Recording | None = None
        self._thread = Thread(target=self._work, name="isoscope-history-log", daemon=True)
        #: How many transactions are in the log, and why it ended early.
        self.transactions = 0
        self.problem = ""

    def start(self, recording: Recording) -> None:
        """Called by the run: from now on its transactions are written."""
        self._recording = recording
        self._write(MAGIC)
        self._thread.start()

    def initial(self, of_key: Mapping[int, int]) -> None:
        """Initial values, before any transaction can read them."""
        if of_key:
            self._write(initial_frame(of_key))

    def deployment(self, deployment: Deployment) -> None:
        """The nodes of sessions and the faults until now."""
        self._write(deployment_frame(deployment))

    def finish(self) -> None:
        """Writes the rest: no transaction follows."""
        self._is_over.set()
        if self._thread.ident is not None:
            self._thread.join()

    def close(self) -> None:
        """Writes the rest and closes the file, which stays if there is a transaction in it."""
        self.finish()
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
            self._file = -1
        if not self.transactions:
            self.remove()

    def remove(self) -> None:
        """Removes the file: the history is safe elsewhere, or there is none."""
        with suppress(OSError):
            Path(self.path).unlink(missing_ok=True)

    def _work(self) -> None:
        try:
            is_over = False
            while not is_over and not self.problem:
                is_over = self._is_over.wait(_PAUSE)
                self._add_frame()
        except Exception as error:
            self.problem = f"{type(error).__name__}: {error}"

    def _add_frame(self) -> None:
        if self._recording is None:
            return
        ended, number, attempts = self._recording.since(self.transactions)
        if ended is None:
            return
        self._write(transactions_frame(ended, open_transactions(attempts, number)))
        if not self.problem:
            self.transactions = number

    def _write(self, data: bytes) -> None:
        with self._lock:
            if self._file < 0 or self.problem:
                return
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(self._file, rest) :]
            except OSError as error:
                self.problem = error.strerror or str(error)


def _created(path: str) -> tuple[str, int]:
    """A new file beside `path`: the log of a killed run is never replaced."""
    for number in count(1):
        name = f"{path}{_SUFFIX}" if number == 1 else f"{path}-{number}{_SUFFIX}"
        with suppress(FileExistsError):
            return name, os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    raise AssertionError("there is always another number")
