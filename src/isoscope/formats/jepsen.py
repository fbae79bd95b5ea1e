"""Jepsen and Elle histories, list-append and rw-register, as EDN or JSON.

Invocations and completions are joined per process; what the client never learned is indeterminate.
The initial value is nil. An ArangoDB write-ahead log `X.log` beside `X.edn` gives the version order.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

from isoscope._native import ParseError, Reader
from isoscope.formats.format import FEATURES, Format, feed, format_error, write_text
from isoscope.formats.source import COMPRESSIONS, File, Input
from isoscope.history import History, Initial, Source

__all__ = ["FORMAT", "log_beside"]

_EDN = re.compile(rb"[\s,\[(]*(#[\w./-]+\s*)?\{[\s,]*:[a-z]")
_JSON = re.compile(rb'[\s\[]*\{\s*"(type|process|f|value|index|time)"\s*:')


def _sniff(head: bytes) -> bool:
    return bool(_EDN.match(_without_comments(head)) or _JSON.match(head))


def _without_comments(head: bytes) -> bytes:
    return re.sub(rb"(?m)^\s*;.*$", b"", head)


def _read(source: Input, *, initial: Initial | None = None) -> History:
    is_json = re.match(rb'(\xef\xbb\xbf)?[\s\[]*\{\s*"', source.head()) is not None
    reader = Reader("jepsen-json" if is_json else "jepsen")
    logs = [log for file in source.files if (log := log_beside(file))]
    for log in logs:
        try:
            reader.attach_log(log.read())
        except ParseError as error:
            raise format_error(error, Source(path=log.path)) from None
    # In a directory the logs stand among the histories.
    files = tuple(file for file in source.files if file not in logs)
    history = feed(reader, Input(source.path, files), name="jepsen", initial=initial)
    said = replace(history.source, log=", ".join(log.path for log in logs))
    return History(history.columns, said)


def log_beside(file: File) -> File | None:
    """The write-ahead log that belongs to a history: `X.log[.gz]` beside `X.edn[.gz]`."""
    if file.raw is not None:
        return None
    path = file.path
    for suffix in COMPRESSIONS:
        path = path.removesuffix(suffix)
    if not path.endswith(".edn"):
        return None
    stem = path.removesuffix(".edn")
    for suffix in ("", *COMPRESSIONS):
        if Path(f"{stem}.log{suffix}").is_file():
            return File(f"{stem}.log{suffix}")
    return None


def _writer(path: str) -> str:
    if path.endswith(".jsonl"):
        return "jepsen-json-lines"
    return "jepsen-json" if path.endswith(".json") else "jepsen"


FORMAT = Format(
    name="jepsen",
    title="Jepsen and Elle histories (EDN, JSON or JSON lines)",
    suffixes=(".edn", ".jepsen.json", ".jepsen.jsonl"),
    sniff=_sniff,
    read=_read,
    write=partial(write_text, _writer),
    writer=_writer,
    holds=frozenset(FEATURES)
    - {
        "client intervals of operations",
        "columns",
        "deletes",
        "explicit sequence numbers",
        "initial values of single keys",
        "inserts",
        "lock modes",
        "markers of begin, commit and abort",
        "predicates",
        "range reads",
        "read modes",
        "session ids that are no integers",
        "statement kinds",
        "tables",
        "timestamps",
        "tombstones",
        "version order",
    },
    initial=Initial(value=None),
)
