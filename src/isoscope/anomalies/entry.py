"""One entry of the catalogue, and functions that write small histories in four formats."""

import json
import re
from dataclasses import dataclass

from isoscope.levels import Level

__all__ = [
    "COMPONENTS",
    "NEW_COMPONENTS",
    "NEW_READER_KEY",
    "PAIR_KEY",
    "READER_KEY",
    "READS",
    "CatalogueEntry",
    "Example",
    "aion",
    "jepsen",
    "leopard",
    "plume",
]

READS = "reads"
READER_KEY = "(reader, key) pairs"
PAIR_KEY = "(pair of transactions, key)"
COMPONENTS = "components of the dependency graph"
#: Session order and real time close cycles with names of their own: only those are counted.
NEW_COMPONENTS = f"{COMPONENTS} that a weaker order does not close"
NEW_READER_KEY = f"{READER_KEY} that a weaker order does not close"
_OPERATION = re.compile(r"(\d+) (?:(\d+)-(\d+) )?(\w+)(?: (\w+)=(\d+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A whole history, ready to be saved to a file and checked, with `profile` if that is not empty."""

    format: str
    text: str
    note: str
    profile: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    """One anomaly; `breaks` holds the weakest levels that forbid it, `broken` finds the others.

    `breaks` is empty if the anomaly convicts a mechanism or the evidence rather than a level.
    `allowed` is the nearest history that does not show the anomaly.
    """

    name: str
    title: str
    meaning: str
    aliases: tuple[str, ...]
    breaks: tuple[Level, ...]
    counted: str
    source: str
    example: Example | None = None
    allowed: Example | None = None


def plume(operations: str, note: str) -> Example:
    """Plume text: `w(key,value,session,transaction)`, one operation a line."""
    return Example(format="plume", text="".join(f"{op}\n" for op in operations.split()), note=note)


def jepsen(*events: str, note: str) -> Example:
    """Jepsen EDN from lines such as `ok 0 [:append :x 1] [:r :y [1]]`; `invoke` begins a transaction.

    `init 0 {:x 1}` is a first transaction that inserts rows.
    """
    lines = []
    for event in events:
        kind, process, operations = event.split(maxsplit=2)
        if kind == "init":
            lines.append(f"{{:type :ok, :process {process}, :f :init, :value {operations}}}\n")
        else:
            lines.append(f"{{:type :{kind}, :process {process}, :value [{operations}]}}\n")
    return Example(format="jepsen", text="".join(lines), note=note)


def aion(*transactions: str, note: str) -> Example:
    """AION's JSON from lines such as `session=1 start=1 commit=2 w(1,1) r(2,[1])`."""
    lines = []
    for tid, transaction in enumerate(transactions, start=1):
        session, start, commit = map(int, re.findall(r"=(\d+)", transaction))
        operations = [
            {"t": kind, "k": int(key), "v": json.loads(value)}
            for kind, key, value in re.findall(r"(\w)\((\d+),(.*?)\)", transaction)
        ]
        document = {
            "tid": tid,
            "sid": session,
            "sts": {"p": start, "l": 0},
            "cts": {"p": commit, "l": 0},
            "ops": operations,
        }
        lines.append(json.dumps(document, separators=(",", ":")) + "\n")
    return Example(format="aion", text="".join(lines), note=note)


def leopard(*operations: str, note: str, profile: str) -> Example:
    """Leopard's traces from lines such as `1 0-10 update x=1`, `2 20-30 select x=1`, `1 40-50 commit`.

    A commit without times happens inside the last operation of its transaction.
    """
    lines = []
    for operation in operations:
        number, *times, kind, key, value = _OPERATION.fullmatch(operation).groups()  # type: ignore[union-attr]
        document: dict[str, object] = {
            "threadID": number,
            "transactionID": int(number),
            "operationTraceType": kind.upper(),
        }
        document |= zip(("startTimestamp", "finishTimestamp"), map(int, filter(None, times)), strict=False)
        if key:
            cells = "readTupleList" if kind == "select" else "writeTupleList"
            document[cells] = [{"primaryKey": key, "valueMap": {"value": int(value)}}]
        lines.append(json.dumps(document, separators=(",", ":")) + "\n")
    return Example(format="leopard", text="".join(lines), note=note, profile=profile)
