"""Interrupts for tests: they come when a run is in the state that the test needs, not after a time."""

from __future__ import annotations

import signal
import sqlite3
import sys
import threading
from contextlib import closing
from threading import main_thread
from time import monotonic, sleep
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["ctrl_c", "interrupt_main_thread", "wait_for_write", "wait_until"]

#: Seconds after which a state counts as missed, also on a busy machine.
_LIMIT = 60.0


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C interrupts, also where the tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def wait_until(is_reached: Callable[[], bool], seconds: float = _LIMIT) -> None:
    """Returns when the state is reached; fails after so many seconds, by default a minute."""
    end = monotonic() + seconds
    while not is_reached():
        assert monotonic() < end, "the state was not reached"
        sleep(0.005)


def interrupt_main_thread(inside: str) -> None:
    """Presses Ctrl-C when the main thread waits for other threads inside a function of this name.

    Anywhere else it might come while the tool that measures coverage holds its lock, for ever.
    """
    ident = main_thread().ident
    assert ident is not None
    wait_until(lambda: _is_waiting(ident, inside))
    signal.pthread_kill(ident, signal.SIGINT)


def _is_waiting(ident: int, inside: str) -> bool:
    frame = sys._current_frames()[ident]
    if frame.f_code.co_filename != threading.__file__:
        return False
    names = set()
    while frame.f_back is not None:
        frame = frame.f_back
        names.add(frame.f_code.co_name)
    return inside in names


def wait_for_write(path: Path) -> None:
    """Returns when a run on this SQLite file has committed a write."""
    wait_until(lambda: _has_write(path))


def _has_write(path: Path) -> bool:
    if not path.exists():
        return False
    try:
        with closing(sqlite3.connect(path.absolute().as_uri() + "?mode=ro", uri=True)) as database:
            return bool(database.execute("SELECT 1 FROM isoscope_log LIMIT 1").fetchall())
    except sqlite3.OperationalError:  # there is no table yet, or it is locked
        return False
