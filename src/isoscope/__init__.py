"""Isoscope answers one question: did this database keep its isolation promise.

>>> import isoscope
>>> recorder = isoscope.Recorder(initial=0)
>>> with recorder.transaction(session=1) as t:
...     t.read("x", 5)
>>> [verdict] = isoscope.check(recorder.history(), levels=["read-committed"]).verdicts
>>> str(verdict.outcome)
'violated'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isoscope._native import __version__
    from isoscope.checkers import Report, Search, check, search
    from isoscope.errors import (
        FormatError,
        IsoscopeError,
        LossError,
        UnknownFormatError,
        UsageError,
    )
    from isoscope.explain.shrink import shrink
    from isoscope.formats import load, save
    from isoscope.history import UNKNOWN, History, Initial, Operation, Term, Timestamp, Transaction
    from isoscope.levels import Level
    from isoscope.recorder import Recorder
    from isoscope.verdict import Anomaly, Outcome, Step, Verdict

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
    "Report": "checkers",
    "Search": "checkers",
    "Step": "verdict",
    "Term": "history",
    "Timestamp": "history",
    "Transaction": "history",
    "UnknownFormatError": "errors",
    "UsageError": "errors",
    "Verdict": "verdict",
    "__version__": "_native",
    "check": "checkers",
    "load": "formats",
    "save": "formats",
    "search": "checkers",
    "shrink": "explain",
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
    "Term",
    "Timestamp",
    "Transaction",
    "UnknownFormatError",
    "UsageError",
    "Verdict",
    "__version__",
    "check",
    "load",
    "save",
    "search",
    "shrink",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'isoscope' has no attribute {name!r}")
    return getattr(import_module(f"isoscope.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
