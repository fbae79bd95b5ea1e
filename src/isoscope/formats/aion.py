"""CHRONOS and AION histories: JSON objects with the database's start and commit timestamps.

`{"tid":1,"sid":2,"sts":{"p":5,"l":0},"cts":{"p":7,"l":0},"ops":[{"t":"w","k":3,"v":4}]}`, as one array
or as JSON lines. The initial value is unknown.
"""

from __future__ import annotations

import re
from functools import partial

from isoscope.formats.format import FEATURES, Format, read_text, write_text
from isoscope.history import Initial

__all__ = ["FORMAT"]

_OBJECT = re.compile(rb'[\s\[]*\{\s*"(tid|sid|sts|cts|ops|sno)"\s*:')


def _sniff(head: bytes) -> bool:
    return _OBJECT.match(head) is not None


def _writer(path: str) -> str:
    return "aion-lines" if path.endswith(".jsonl") else "aion"


FORMAT = Format(
    name="aion",
    title="CHRONOS and AION histories (JSON or JSON lines)",
    suffixes=(".json", ".jsonl"),
    sniff=_sniff,
    read=partial(read_text, "aion"),
    write=partial(write_text, _writer),
    writer=_writer,
    holds=frozenset(FEATURES)
    - {
        "client intervals of operations",
        "client intervals of transactions",
        "columns",
        "deletes",
        "event order",
        "initial values of single keys",
        "inserts",
        "lock modes",
        "markers of begin, commit and abort",
        "predicates",
        "range reads",
        "read modes",
        "statement kinds",
        "tables",
        "tombstones",
        "unknown results",
        "version order",
    },
    initial=Initial(),
)
