"""Isoscope answers one question: did this database keep its isolation promise.

>>> import isoscope
>>> recorder = isoscope.Recorder(initial=0)
>>> with recorder.transaction(session=1) as t:
...     t.read("x", 5)
>>> report = isoscope.check(recorder.history(), "read-committed")
>>> report
<Report <memory>: violated read-committed>
>>> report.holds("read-committed")
False

`check` takes a path, a history, a list of transactions or a table; `help(isoscope.check)` says more.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isoscope._native import __version__
    from isoscope.api import Watch, check, search, shrink, watch
    from isoscope.api.stressing import StressResult, stress
    from isoscope.errors import (
        FormatError,
        IsoscopeError,
        LossError,
        UnknownFormatError,
        UsageError,
    )
    from isoscope.formats import load, save
    from isoscope.history import UNKNOWN, History, Initial, Operation, Term, Timestamp, Transaction
    from isoscope.levels import Level
    from isoscope.record import record
    from isoscope.recorder import Recorder
    from isoscope.run import run_database as run
    from isoscope.scalars import python_value
    from isoscope.verdict import Anomaly, Outcome, Report, Search, Step, Verdict

# Where each name lives: it is imported when it is first used, so that `import isoscope` stays quick.
_HOMES = {
    "UNKNOWN": "history",
    "Anomaly": "verdict",
    "FormatError": "errors",
    "History": "history",
    "Initial": "history",
    "IsoscopeError": "errors",
    "Level": "levels",
    "LossError": "errors",
    "Operation": "history",
    "Outcome": "verdict",
    "Recorder": "recorder",
    "Report": "verdict",
    "Search": "verdict",
    "Step": "verdict",
    "StressResult": "api.stressing",
    "Term": "history",
    "Timestamp": "history",
    "Transaction": "history",
    "UnknownFormatError": "errors",
    "UsageError": "errors",
    "Verdict": "verdict",
    "Watch": "api",
    "__version__": "_native",
    "check": "api",
    "load": "formats",
    "python_value": "scalars",
    "save": "formats",
    "search": "api",
    "shrink": "api",
    "stress": "api.stressing",
    "watch": "api",
}

__all__ = [
    "UNKNOWN",
    "Anomaly",
    "FormatError",
    "History",
    "Initial",
    "IsoscopeError",
    "Level",
    "LossError",
    "Operation",
    "Outcome",
    "Recorder",
    "Report",
    "Search",
    "Step",
    "StressResult",
    "Term",
    "Timestamp",
    "Transaction",
    "UnknownFormatError",
    "UsageError",
    "Verdict",
    "Watch",
    "__version__",
    "check",
    "load",
    "python_value",
    "record",
    "run",
    "save",
    "search",
    "shrink",
    "stress",
    "watch",
]


def __getattr__(name: str) -> object:
    if name in ("record", "run"):  # the rooms themselves, which can be called
        return import_module(f"isoscope.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'isoscope' has no attribute {name!r}")
    return getattr(import_module(f"isoscope.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
