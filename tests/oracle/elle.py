"""Cases of Elle's own tests, as the oracle has them: operations, options and what is expected.

They are not ours to copy: the tests read them from `../shared/oracle` or $ISOSCOPE_ORACLE.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

import isoscope
from isoscope.history import Initial, OperationKind, VersionSource
from isoscope.recorder import build
from tests.oracle.test_oracle import ORACLE

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import Scalar, Transaction

OVERLAPPING = "one process runs several transactions at a time"
#: Cases that cannot be read as they stand, with the reason.
UNREADABLE = {
    "list-append unobserved write ordering": OVERLAPPING,
    "rw-register initial state gives read skew": OVERLAPPING,
}
#: What Elle takes for granted of registers if it is told to, and what we call that.
CLAIMS = {
    "wfr-keys?": "writes-follow-reads",
    "sequential-keys?": "sequential-keys",
    "linearizable-keys?": "linearizable-keys",
}


def cases() -> list[dict[str, Any]]:
    path = ORACLE / "elle" / "cases.json"
    found: list[dict[str, Any]] = json.loads(path.read_text()) if path.is_file() else []
    return found


def those_of(*levels: str) -> pytest.MarkDecorator:
    """One test for each case about these parts of Elle."""
    chosen = [case for case in cases() if case["level"] in levels]
    return pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in chosen])


@cache
def implying(label: str) -> frozenset[str]:
    """Elle's labels of anomalies that are, or come with, the one called `label`."""
    path = ORACLE / "elle" / "lattice.json"
    edges = json.loads(path.read_text())["anomaly_implies"]
    return frozenset({label}).union(*(implying(before) for before, after in edges if after == label))


def is_readable(case: dict[str, Any]) -> bool:
    return case["name"] not in UNREADABLE


def claims(case: dict[str, Any]) -> list[str]:
    return [claim for option, claim in CLAIMS.items() if case["options"].get(option)]


def history_of(case: dict[str, Any], folder: Path) -> isoscope.History:
    """The case's history, whole: with completions only if that is what can be read, with a declared order."""
    operations = case["ops"]
    if not is_readable(case):
        operations = [{**event, "process": None} for event in operations if event["type"] != "invoke"]
    # Elle takes a value without a writer for the initial value of a register.
    initial = Initial() if case["kind"] == "rw-register" else None
    path = written(operations, "edn", folder)
    history = isoscope.load(path, format="jepsen", initial=initial)
    order = case["options"].get("transaction-order")
    return history if order is None else _ordered(history, order)


def _ordered(history: isoscope.History, order: dict[str, int]) -> isoscope.History:
    """The same with the versions declared to be installed in this order of their transactions."""
    transactions = sorted(history, key=lambda transaction: order[str(transaction.id)])
    installed = [version for transaction in transactions for version in versions(transaction)]
    return build(
        history,
        initial=history.initial,
        versions=[(VersionSource.DECLARED, key, value) for key, value in installed],
    )


def versions(transaction: Transaction) -> list[tuple[Scalar, int]]:
    """Keys and values that the transaction wrote."""
    written = [operation for operation in transaction.operations if operation.kind is OperationKind.WRITE]
    return [(operation.key, operation.value) for operation in written if isinstance(operation.value, int)]


def missing_writers(transactions: list[Transaction]) -> list[tuple[Any, Any]]:
    """Keys and values that were read and have no writer: single functions of Elle need none."""
    operations = [operation for transaction in transactions for operation in transaction.operations]
    written = {(o.key, o.value) for o in operations if o.kind is OperationKind.WRITE}
    read = {(o.key, o.value) for o in operations if o.kind is OperationKind.READ}
    return sorted((key, value) for key, value in read - written if isinstance(value, int))


def written(operations: list[dict[str, Any]], notation: str, folder: Path) -> Path:
    path = folder / f"case.{notation}"
    write = _edn if notation == "edn" else json.dumps
    path.write_text("".join(write(operation) + "\n" for operation in operations))
    return path


def _edn(value: Any) -> str:
    if isinstance(value, dict):
        fields = ", ".join(f":{key} {_field(value, key)}" for key in value)
        return "{" + fields + "}"
    if isinstance(value, list):
        return "[" + " ".join(map(_edn, value)) + "]"
    if value is None:
        return "nil"
    return json.dumps(value)


def _field(event: dict[str, Any], key: str) -> str:
    value = event[key]
    if value is None:
        return "nil"
    if key in {"type", "f"} or (key == "process" and isinstance(value, str)):
        return f":{value}"
    if key == "value" and event["f"] == "init":
        return _rows(value)
    if key == "value" and isinstance(value, list):
        return "[" + " ".join(map(_micro_operation, value)) + "]"
    return _edn(value)


def _micro_operation(operation: list[Any]) -> str:
    kind, first, *rest = operation
    if kind != "rp":
        return f"[:{kind} {' '.join(map(_edn, (first, *rest)))}]"
    predicate = f"[:{first[0]} {' '.join(map(_edn, first[1:]))}]" if isinstance(first, list) else f":{first}"
    return f"[:rp {predicate} {' '.join(map(_rows, rest))}]"


def _rows(rows: list[list[Any]] | None) -> str:
    if rows is None:
        return "nil"
    return "{" + ", ".join(f"{_edn(key)} {_edn(value)}" for key, value in rows) + "}"
