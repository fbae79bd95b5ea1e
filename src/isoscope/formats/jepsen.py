"""Jepsen and Elle histories, list-append, rw-register and closed-predicate, as EDN or JSON.

Invocations and completions are joined per process; a transaction without a known end is indeterminate.
The initial value is nil. An ArangoDB write-ahead log `X.log` beside `X.edn` gives the version order.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

from isoscope._native import ParseError, Reader
from isoscope.formats.format import FEATURES, Format, feed, fields, format_error, write_text
from isoscope.formats.source import COMPRESSIONS, File, Input, uncompressed
from isoscope.history import History, Initial, Source

__all__ = ["FORMAT", "is_log", "log_beside"]

_EDN = re.compile(rb"[\s,\[(]*(#[\w./-]+\s*)?\{[\s,]*:[a-z]")


def _sniff(head: bytes) -> bool:
    return bool(_EDN.match(_without_comments(head))) or _is_json(head)


def _is_json(head: bytes) -> bool:
    """The names are common ones, so that fields of other formats tell more."""
    first = fields(head)
    others = ("operationTraceType", "ops", "_key", "_id", "_from", "_to", "from_evt", "to_evt", "tick")
    return first.any("type", "process", "f", "value", "index", "time") and not first.any(*others)


def is_log(head: bytes) -> bool:
    """Whether this is the start of a write-ahead log, which is no history by itself."""
    return fields(head).any("tick") and fields(head).any("type")


def _without_comments(head: bytes) -> bytes:
    return re.sub(rb"(?m)^\s*;.*$", b"", head)


def _read(source: Input, *, initial: Initial | None = None) -> History:
    is_json = re.match(rb'(\xef\xbb\xbf)?[\s\[]*\{\s*"', source.head()) is not None
    reader = Reader("jepsen-json" if is_json else "jepsen")
    beside = [log for file in source.files if (log := log_beside(file))]
    # Jepsen itself keeps a `jepsen.log` of plain text.
    logs = [log for log in beside if log.head().lstrip()[:1] in (b"{", b"")]
    for log in logs:
        try:
            reader.attach_log(log.read())
        except ParseError as error:
            raise format_error(error, Source(path=log.path)) from None
    # In a directory the logs stand among the histories.
    files = tuple(file for file in source.files if file not in beside)
    history = feed(reader, Input(source.path, files), name="jepsen", initial=initial)
    ignored = len(beside) - len(logs)
    notes = (("logs beside histories that are no write-ahead logs, not read", ignored),) if ignored else ()
    said = replace(history.source, log=", ".join(log.path for log in logs), notes=notes)
    return History(history.columns, said)


def log_beside(file: File) -> File | None:
    """The write-ahead log that belongs to a history: `X.log[.gz]` beside `X.edn[.gz]`."""
    if file.raw is not None:
        return None
    path = uncompressed(file.path)
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
        "explicit sequence numbers",
        "faults",
        "initial values of single keys",
        "lock modes",
        "markers of begin, commit and abort",
        "nodes of sessions",
        "read modes",
        "session ids that are no integers",
        "tables",
        "timestamps",
        "tombstones",
        "version order",
    },
    partly=frozenset(
        {
            "client intervals of transactions",
            "deletes",
            "event order",
            "keys that are no integers",
            "predicates",
            "range reads",
            "statement kinds",
            "transactions without a session id",
            "unknown results",
            "values that are no integers",
        },
    ),
    initial=Initial(value=None),
)
