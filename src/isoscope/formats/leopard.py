"""Leopard's interval-based traces: one JSON object an operation, with the client's clock around it.

`{"threadID":"0","transactionID":"0,1","operationID":"0,1,2","operationTraceType":"UPDATE",
"startTimestamp":5,"finishTimestamp":9,"traceLockMode":"EXCLUSIVE_LOCK","readMode":"LOCKING_READ",
"writeTupleList":[{"table":"0","primaryKey":"7","valueMap":{"v":1}}]}`, as JSON lines or as one array. The
initial value is unknown.
"""

from __future__ import annotations

import re
from functools import partial

from isoscope.formats.format import FEATURES, Format, read_text, write_text
from isoscope.history import Initial

__all__ = ["FORMAT"]

_OBJECT = re.compile(rb"[\s\[]*\{")
# The first field may be any; this one every trace has.
_TYPE = re.compile(rb'"operationTraceType"\s*:')


def _sniff(head: bytes) -> bool:
    return _OBJECT.match(head) is not None and _TYPE.search(head) is not None


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
        "initial values of single keys",
        "lists",
        "timestamps",
        "tombstones",
        "unknown results",
        "version order",
    },
    initial=Initial(),
)
