"""CHRONOS and AION histories: JSON objects with the database's start and commit timestamps.

`{"tid":1,"sid":2,"sts":{"p":5,"l":0},"cts":{"p":7,"l":0},"ops":[{"t":"w","k":3,"v":4}]}`, as one array
or as JSON lines. The initial value is unknown.
"""

from __future__ import annotations

from functools import partial

from isoscope.formats.format import FEATURES, Format, fields, read_text, slice_text, write_text
from isoscope.history import Initial

__all__ = ["FORMAT"]


def _sniff(head: bytes) -> bool:
    first = fields(head)
    return first.any("tid", "sid", "sts", "cts", "ops", "sno") and not first.any("tick")


def _writer(path: str) -> str:
    return "aion-lines" if path.endswith(".jsonl") else "aion"


FORMAT = Format(
    name="aion",
    title="CHRONOS and AION histories (JSON or JSON lines)",
    suffixes=(".json", ".jsonl"),
    sniff=_sniff,
    read=partial(read_text, "aion"),
    slices=partial(slice_text, "aion"),
    write=partial(write_text, _writer),
    writer=_writer,
    holds=frozenset(FEATURES)
    - {
        "client intervals of operations",
        "client intervals of transactions",
        "columns",
        "deletes",
        "event order",
        "faults",
        "initial values of single keys",
        "inserts",
        "lock modes",
        "markers of begin, commit and abort",
        "nodes of sessions",
        "predicates",
        "range reads",
        "read modes",
        "statement kinds",
        "tables",
        "tombstones",
        "unknown results",
        "version order",
    },
    partly=frozenset({"keys that are no integers", "values that are no integers"}),
    initial=Initial(),
)
