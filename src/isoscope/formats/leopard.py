"""Leopard's interval-based traces: one JSON object an operation, with the client's clock around it.

`{"threadID":"0","transactionID":"0,1","operationID":"0,1,2","operationTraceType":"UPDATE",
"startTimestamp":5,"finishTimestamp":9,"traceLockMode":"EXCLUSIVE_LOCK","readMode":"LOCKING_READ",
"writeTupleList":[{"table":"0","primaryKey":"7","valueMap":{"v":1}}]}`, as JSON lines or as one array. The
initial value is unknown.
"""

from __future__ import annotations

from functools import partial

from isoscope.formats.format import FEATURES, Format, fields, read_text, write_text
from isoscope.history import Initial

__all__ = ["FORMAT"]


def _sniff(head: bytes) -> bool:
    return fields(head).any("operationTraceType")


def _writer(path: str) -> str:
    return "leopard" if path.endswith(".json") else "leopard-lines"


FORMAT = Format(
    name="leopard",
    title="Leopard's traces of operations (JSON lines or JSON)",
    suffixes=(".leopard.jsonl", ".leopard.json"),
    sniff=_sniff,
    read=partial(read_text, "leopard"),
    write=partial(write_text, _writer),
    writer=_writer,
    holds=frozenset(FEATURES)
    - {
        "client intervals of transactions",
        "event order",
        "explicit sequence numbers",
        "faults",
        "initial values of single keys",
        "lists",
        "nodes of sessions",
        "timestamps",
        "tombstones",
        "unknown results",
        "version order",
    },
    partly=frozenset(
        {"deletes", "keys that are no integers", "range reads", "values that are no integers"},
    ),
    initial=Initial(),
)
