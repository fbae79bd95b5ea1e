"""Histories and levels that tests of several report types share."""

from __future__ import annotations

from tests.recorded import record

__all__ = ["ABORTED", "LEVELS", "UNREAD"]

ABORTED = record([("write", "x", 1), ("abort",)], [("read", "x", 1)])
LEVELS = ["read-atomic", "pl-2", "cut-isolation", "pl-1"]
#: Reads show all versions of x, one of y and none of z; w has only one version.
UNREAD = record(
    [("append", "x", 1), ("append", "y", 1), ("append", "z", 1), ("append", "w", 1)],
    [("append", "x", 2), ("append", "y", 2), ("append", "z", 2)],
    [("read", "x", (1, 2)), ("read", "y", (1,)), ("append", "y", 3)],
)
