"""Record a program that uses a database, unchanged, and find the interleavings that break it.

The room can be called: it records every connection that this process makes, or those of one SQLAlchemy
engine.

>>> import sqlite3
>>> import isoscope
>>> with isoscope.record() as recorded:
...     connection = sqlite3.connect(":memory:")
...     _ = connection.execute("CREATE TABLE counters (id INTEGER PRIMARY KEY, value INTEGER)")
...     with connection:
...         _ = connection.execute("INSERT INTO counters VALUES (1, 0)")
...     connection.execute("SELECT value FROM counters WHERE id = 1").fetchone()
(0,)
>>> recorded.count
2

`recorded.save(path)` writes the file that `isoscope check` reads. `Interleaving` runs two transactions of a
program against each other; `isoscope.stress` uses it. `docs/how-to/record-a-program.md` says more.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from isoscope.errors import UsageError

try:
    import sqlglot as _  # noqa: F401
except ImportError:
    raise UsageError(
        "recording a program needs the SQL parser sqlglot\n\nhint: pip install 'isoscope[record]'"
    ) from None

from isoscope.record.command import recorded_command
from isoscope.record.in_process import Recorded, record
from isoscope.record.interleave import Change, Interleaving, Round
from isoscope.record.traces import read_traces

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

__all__ = [
    "Change",
    "Interleaving",
    "Recorded",
    "Round",
    "read_traces",
    "record",
    "recorded_command",
]


class _Room(ModuleType):
    """A module that can be called, so that `isoscope.record()` and `isoscope.record.stress` both work."""

    def __call__(self, engine: Any = None) -> AbstractContextManager[Recorded]:
        """Record the connections of this process, or those of one SQLAlchemy engine."""
        return record(engine)


sys.modules[__name__].__class__ = _Room
